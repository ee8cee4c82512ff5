"""Scales of packed integers are those of the CPU, or None."""

import math

from gpu_checks import everywhere


def packing():
    import numpy as np

    from pomona._cuda import cuda
    from pomona.trees.cuda.sums import FloatSums, packing_of
    from pomona.trees.histogram import pack

    random = np.random.default_rng(0)
    for scale in (1e-6, 1.0, 1e9):
        gradient = (random.normal(size=50) * scale).astype(np.float32)
        hessian = random.random(50).astype(np.float32)
        rows = np.arange(0, 50, 2, dtype=np.int32)
        on_gpu = [cuda.to_device(array) for array in (gradient, hessian, rows[None])]
        order = cuda.to_device(np.ones(9, np.int64))
        sums = FloatSums(order).of(*on_gpu, len(rows), is_bag=True)
        assert not order.copy_to_host().any()
        assert math.isclose(sums[0], gradient[rows][gradient[rows] > 0].astype(float).sum())
        assert sums[3:] == [float(abs(gradient).max()), float(hessian.max())]
        found, expected = (
            packing_of(len(rows), sums),
            pack(rows, gradient, hessian, 0, np.empty(50, np.int64)),
        )
        assert (found.gradient_scale, found.hessian_scale) == (
            expected.gradient_scale,
            expected.hessian_scale,
        )
        assert found.gradient_shift == expected.gradient_shift


def doubt():
    from pomona.trees.cuda.sums import packing_of

    # count_bits 7, so 27 for hessians, 29 for gradients; √n is 10.
    limit = 2**29 - 1 - 40
    assert packing_of(100, [limit / 4 * (1 + 1e-12), 0.0, 1.0, 1.0, 1.0]) is None
    assert packing_of(100, [limit / 4 * (1 - 1e-6), 0.0, 1.0, 1.0, 1.0]).gradient_scale == 4
    assert packing_of(100, [limit / 4 * (1 + 1e-6), 0.0, 1.0, 1.0, 1.0]).gradient_scale == 2


test_packing = everywhere(__file__, "packing")
test_doubt = everywhere(__file__, "doubt")
