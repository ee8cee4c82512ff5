import numpy as np

from pomona import Dataset, _types


def test_a_dataset_has_the_declared_types():
    data = Dataset([[1, 2]], [1], ["a"])
    assert data.X.dtype == _types.Features.__args__[1].__args__[0] == np.float32
    assert data.y.dtype == _types.Labels.__args__[1].__args__[0] == np.float32
    assert data.query_ptr.dtype == _types.Offsets.__args__[1].__args__[0] == np.int64
