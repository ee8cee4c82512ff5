"""Errors of a GPU are told in a line, and products are rounded before they are added to."""

import pytest

from gpu_checks import everywhere


def errors():
    from pomona._cuda import on_device
    from pomona.errors import InputError

    failure = type("CudaAPIError", (Exception,), {"__module__": "numba.cuda.cudadrv.driver"})
    for text, said in (
        ("[2] Call to cuMemAlloc results in\nCUDA_ERROR_OUT_OF_MEMORY", "the GPU's memory is full"),
        ("[700] Call to cuMemcpy", "the GPU failed"),
    ):
        with pytest.raises(InputError, match=f"^{said} .*: use device='cpu'.*$"), on_device():
            raise failure(text)
    with pytest.raises(KeyError), on_device():
        raise KeyError("ours")


def products():
    import numpy as np

    from pomona._cuda import cuda, kernel, product, product32

    @kernel(launched=True)
    def run(x, y, out):
        out[0] = product(x[0], x[0]) - x[1]
        out[1] = product32(y[0], y[0]) - y[1]

    # (1 + ε)² rounds to 1 + 2ε: fused, the difference would be ε².
    one, two = np.array([1 + 2**-52, 1 + 2**-51]), np.array([1 + 2**-23, 1 + 2**-22], np.float32)
    out = cuda.to_device(np.ones(2))
    run[1, 1](cuda.to_device(one), cuda.to_device(two), out)
    assert out.copy_to_host().tolist() == [0.0, 0.0]


test_errors = everywhere(__file__, "errors")
test_products = everywhere(__file__, "products")
