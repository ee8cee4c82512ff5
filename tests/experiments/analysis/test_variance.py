import numpy as np
import pytest

from experiments.invented_results import Ranker, invent
from pomona.experiments.findings import Findings
from pomona.stats.variance import variance_shares


def test_shares_of_every_ranker_and_measure():
    rankers = [Ranker("steady"), Ranker("moody", seed_noise=0.4)]
    findings = Findings(invent(rankers, n_folds=4, seeds=(0, 1, 2)))
    (data,), table = findings.pooled, findings.variance
    assert len(table) == 4
    moody = table.filter(ranker="moody", measure="ap").row(0, named=True)
    expected = variance_shares([fold[:, :, data.measures.index("ap")] for fold in data.trainings["moody"]])
    assert moody["seeds"] == pytest.approx(expected.seeds)
    assert moody["seeds"] > 0.3
    assert np.nansum([moody[name] for name in ("queries", "folds", "seeds", "residual")]) == pytest.approx(1)


def test_one_training_cannot_tell_seeds():
    steady = Findings(invent([Ranker("steady")])).variance.row(0, named=True)
    assert steady["seeds"] is steady["residual"] is None
    assert steady["queries"] > 0.9
