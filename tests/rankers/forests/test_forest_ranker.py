import numpy as np
import pytest

import pomona as pm
from pomona.errors import PomonaError
from pomona.rankers.forests.lambdamart import LambdaMART
from pomona.rankers.forests.mart import MART
from pomona.rankers.loading import load_model


@pytest.fixture(scope="module")
def parts():
    return pm.simulate(50, docs_per_query=12, n_features=8, seed=1), pm.simulate(
        30, docs_per_query=12, n_features=8, seed=2
    )


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"n_trees": 0}, "n_trees must be an integer of at least 1"),
        ({"learning_rate": 0}, "learning_rate must be a number above 0"),
        ({"query_fraction": 1.5}, "query_fraction must be a number above 0 and at most 1"),
        ({"growth": "sideways"}, "unknown growth 'sideways'"),
        ({"monotone": (1, 0)}, "found 2 monotone constraints for 8 features"),
        ({"measure": "ndgc@10"}, "did you mean 'ndcg'"),
    ],
)
def test_refusals(wrong, why, parts):
    with pytest.raises(PomonaError, match=why):
        LambdaMART(**wrong).fit(parts[0], valid=parts[1])


def test_early_stopping_by_any_measure_and_convention(parts):
    train, valid = parts
    for name in ("letor4:ndcg@5", "yahoo:ndcg@5", "ap", "err@5"):
        ranker = MART(measure=name, n_trees=30, early_stopping=5, averaged=False, min_docs=3)
        ranker.fit(train, valid=valid)
        assert ranker.score(valid) == pytest.approx(max(ranker.evals_["valid"]))


def test_warm_start_goes_on_from_a_saved_model(parts, tmp_path):
    train, _ = parts
    MART(n_trees=5, min_docs=3).fit(train).save(tmp_path / "m.pomona")
    loaded = load_model(tmp_path / "m.pomona")
    before = loaded.model_
    loaded.set_params(warm_start=True, n_trees=12).fit(train)
    assert loaded.model_.n_trees == 12
    assert loaded.model_.head(5) == before
    with pytest.raises(PomonaError, match="go on from has 8 features, the data 3"):
        loaded.fit(np.zeros((4, 3)), [0, 1, 0, 1], qid=[1, 1, 2, 2])


def test_importance(parts):
    train, _ = parts
    ranker = MART(n_trees=5, min_docs=3).fit(train)
    assert ranker.feature_importances_.sum() == pytest.approx(1)
    assert ranker.importance("split").sum() == np.sum(np.diff(ranker.model_.node_ptr))


def test_monotone_scores_rise_with_their_feature(parts):
    train, _ = parts
    ranker = MART(n_trees=20, min_docs=3, monotone=(1,) * 8).fit(train)
    low, high = train.X.min(axis=0), train.X.max(axis=0)
    for j in range(8):
        grid = np.tile(np.median(train.X, axis=0), (50, 1)).astype(np.float32)
        grid[:, j] = np.linspace(low[j], high[j], 50)
        assert (np.diff(ranker.predict(grid)) >= 0).all()


def test_verbose_shows_progress(parts, capsys):
    MART(n_trees=3, verbose=True).fit(parts[0], valid=parts[1])
    assert "3 trees" in capsys.readouterr().err


def test_gradient_splits(parts):
    train, valid = parts
    plain = LambdaMART(n_trees=10, min_docs=3).fit(train)
    other = LambdaMART(n_trees=10, min_docs=3, splits="gradient").fit(train)
    assert plain.model_ != other.model_
    assert other.score(valid) > 0.6
    # Where second derivatives are all alike, the two are one.
    assert MART(n_trees=3, splits="gradient").fit(train).model_ == MART(n_trees=3).fit(train).model_


def test_what_was_left_open_is_chosen_and_told(parts, tmp_path):
    train, _ = parts
    ranker = LambdaMART(n_trees=5, min_docs=7).fit(train)
    chosen = {"growth": "oblivious", "max_depth": 4, "learning_rate": 0.1}
    assert ranker.chosen_ == {**chosen, "noise": 0.5}
    assert MART(n_trees=2).fit(train).chosen_ == chosen
    assert ranker.get_params()["growth"] == "auto"
    # Not what was asked for, but beside it: `repr` says what makes an equal estimator.
    assert repr(ranker) == "LambdaMART(min_docs=7, n_trees=5)"
    assert eval(repr(ranker), {"LambdaMART": LambdaMART}).get_params() == ranker.get_params()
    assert "max_depth=4, noise=0.5" in ranker._repr_html_()
    assert "chosen" not in LambdaMART(n_trees=5)._repr_html_()
    again = LambdaMART(n_trees=5, min_docs=7, **ranker.chosen_)
    assert again.fit(train).model_ == ranker.model_
    assert again.chosen_ == {}
    ranker.save(tmp_path / "m.pomona")
    loaded = load_model(tmp_path / "m.pomona")
    assert loaded.chosen_ == ranker.chosen_
    assert repr(loaded) == repr(ranker)
    # Other parameters, or other data, and it chooses again.
    ranker.set_params(n_leaves=5, noise=0, learning_rate=0.2).fit(train)
    assert ranker.chosen_ == {"growth": "leafwise"}
