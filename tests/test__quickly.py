"""What is done quickly gives the same, and only to kernels of ours."""

import numba
import numpy as np
import pytest
from numba.core.postproc import PostProcessor
from numba.core.targetconfig import TargetConfig
from numba.np import arrayobj

from pomona._jit import kernel
from pomona._quickly import quickly


@kernel
def _shapes(values, first):
    """Fields of arrays that are given, made and looked at: size, shape, strides, memory."""
    turned = values.reshape(values.shape[1], values.shape[0]).T
    flat, made = turned.copy().ravel(), np.empty_like(values)
    made[:] = values
    made[first] = turned[:, first]
    return flat.size + turned.strides[0] + made.nbytes + values[first:, 1].shape[0] + made.sum() + len(flat)


@kernel
def _of_bytes(values, first):
    """An array as one of another type."""
    return values.view(np.int64)[0, first] + values[first].view(np.uint8).size


@kernel(fastmath=True)
def _reordered(values, first):
    return values[first].sum() + values.shape[0]


@pytest.mark.parametrize("function", [_shapes, _of_bytes, _reordered])
def test_fields_of_arrays_are_read(function):
    table = np.arange(9.0).reshape(3, 3)
    assert function(table, 1) == function.py_func(table, 1)


def _generator(n):
    for i in range(n):
        yield i * i


def test_a_generator_is_processed_as_numba_does():
    with quickly():
        assert list(numba.njit(_generator)(4)) == [0, 1, 4, 9]


def test_other_users_of_numba_compile_as_ever():
    own = TargetConfig.__eq__, PostProcessor.run, arrayobj.make_array
    with quickly(), quickly():
        assert TargetConfig.__eq__ is not own[0]
    assert (TargetConfig.__eq__, PostProcessor.run, arrayobj.make_array) == own

    @numba.njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True)
    def largest(values):
        room = np.zeros(values.size)
        return max(values.max(), max(room[0], 1.0))

    assert largest(np.arange(5.0)) == 4
    assert numba.cfunc("float64(float64, float64)")(lambda a, b: max(a, b)).ctypes(1, 2) == 2
