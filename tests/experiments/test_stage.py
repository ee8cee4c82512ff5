import numpy as np
import pytest

import pomona as pm
from pomona.experiments.stage import judged_stages


@pytest.fixture(scope="module")
def parts():
    return pm.simulate(60, docs_per_query=10, n_features=6, seed=2).split([0.5, 0.2, 0.3], seed=0)


@pytest.mark.parametrize(
    "ranker",
    [
        pm.LambdaMART(n_trees=130, early_stopping=None, n_leaves=4, min_docs=5, measure="ap"),
        pm.LambdaMART(n_trees=500, early_stopping=10, min_docs=5),
        pm.MART(n_trees=40, early_stopping=5, query_fraction=0.7, feature_fraction=0.5),
        pm.McRank(n_trees=12, early_stopping=None),
        pm.RandomForest(n_trees=6, trees_per_bag=2),
    ],
    ids=lambda ranker: type(ranker).__name__,
)
def test_stages_are_what_forests_of_so_many_trees_do(ranker, parts):
    train, valid, test = parts
    if "averaged" in ranker.get_params():
        ranker.set_params(averaged=False)
    fitted = ranker.fit(train, valid=valid)
    record = judged_stages(fitted, train, test)
    curve, stages = record["test_curve"], record["stages"]
    measure = str(fitted.parsed_measure)
    values = dict(zip(stages["iteration"], stages["values"], strict=True))
    # What validation chose is what the ranker itself does.
    assert stages["chosen"] == fitted.best_iteration_
    judged = pm.evaluate(test, fitted.predict(test), measure, per_query=True)[measure]
    np.testing.assert_allclose(values[stages["chosen"]], judged, atol=1e-12)
    # The last is what a training without validation queries ends with.
    longer = {**ranker.get_params(), **fitted.chosen_, "n_trees": stages["last"]}
    if "early_stopping" in longer:
        longer["early_stopping"] = None
    alone = type(ranker)(**longer)
    judged = pm.evaluate(test, alone.fit(train).predict(test), measure, per_query=True)[measure]
    np.testing.assert_allclose(values[stages["last"]], judged, atol=1e-12)
    at = dict(zip(curve["iteration"], curve["value"], strict=True))
    assert at[stages["last"]] == pytest.approx(judged.mean())
    assert stages["last"] == len(fitted.evals_["valid"])
    expected = {*range(1, 101), *range(100, 10_000, 5), stages["chosen"], stages["last"]}
    assert set(at) == {i for i in expected if i <= stages["last"]}


def test_a_ranker_without_stages_says_so(parts):
    train, valid, test = parts
    with pytest.warns(UserWarning, match="no curve of test queries"):
        assert judged_stages(pm.AdaRank(n_rounds=3).fit(train, valid=valid), train, test) == {}
