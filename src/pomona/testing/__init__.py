"""Contract checks for rankers and measures of your own, as scikit-learn ships `check_estimator`.

`check_ranker(MyRanker)` and `check_measure(MyMeasure)` raise an AssertionError that names the first promise
that is not kept. `ranker_checks()` and `measure_checks()` give the same checks one by one, for a test runner:

    @pytest.mark.parametrize("check", ranker_checks())
    def test_my_ranker(check):
        check(MyRanker(n_rounds=5))
"""

from pomona.testing.estimator import DOES_NOT_APPLY as DOES_NOT_APPLY
from pomona.testing.measure import check_measure as check_measure
from pomona.testing.measure import measure_checks as measure_checks
from pomona.testing.ranker import check_ranker as check_ranker
from pomona.testing.ranker import ranker_checks as ranker_checks
