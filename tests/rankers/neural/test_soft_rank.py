import pytest

import pomona as pm
from pomona.errors import InputError
from pomona.rankers.neural.soft_rank import SoftRank


@pytest.fixture(scope="module")
def parts():
    return [pm.simulate(50, docs_per_query=12, n_features=8, seed=seed) for seed in (1, 2)]


@pytest.mark.parametrize("text", ["ndcg", "ndcg@5", "letor4:ndcg@3", "p@5", "ap"])
def test_learns_soft_measures(text, parts):
    ranker = SoftRank(measure=text, n_epochs=8, device="cpu").fit(parts[0])
    curve = ranker.evals_["loss"]
    assert curve[-1] < curve[0] < 0
    assert -curve[-1] < 1


def test_a_measure_without_a_soft_form(parts):
    with pytest.raises(InputError, match="err@10 has no soft form"):
        SoftRank(measure="err@10", n_epochs=1).fit(parts[0])
