import itertools

import numpy as np
import pytest

import pomona as pm
from pomona.errors import InputError
from pomona.rankers.baselines.worst import WorstRanker
from pomona.rankers.loading import load_model


def test_is_the_least_value_of_measures():
    data = pm.Dataset(np.zeros((5, 1)), [2, 0, 1, 0, 1], np.zeros(5))
    fitted = WorstRanker().fit(data)
    assert fitted.is_bound
    for measure in ("ndcg@3", "ndcg", "err", "ap", "rr"):
        worst = min(pm.evaluate(data, order, measure)[measure] for order in itertools.permutations(range(5)))
        assert pm.evaluate(data, fitted.predict(data), measure)[measure] == pytest.approx(worst)


def test_save_and_load(tmp_path):
    data = pm.Dataset(np.zeros((2, 1)), [2, 1], [1, 1])
    WorstRanker().fit(data).save(tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert type(loaded) is WorstRanker
    assert loaded.predict(data).tolist() == [-2, -1]


def test_rows_without_labels_are_refused():
    fitted = WorstRanker().fit(np.zeros((2, 1)), [0, 1], qid=[1, 1])
    with pytest.raises(InputError, match="WorstRanker ranks by labels"):
        fitted.predict(np.zeros((2, 1)), qid=[1, 1])


def test_documents_that_are_not_judged_come_first():
    data = pm.Dataset(np.zeros((4, 1)), [np.nan, 0, 1, 2], np.zeros(4))
    fitted = WorstRanker().fit(data)
    assert fitted.predict(data).tolist() == [1, 0, -1, -2]
    assert pm.evaluate(data, fitted.predict(data), "rr(relevant=2)")["rr(relevant=2)"] == 1 / 4
