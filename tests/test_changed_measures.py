"""A measure that somebody changed is what every learner optimises, or it is refused in one line.

Every registered measure is subclassed with each of its methods replaced. Where the rule is replaced, it
becomes the share of lowest labels among the first three, which no measure would do by itself; where a part
of the rule is, the measure follows. A measure that knows nothing but the rule for one list is the oracle.
"""

import numpy as np
import pytest

import pomona as pm
from pomona._registry import entries
from pomona.errors import InputError, PomonaError
from pomona.measures.base import Measure
from pomona.measures.lists import RankedLists
from pomona.measures.parse import measure
from pomona.measures.position import PositionForm
from pomona.objectives.lambdas import LambdaObjective
from pomona.objectives.softrank import SoftRankObjective
from pomona.rankers.evaluator import RankingEvaluator, judged_rankings
from pomona.rankers.linear.smooth_rank import SmoothedMeasure
from pomona.rankers.linear.solvers.line_search import line_search, weight_at

NAMES = sorted(entries("measures"))
QUERY_PTR = np.array([0, 6, 10, 15])
SMALLEST = 1  # SeznamRank's grades start at 1


def share_of_lowest(labels):
    return float((np.asarray(labels)[:3] == SMALLEST).sum()) / 3


def lowest_form(self, lists):
    return PositionForm(
        lists=lists,
        level_values=(lists.levels == SMALLEST) / 3,
        numerator=np.ones(3),
        divisor=np.ones(3),
        normalizer=np.ones(lists.n_queries),
    )


RULES = {
    "of_query": lambda self, labels: share_of_lowest(labels),
    "of_lists": lambda self, lists: np.array(
        [share_of_lowest(lists.levels[lists.single(q)]) for q in range(lists.n_queries)]
    ),
    "closed_form": lowest_form,
}


def flipped(original):
    """A label of 1 counts as 4 did, and so on."""
    return lambda self, levels: original(self, 5 - levels[::-1])[::-1]


PARTS = {
    "values": flipped,
    "satisfies": flipped,
    "is_relevant": lambda original: lambda self, levels: levels == 2,
    "weights": lambda original: lambda self, n: (np.array([0.5, 0.25])[:n], np.ones(min(n, 2))),
    "normalizer": lambda original: lambda self, lists: np.full(lists.n_queries, 2.0),
    "depth": lambda original: lambda self, n: min(n, 2),
    "ceiling": lambda original: property(lambda self: 0.05),
}


def subclass(name, **methods):
    cls = type(measure(name))
    parameters = {"relevant": 3.0} if hasattr(cls, "relevant") else {}  # so that labels differ
    return type(f"Changed{cls.__name__}", (cls,), methods)(**parameters)


def changed_rule(name, method):
    return subclass(name, **{method: RULES[method]})


def changed_part(name, method):
    return subclass(name, **{method: PARTS[method](getattr(type(measure(name)), method))})


CHANGED = {f"{name}.{method}": (changed_rule, name, method) for name in NAMES for method in RULES}
CHANGED |= {
    f"{name}.{method}": (changed_part, name, method)
    for name in NAMES
    for method in PARTS
    if hasattr(type(measure(name)), method) and (name, method) != ("wta", "depth")  # has but one rank
}


@pytest.fixture(params=sorted(CHANGED))
def one(request):
    make, *what = CHANGED[request.param]
    return make(*what)


class Oracle(Measure):
    """Nothing but the rule of another measure for one list."""

    def of_query(self, labels):
        return self.rule(labels)


def oracle(one):
    return type("TheOracle", (Oracle,), {"rule": staticmethod(one.of_query)})()


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(3)
    labels = np.concatenate(([1, 2, 3, 1, 4, 2], [2, 1, 3, 1], [1, 1, 2, 4, 3]))
    X = np.column_stack((labels + random.normal(0, 0.8, 15), random.normal(size=15)))
    return pm.Dataset(X, labels, np.repeat([1, 2, 3], np.diff(QUERY_PTR)))


@pytest.fixture(scope="module")
def scores(data):
    return data.X[:, 0].astype(float) - 2.0 * data.X[:, 1]


def test_the_change_is_felt(one):
    unchanged = subclass(type(one).name)
    labels = [[4, 1, 1, 2, 3, 1, 1], [1, 3, 4, 2], [3, 2, 1], [1, 4], [2, 1, 4, 3], [2, 1]]
    values = [(one.of_query(ranked), unchanged.of_query(ranked)) for ranked in labels]
    assert any(now != pytest.approx(before) for now, before in values)


def test_it_is_judged_by_its_rule(one, data, scores):
    expected = pm.evaluate(data, scores, oracle(one), per_query=True)["TheOracle"]
    key = str(one)
    assert pm.evaluate(data, scores, one, per_query=True)[key] == pytest.approx(expected)
    assert judged_rankings(data, scores[None], one)[0] == pytest.approx(expected)
    evaluator = RankingEvaluator(data, one)
    for now in (scores, -scores, scores):
        assert evaluator.mean(now) == pytest.approx(pm.evaluate(data, now, oracle(one))["TheOracle"])


@pytest.mark.parametrize("rule", sorted(RULES))
def test_a_replaced_rule_is_the_one_given(rule, data, scores):
    for name in NAMES:
        values = pm.evaluate(data, scores, changed_rule(name, rule), per_query=True)
        ranked = [labels[np.argsort(-s)] for labels, s in by_query(data, scores)]
        assert next(iter(values.values())) == pytest.approx([share_of_lowest(labels) for labels in ranked])


def by_query(data, scores):
    return zip(np.split(data.y, QUERY_PTR[1:-1]), np.split(scores, QUERY_PTR[1:-1]), strict=True)


def test_lambdas_push_by_its_rule(one, data, scores):
    made = []
    for which in (one, oracle(one)):
        gradient, hessian = np.empty((2, data.n_docs), np.float32)
        LambdaObjective(which, data.y, data.query_ptr).gradients(scores, gradient, hessian)
        made.append((gradient, hessian))
    np.testing.assert_allclose(made[0], made[1], atol=1e-5 * np.abs(made[1]).max())


def test_replaced_swap_deltas_are_those_that_lambdas_take(data, scores):
    for name in NAMES:
        still = subclass(name, swap_deltas=lambda self, labels: np.zeros((len(labels), len(labels))))
        gradient, hessian = np.empty((2, data.n_docs), np.float32)
        LambdaObjective(still, data.y, data.query_ptr).gradients(scores, gradient, hessian)
        assert not gradient.any()
        assert pm.evaluate(data, scores, still) == pm.evaluate(data, scores, subclass(name))


def test_the_line_search_climbs_its_rule(one, data):
    weights, spread = np.full(3, 1 / 3), 2.0
    slope, rest = data.X[:, 0].copy(), data.X[:, 1].astype(float)
    place, height = line_search(one, data.y, data.query_ptr, weights).best(rest, slope, 0.0, spread)

    def true_height(u):
        at = rest + weight_at(u, spread) * slope.astype(float)
        return pm.evaluate(data, at, oracle(one))["TheOracle"]

    assert height == pytest.approx(true_height(place))
    assert height >= true_height(0.0) - 1e-9


def test_smoothing_ends_at_its_rule_or_is_refused(one, data, scores):
    expected = pm.evaluate(data, scores, oracle(one))["TheOracle"]
    form = one.closed_form(RankedLists.of_documents(data.y, data.query_ptr))
    if form is None:
        with pytest.raises(InputError, match="can smooth"):
            SmoothedMeasure(one, data.y, data.query_ptr)
    elif form.ceiling == np.inf:  # a ceiling is not smoothed, as its docstring says
        smoothed = SmoothedMeasure(one, data.y, data.query_ptr)
        assert smoothed.gradient(scores, 1e-9)[0] == pytest.approx(expected)


def test_soft_ranks_end_at_its_rule_or_are_refused(one, data, scores):
    expected = pm.evaluate(data, scores, oracle(one), per_query=True)["TheOracle"]
    try:
        objective = SoftRankObjective(one, data.y, data.query_ptr, sigma=1e-6)
    except InputError:
        return
    assert -objective.losses(scores) == pytest.approx(expected, abs=1e-6)


FITS = {
    "lambdamart": {"n_trees": 10, "min_docs": 1},
    "lambdarank": {"hidden": (), "n_epochs": 30, "learning_rate": 0.1},
    "softrank": {"hidden": (), "n_epochs": 30, "learning_rate": 0.1},
    "randomforest": {"n_trees": 10, "min_docs": 1, "objective": "lambda"},
    "coordinateascent": {"n_restarts": 1},
    "adarank": {"n_rounds": 5},
    "smoothrank": {"max_iterations": 10},
    "permurank": {"n_rounds": 5},
    "bestfeature": {},
    "ensemble": {"member": "lambdamart(n_trees=5, min_docs=1)", "n_models": 2},
    "linearcombination": {"weights": "coordinateascent", "rankers": "linearregression,random"},
}


MAY_REFUSE = {"smoothrank", "softrank", "permurank"}


@pytest.mark.parametrize("rule", sorted(RULES))
@pytest.mark.parametrize("name", sorted(FITS))
def test_rankers_learn_the_replaced_rule_or_refuse(name, rule):
    random = np.random.default_rng(0)
    labels = random.integers(1, 4, 160)
    X = np.column_stack((labels + random.normal(0, 0.1, 160), random.normal(size=160)))
    train = pm.Dataset(X, labels, np.repeat(np.arange(20), 8))
    wanted = changed_rule("ndcg", rule)
    ranker = entries("rankers")[name].load()(measure=wanted, **FITS[name])
    try:
        ranker.fit(train)
    except PomonaError:
        assert name in MAY_REFUSE
        return
    best = pm.evaluate(train, -labels, wanted)[str(wanted)]
    assert pm.evaluate(train, ranker.predict(train), wanted)[str(wanted)] > 0.9 * best
