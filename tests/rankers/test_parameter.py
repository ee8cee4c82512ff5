from dataclasses import dataclass

import pytest

from pomona.errors import UnknownParameterError
from pomona.rankers.parameter import PositiveInt, check_parameters, refuse_unknown_names


def test_an_unknown_parameter_is_told_ours():
    @dataclass(kw_only=True)
    class Demo:
        n_trees: PositiveInt = 100

    refuse_unknown_names(Demo)
    check_parameters(Demo(n_trees=3))
    with pytest.raises(UnknownParameterError, match="n_estimators is called n_trees here"):
        Demo(n_estimators=3)
