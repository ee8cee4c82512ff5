import numpy as np
import pytest

import pomona as pm
from pomona.rankers.combine.members.query_scale import SCALES, on_query_scale


@pytest.mark.parametrize("scale", SCALES)
def test_scales_inside_each_query(scale):
    data = pm.Dataset(np.zeros((5, 1)), np.zeros(5), [1, 1, 1, 2, 2])
    outputs = np.array([[1.0, 5.0], [2.0, 5.0], [6.0, 5.0], [7.0, 0.0], [3.0, 1.0]])
    deviation = np.sqrt((4 + 1 + 9) / 3)
    expected = {
        "none": outputs[:, 0],
        "minmax": [0, 1 / 5, 1, 1, 0],
        "rank": [0, 1 / 2, 1, 1, 0],
        "standard": [-2 / deviation, -1 / deviation, 3 / deviation, 1, -1],
    }[scale]
    scaled = on_query_scale(outputs, data, scale)
    assert scaled[:, 0] == pytest.approx(np.array(expected, float))
    if scale != "none":
        assert (scaled[:3, 1] == 0).all()  # constant in the query
    order = [2, 0, 1, 4, 3]
    assert (on_query_scale(outputs[order], data, scale) == scaled[order]).all()
