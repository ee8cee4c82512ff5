import numpy as np
import pytest

from experiments.invented_results import Ranker, invent
from pomona.experiments.analysis.pooled import pooled
from pomona.experiments.analysis.spread import variance_table
from pomona.stats.variance import variance_shares


def test_shares_of_every_ranker_and_measure():
    rankers = [Ranker("steady"), Ranker("moody", seed_noise=0.4)]
    (data,) = pooled(invent(rankers, n_folds=4, seeds=(0, 1, 2)))
    table = variance_table([data], ["ap", "ndcg@10"])
    assert len(table) == 4
    moody = table.filter(ranker="moody", measure="ap").row(0, named=True)
    expected = variance_shares([fold[:, :, data.measures.index("ap")] for fold in data.trainings["moody"]])
    assert moody["seeds"] == pytest.approx(expected.seeds)
    assert moody["seeds"] > 0.3
    assert np.nansum([moody[name] for name in ("queries", "folds", "seeds", "residual")]) == pytest.approx(1)


def test_one_training_cannot_tell_seeds():
    steady = variance_table(pooled(invent([Ranker("steady")])), ["ap"]).row(0, named=True)
    assert steady["seeds"] is steady["residual"] is None
    assert steady["queries"] > 0.9
