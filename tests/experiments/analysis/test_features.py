import numpy as np
import pytest

import pomona as pm
from pomona.data.folds import Fold
from pomona.errors import InputError
from pomona.experiments.analysis import features
from pomona.experiments.analysis.features import examine_features, subject_of

QUICK = {"n_trees": 5, "n_shuffles": 1}


@pytest.fixture(scope="module")
def data():
    return pm.simulate(25, docs_per_query=10, n_features=6, seed=4)


@pytest.fixture(scope="module")
def found(data):
    return examine_features(data, top=4, **QUICK)


def test_everything_is_there(found, data):
    assert found.features.columns[:2] == ["number", "feature"]
    assert found.features["alone"].is_sorted(descending=True)
    assert len(found.features) == data.n_features
    assert not found.features.null_count().sum_horizontal()[0]
    assert found.n_folds == 5
    assert found.selection["fold"].unique().sort().to_list() == [1, 2, 3, 4, 5]
    assert len(found.correlation) == 16
    assert 0 < found.random < found.features["alone"][0]
    assert found.notes == []
    assert not found.interrupted


def test_the_table_is_that_of_the_findings(found, data):
    table = pm.feature_table(data, "ndcg@10", **QUICK)
    assert table.equals(found.features)


def test_the_order_of_rows_does_not_matter(data):
    """Documents come scattered; only which test query meets which shuffle may change."""
    order = np.random.default_rng(0).permutation(data.n_docs)
    names = data.feature_names
    shuffled = pm.Dataset(data.X[order], data.y[order], data.qid[order], feature_names=names)
    one, other = (pm.feature_table(some, n_trees=0) for some in (data, shuffled))
    assert one["feature"].to_list() == other["feature"].to_list()
    for column in ("alone", "information_gain", "a", "constant"):
        np.testing.assert_allclose(one[column], other[column], atol=1e-12)


def test_folds_are_taken_as_they_are(data, tmp_path):
    fold = Fold(*data.split([0.6, 0.2, 0.2]))
    whole, folds = subject_of(fold)
    assert (whole.n_queries, len(folds)) == (25, 1)
    assert folds[0]() is fold
    no_validation = Fold(fold.train, None, fold.test)
    made = subject_of([no_validation])[1][0]()
    assert (made.train.n_queries, made.valid.n_queries) == (12, 3)
    for name, part in zip(("train", "vali", "test"), fold, strict=True):
        pm.write_letor(part, tmp_path / f"{name}.txt")
    whole, folds = subject_of(tmp_path)
    assert (whole.n_docs, len(folds), folds[0]().test.n_queries) == (data.n_docs, 1, 5)
    whole, folds = subject_of(str(tmp_path / "train.txt"))
    assert (whole.n_queries, len(folds)) == (15, 5)


def test_queries_of_two_parts_with_one_id_stay_apart():
    part = pm.Dataset([[1.0], [2.0]], [0, 1], [1, 1])
    assert subject_of(Fold(part, part, part))[0].n_queries == 3


def test_few_queries_have_no_folds(data):
    found = examine_features(data.take([0, 1]), **QUICK)
    assert "2 queries are too few" in found.notes[0]
    assert "gain_share" not in found.features.columns
    assert found.selection_means.is_empty()
    three = examine_features(data.take([0, 1, 2]), **QUICK)
    assert three.notes == [] or "no forest" in three.notes[0]
    assert three.selection["fold"].n_unique() == 3


def test_data_without_labels_that_differ_are_described(data):
    found = examine_features(data.replace(y=np.zeros(data.n_docs, np.float32)), **QUICK)
    assert found.features["a"].null_count() == data.n_features
    assert found.features["alone"].to_list() == [0.0] * data.n_features


def test_undefined_values_are_told(data):
    X = data.X.copy()
    X[::2, 0] = np.nan
    found = examine_features(data.replace(X=X), stages=("alone", "information"))
    assert any("undefined" in note for note in found.notes)


def test_infinite_values_leave_the_selection_out_and_nothing_else(data):
    X = data.X.copy()
    X[3, 1] = np.inf
    found = examine_features(data.replace(X=X), **QUICK)
    assert "infinite value" in found.notes[0]
    assert found.n_folds == 5
    assert "gain_share" in found.features.columns


def test_what_a_file_leaves_out_is_0_unless_told(tmp_path):
    path = tmp_path / "sparse.txt"
    path.write_text("1 qid:1 1:2 2:1\n0 qid:1 2:1\n")
    assert np.isnan(subject_of(path)[0].X).sum() == 0
    assert np.isnan(subject_of(path, undefined=np.nan)[0].X).sum() == 1


@pytest.mark.parametrize("stage", features.STAGES)
def test_after_an_interruption_the_rest_is_kept(data, stage):
    def interrupt(now, share):
        if now == stage:
            raise KeyboardInterrupt

    found = examine_features(data, watch=interrupt, **QUICK)
    assert found.interrupted
    assert "stopped" in found.notes[-1]
    assert ("alone" in found.features.columns) == (stage != "alone")
    assert ("gain_share" in found.features.columns) == (stage == "selection")


def test_folds_that_were_done_before_an_interruption_count(data):
    def interrupt(stage, share):
        if stage == "forest" and share > 0.45:
            raise KeyboardInterrupt

    found = examine_features(data, watch=interrupt, **QUICK)
    assert found.n_folds == 2
    assert found.features["gain_share"].sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bins": 1}, "found 1 bins, expected at least 2"),
        ({"n_shuffles": 0}, "found 0 shuffles"),
        ({"n_trees": -1}, "found -1 trees"),
        ({"top": 0}, "found 0 top"),
    ],
)
def test_refused(data, options, message):
    with pytest.raises(InputError, match=message):
        examine_features(data, **options)
    with pytest.raises(InputError, match="no fold"):
        examine_features([])
