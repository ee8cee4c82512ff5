"""Terms of a GPU against `measures.closed_form`."""

from gpu_checks import everywhere


def terms():
    import numpy as np

    from pomona._cuda import cuda, kernel
    from pomona.measures import closed_form
    from pomona.objectives.cuda import _terms_kernel

    @kernel(launched=True)
    def run(family, value, weight, out, out_rest):
        rest = _terms_kernel.head_terms(family, 2, value.size - 2, value, weight, out)
        if cuda.threadIdx.x == 0:
            out_rest[0] = rest
            out_rest[1] = _terms_kernel.read_past(1, 2, value.size - 2, value, weight, 0.75, out)
            out_rest[2] = _terms_kernel.clip_total(2, value.size - 2, value, weight)

    random = np.random.default_rng(0)
    value = random.random(11).astype(np.float32)
    value[3], value[5] = 1, 0
    weight = 1 / np.arange(1.0, 7.0)
    head = value[2:]
    for family in (closed_form.POSITION, closed_form.PRECISION, closed_form.CASCADE):
        out, rest = cuda.to_device(np.zeros((4, 11))), cuda.to_device(np.zeros(3))
        run[1, 1](family, cuda.to_device(value), cuda.to_device(weight), out, rest)
        upper, share, lower, skipping = np.zeros((4, 9))
        expected = closed_form.head_terms(family, head, weight, upper, share, lower)
        skipped = closed_form.read_past(1, head, weight, 0.75, skipping)
        found = out.copy_to_host()[:, 2:]
        assert np.array_equal(found[:3], [upper, share, lower])
        assert np.array_equal(found[3, 2:], skipping[2:])
        total = sum(np.float64(v) * w for v, w in zip(head, weight, strict=False))
        assert rest.copy_to_host().tolist() == [expected, skipped, total]


test_terms = everywhere(__file__, "terms")
