import zlib
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import pomona as pm
from pomona.errors import InputError
from pomona.rankers.base import Ranker
from pomona.rankers.baselines.best_feature import BestFeature
from pomona.rankers.combine.linear_combination import LinearCombination
from pomona.rankers.linear.linear_regression import LinearRegression
from pomona.rankers.linear.rank_cosine import RankCosine
from pomona.rankers.loading import load_model


@pytest.fixture(scope="module")
def train():
    return pm.simulate(50, docs_per_query=12, n_features=10, seed=1)


@pytest.fixture(scope="module")
def test():
    return pm.simulate(40, docs_per_query=12, n_features=10, seed=2)


def pair():
    return [("cosine", RankCosine(n_rounds=5)), ("feature", BestFeature())]


def ranks(data, scores):
    """Each document's place in its query; ties as they come."""
    query = np.repeat(np.arange(data.n_queries), np.diff(data.query_ptr))
    return np.argsort(np.lexsort((-scores, query)))


@pytest.mark.parametrize("normalize", ["standard", "minmax", "rank"])
def test_a_weight_of_one_and_else_zero_is_that_ranker(train, test, normalize):
    members = pair()
    for k, (_, ranker) in enumerate(members):
        weights = np.eye(2)[k]
        combined = LinearCombination(rankers=members, weights=weights, normalize=normalize).fit(train)
        alone = clone(ranker).fit(train)
        assert (ranks(test, combined.predict(test)) == ranks(test, alone.predict(test))).all()


def test_one_ranker_is_itself_whatever_its_weight(train, test):
    alone = RankCosine().fit(train).predict(test)
    for weights in ("uniform", "linearregression", [0.1], [70]):
        combined = LinearCombination(rankers=[("only", RankCosine())], weights=weights).fit(train)
        assert (ranks(test, combined.predict(test)) == ranks(test, alone)).all()


def test_the_rank_average(train):
    data = pm.Dataset([[1, 9], [2, 8], [3, 0]], [0, 1, 2], [1, 1, 1])
    members = [(f"f{j + 1}", BestFeature().fit(data.replace(X=data.X[:, [j, j]]))) for j in range(2)]
    for j, (_, ranker) in enumerate(members):
        ranker.feature_, ranker.direction_ = j, 1
    combined = LinearCombination(rankers=members, weights="uniform", normalize="rank", prefit=True).fit(data)
    places = [(0 + 2) / 2, (1 + 1) / 2, (2 + 0) / 2]  # each ranker's places from the bottom, halved below
    assert combined.predict(data) == pytest.approx(np.array(places) / 2)
    assert combined.coefficients() == {"f1": 0.5, "f2": 0.5}


def test_weights_are_least_squares_on_the_validation_set(train, test):
    combined = LinearCombination(rankers=pair()).fit(train, valid=test)
    columns = []
    for _, ranker in pair():
        scores = clone(ranker).fit(train, valid=test).predict(test)
        parts = np.split(scores, test.query_ptr[1:-1])
        scaled = [(part - part.mean()) / part.std() if np.ptp(part) else part * 0 for part in parts]
        columns.append(np.concatenate(scaled))
    design = np.column_stack([*columns, np.ones(test.n_docs)])
    expected = np.linalg.lstsq(design, test.y.astype(float))[0]
    assert combined.weights_ == pytest.approx(expected[:2], rel=1e-4)


@dataclass(kw_only=True, eq=False, repr=False)
class ByHeart(Ranker):
    """Knows the label of every document it was fitted on, and nothing of others."""

    name: ClassVar[str] = "byheart"
    measure: str = "ndcg@10"

    def learn(self, train, valid, weights):
        self.labels_ = {row.tobytes(): label for row, label in zip(train.X, train.y, strict=True)}

    def predict_rows(self, X):
        known = [self.labels_.get(row.tobytes(), (zlib.crc32(row.tobytes()) % 97) / 24) for row in X]
        return np.array(known, float)


def test_a_ranker_that_learnt_by_heart_gets_no_trust(train, test):
    members = [("heart", ByHeart()), ("linear", LinearRegression())]
    assert ByHeart().fit(train).score(train) > LinearRegression().fit(train).score(train)
    for valid in (None, test):
        weights = LinearCombination(rankers=members).fit(train, valid=valid).coefficients()
        assert abs(weights["heart"]) < 0.5 * weights["linear"]


def test_rankers_that_are_fitted_already(train, test):
    members = [(name, ranker.fit(train, valid=test)) for name, ranker in pair()]
    combined = LinearCombination(rankers=members, prefit=True).fit(test)
    assert combined.models_[0][1] is members[0][1]
    expected = LinearCombination(rankers=pair()).fit(train, valid=test)
    assert (combined.predict(test) == expected.predict(test)).all()
    assert (clone(combined).fit(test).predict(test) == combined.predict(test)).all()
    with pytest.raises(NotFittedError):
        LinearCombination(rankers=pair(), prefit=True).fit(test)


def test_any_linear_ranker_may_learn_the_weights(train, test):
    learnt = LinearCombination(rankers=pair(), weights="rankcosine").fit(train, valid=test)
    assert learnt.weights_.shape == (2,)
    assert (learnt.weights_ != LinearCombination(rankers=pair()).fit(train, valid=test).weights_).any()


def test_names_of_rankers(train, test):
    named = LinearCombination(rankers="rankcosine, best_feature").fit(train)
    assert [name for name, _ in named.models_] == ["rankcosine", "bestfeature"]
    given = [("rankcosine", RankCosine()), ("bestfeature", BestFeature())]
    assert (LinearCombination(rankers=given).fit(train).predict(test) == named.predict(test)).all()


def test_held_out_queries_that_say_nothing_leave_all_rankers_alike(train):
    flat = train.replace(y=np.ones_like(train.y))
    with pytest.warns(UserWarning, match="labels differ in no query"):
        assert LinearCombination().fit(train, valid=flat).weights_.tolist() == [1, 1]


def test_parameters_of_the_rankers(train):
    combined = LinearCombination(rankers=pair(), seed=4)
    parameters = combined.get_params()
    assert parameters["cosine__n_rounds"] == 5
    assert parameters["feature"] is combined.rankers[1][1]
    assert "cosine__n_rounds" not in combined.get_params(deep=False)
    combined.set_params(cosine__n_rounds=7, feature=LinearRegression(), normalize="rank", feature__l2=3.0)
    assert combined.rankers[0][1].n_rounds == 7
    assert combined.rankers[1][1].l2 == 3.0
    twin = clone(combined)
    assert twin.rankers[0][1] is not combined.rankers[0][1]
    assert twin.get_params()["cosine__n_rounds"] == 7
    assert (twin.fit(train).predict(train) == combined.fit(train).predict(train)).all()
    with pytest.raises(ValueError, match="nothing"):
        combined.set_params(nothing=1)


@pytest.mark.parametrize("prefit", [False, True])
def test_members_are_saved_in_one_file(train, test, tmp_path, prefit):
    members = [("inner", LinearCombination(rankers=pair())), ("linear", LinearRegression(l2=2.0))]
    if prefit:
        members = [(name, ranker.fit(train)) for name, ranker in members]
    combined = LinearCombination(rankers=members, prefit=prefit).fit(train)
    combined.save(tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert (loaded.predict(test) == combined.predict(test)).all()
    assert loaded.coefficients() == combined.coefficients()
    assert loaded.get_params()["linear__l2"] == 2.0
    assert loaded.get_params()["inner__cosine__n_rounds"] == 5
    again = loaded.fit(train).predict(test)
    assert (again == combined.predict(test)).all()


def test_refusals(train):
    for wrong, message in (
        ({"rankers": []}, "expected .name, ranker. pairs"),
        ({"rankers": [LinearRegression()]}, "expected .name, ranker. pairs"),
        ({"rankers": "linearregresion"}, "did you mean 'linearregression'"),
        ({"rankers": "linear,linear"}, "must differ"),
        ({"rankers": [("a__b", BestFeature())]}, "must differ and have no '__'"),
        ({"rankers": [("seed", BestFeature())]}, "name of a parameter"),
        ({"rankers": "linear,ideal"}, "reads the labels"),
        ({"weights": [1.0]}, "expected 2 numbers"),
        ({"weights": [1.0, np.nan]}, "expected 2 numbers"),
        ({"weights": "bestfeature"}, "no weights to learn"),
        ({"normalize": "x"}, "unknown normalization"),
        ({"n_folds": 1}, "no query can be held out"),
    ):
        with pytest.raises(pm.PomonaError, match=message):
            LinearCombination(**wrong).fit(train)
    with pytest.raises(InputError, match="no query can be held out"):
        LinearCombination().fit(train.take([0]))


def test_forests_that_are_weighed_as_they_are_make_one_forest(train, test, tmp_path):
    members = [("lambda", pm.LambdaMART(n_trees=4, n_leaves=4)), ("mart", pm.MART(n_trees=3, n_leaves=4))]
    combined = LinearCombination(rankers=members, normalize="none").fit(train, valid=test)
    outputs = [ranker.predict(test) for _, ranker in combined.models_]
    expected = combined.weights_ @ np.stack(outputs)
    assert combined.predict(test) == pytest.approx(expected, abs=1e-12)
    n_trees = sum(ranker.model_.n_trees for _, ranker in combined.models_)
    assert combined.portable().n_trees == n_trees
    assert (combined.predict(test.X) == combined.predict(test)).all()  # no query ids are needed
    combined.save(tmp_path / "m.pomona")
    assert (load_model(tmp_path / "m.pomona").predict(test) == combined.predict(test)).all()
    with pytest.raises(InputError, match=r"scaled inside each query.*train it with normalize='none'"):
        LinearCombination(rankers=members).fit(train).portable()
    mixed = LinearCombination(rankers=[*members, ("linear", LinearRegression())], normalize="none").fit(train)
    outputs = [ranker.predict(test) for _, ranker in mixed.models_]
    assert mixed.predict(test) == pytest.approx(mixed.weights_ @ np.stack(outputs))
    with pytest.raises(InputError, match="which no engine does"):
        mixed.portable()
