"""Weights of documents in every loss: a pair counts w̄ r_i r_j, any other term w̄ r_i, and weight 0 nothing.

w̄ is the mean weight of the documents of a query that count, and r = w / w̄.
"""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pomona as pm
from pomona._registry import entries
from pomona.experiments.execute import shortened
from pomona.rankers.boosting.rank_boost import _Pairs
from pomona.rankers.inputs import documents_that_count, weights_in_queries
from pomona.rankers.linear.fsm_rank import dominance
from pomona.rankers.linear.rank_cosine import _Lists
from pomona.rankers.linear.rank_svm import PairLoss
from pomona.rankers.linear.solvers.least_squares import least_squares
from pomona.rankers.linear.sums.pair_hinge import SquaredPairHinge

WHOLE_QUERIES = {"adarank", "coordinateascent", "bestfeature", "svmmap", "permurank"}
"""They warn where weights differ inside a query."""
NOTHING_TO_LEARN = {"random", "ideal", "worst", "imported"}
LEARNING = sorted(set(entries("rankers")) - NOTHING_TO_LEARN)
ONLY_LOSSES = ("ranksvm", "fenchelrank", "fsmrank", "rankboost", "prank", "linearregression", "rankcosine")
ONLY_LOSSES += ("logisticregression", "lruf", "larf", "svmmap", "permurank", "ranknet")
"""No measure of whole rankings plays a part in what they lower."""


def small(name, **parameters):
    ranker = entries("rankers")[name].load()()
    return ranker.set_params(**{**shortened(ranker.get_params(deep=False)), **parameters})


def documents(seed, *, n_features=3, n_grades=4):
    """Some queries with tied features, and weights of which some are 0."""
    random = np.random.default_rng(seed)
    lengths = random.integers(1, 9, 6)
    n = int(lengths.sum())
    X = random.random((n, n_features)).round(1).astype(np.float32)
    y = random.integers(0, n_grades, n).astype(np.float32)
    y[:2] = [0, 1] if lengths[0] > 1 else y[:2]
    weights = random.integers(0, 4, n) / 2
    return pm.Dataset(X, y, np.repeat(np.arange(6), lengths)), weights


def weighted_pairs(data, weights):
    """(better, worse, w̄ r_i r_j, query) of every pair, with w̄ and r by their definition."""
    found = []
    for q, (begin, end) in enumerate(zip(data.query_ptr[:-1], data.query_ptr[1:], strict=True)):
        counting = [i for i in range(begin, end) if weights[i] > 0]
        mean = sum(weights[i] for i in counting) / max(len(counting), 1)
        found += [
            (i, j, mean * (weights[i] / mean) * (weights[j] / mean), q)
            for i in counting
            for j in counting
            if data.y[i] > data.y[j]
        ]
    return found


@given(st.integers(0, 10**6), st.sampled_from([0.3, 3.0]))
def test_pairs_of_rank_svm(seed, scale):
    data, weights = documents(seed)
    pairs = weighted_pairs(data, weights)
    w = scale * np.random.default_rng(seed).normal(size=3)
    X = data.X.astype(float)
    loss = PairLoss(data, weights)
    short = [(max(0.0, 1 - (X[i] - X[j]) @ w), X[i] - X[j], c) for i, j, c, _ in pairs]
    assert loss.n_pairs == pytest.approx(sum(c for *_, c in short))
    value, gradient = loss.at(w)
    assert value == pytest.approx(sum(c * s**2 for s, _, c in short), rel=1e-9, abs=1e-9)
    expected = sum((-2 * c * s * d for s, d, c in short), start=np.zeros(3))
    assert gradient == pytest.approx(expected, rel=1e-9, abs=1e-9)
    bent = sum((2 * c * d * (d @ w) for s, d, c in short if s > 0), start=np.zeros(3))
    assert loss.product(w) == pytest.approx(bent, rel=1e-9, abs=1e-9)
    if pairs:
        slope, offset = loss.tangent(w)
        assert offset - slope @ w == pytest.approx(sum(c * s for s, _, c in short) / loss.n_pairs, abs=1e-9)


@given(st.integers(0, 10**6), st.sampled_from([0.3, 3.0]))
def test_pairs_of_the_squared_hinge(seed, scale):
    """Value, gradient, curvature and derivatives along a line, as FenchelRank and FSMRank use them."""
    data, weights = documents(seed)
    data, weights = documents_that_count(data, weights)
    pairs = weighted_pairs(data, weights)
    if not pairs:
        return
    random = np.random.default_rng(seed)
    w, v = scale * random.normal(size=3), random.normal(size=3)
    X = data.X.astype(float)
    hinge = SquaredPairHinge(data.y, data.query_ptr, *weights_in_queries(weights, data))
    total = sum(c for *_, c, _ in pairs)
    terms = [(c / total, max(0.0, 1 - (X[i] - X[j]) @ w), X[i] - X[j]) for i, j, c, _ in pairs]
    value, by_score = hinge.gradient(X @ w)
    assert value == pytest.approx(sum(c * s**2 for c, s, _ in terms), rel=1e-9, abs=1e-9)
    slope = sum((-2 * c * s * d for c, s, d in terms), start=np.zeros(3))
    assert X.T @ by_score == pytest.approx(slope, rel=1e-8, abs=1e-8)
    bend = sum((2 * c * np.outer(d, d) for c, s, d in terms if s > 0), start=np.zeros((3, 3)))
    assert hinge.curvature(data.X, np.arange(3), X @ w) == pytest.approx(bend, rel=1e-8, abs=1e-8)
    first, second = hinge.along(X @ w, X @ v, 0.0)
    assert (first, second) == pytest.approx((slope @ v, v @ bend @ v), rel=1e-8, abs=1e-8)


@given(st.integers(0, 10**6))
def test_pairs_of_rank_boost(seed):
    data, weights = documents(seed)
    data, weights = documents_that_count(data, weights)
    pairs = weighted_pairs(data, weights)
    if not pairs:
        return
    scores = np.random.default_rng(seed).normal(size=data.n_docs)
    total = sum(c for *_, c, _ in pairs)
    ours = _Pairs(data, weights, balance_queries=False)
    ours.add(scores)
    shares = [(i, j, c * np.exp(scores[j] - scores[i])) for i, j, c, _ in pairs]
    assert ours.loss == pytest.approx(sum(share for *_, share in shares) / total)
    potential = np.zeros(data.n_docs)
    for i, j, share in shares:
        potential[i] += share
        potential[j] -= share
    assert ours.potential == pytest.approx(potential / sum(share for *_, share in shares), abs=1e-9)


@given(st.integers(0, 10**6))
def test_pairs_of_dominance(seed):
    data, weights = documents(seed)
    data, weights = documents_that_count(data, weights)
    by_query, relative = weights_in_queries(weights, data)
    pairs = weighted_pairs(data, weights)
    if not pairs:
        return
    means, counted = np.zeros(3), 0.0
    for q in range(data.n_queries):
        of_query = [(i, j, c) for i, j, c, query in pairs if query == q]
        if of_query:
            sums = sum(c * np.sign(data.X[i] - data.X[j]) for i, j, c in of_query)
            means += by_query[q] * sums / sum(c for *_, c in of_query)
            counted += by_query[q]
    found = dominance(data.X, data.y, data.query_ptr, by_query, relative)
    assert found == pytest.approx(means / counted, abs=1e-6)


@given(st.integers(0, 10**6))
def test_the_cosine_of_weighted_documents(seed):
    data, weights = documents(seed)
    data, weights = documents_that_count(data, weights)
    by_query, relative = weights_in_queries(weights, data)
    r = np.ones(data.n_docs) if relative is None else relative
    lists = _Lists.of(data, data.y.astype(float), np.maximum(by_query, 0.1), True, relative)
    H = np.random.default_rng(seed).normal(size=data.n_docs)
    for q, (begin, end) in enumerate(zip(data.query_ptr[:-1], data.query_ptr[1:], strict=True)):
        part = slice(begin, end)
        g = data.y[part] - np.average(data.y[part], weights=r[part])
        x = data.X[part] - np.average(data.X[part].astype(float), axis=0, weights=r[part])
        assert lists.gg[q] == pytest.approx((r[part] * g * g).sum(), abs=1e-6)
        assert lists.gh[:, q] == pytest.approx((r[part] * g) @ x, abs=1e-5)
        assert lists.hh[:, q] == pytest.approx((r[part, None] * x * x).sum(axis=0), abs=1e-5)
    assert lists.steps(H, 1e9)[1].shape == (3,)


@given(st.integers(0, 10**6))
def test_least_squares_inside_queries(seed):
    """The same as ordinary least squares with a dummy for each query, rows times √(w̄ r)."""
    data, weights = documents(seed)
    by_query, relative = weights_in_queries(weights, data)
    relative = np.ones(data.n_docs) if relative is None else relative
    lengths = np.diff(data.query_ptr)
    target = np.random.default_rng(seed).normal(size=data.n_docs)
    roots = np.sqrt(np.repeat(by_query, lengths) * relative)
    dummies = np.repeat(np.eye(data.n_queries), lengths, axis=0)
    rows = np.hstack([data.X.astype(float), dummies]) * roots[:, None]
    theirs = np.linalg.lstsq(rows, roots * target, rcond=None)[0][:3]
    if np.linalg.matrix_rank(rows[weights > 0]) < 3 + np.count_nonzero(by_query):
        return
    ours = least_squares(data.X, target, data.query_ptr, by_query, relative=relative)
    assert ours == pytest.approx(theirs, rel=1e-4, abs=1e-4)


@pytest.fixture(scope="module")
def train():
    data = pm.simulate(24, docs_per_query=8, n_features=5, seed=3)
    return pm.Dataset(np.round(data.X, 1), data.y, data.qid)


@pytest.fixture(scope="module")
def fresh():
    return pm.simulate(12, docs_per_query=8, n_features=5, seed=4)


def fitted(name, data, weights, **options):
    return small(name).fit(data, sample_weight=weights, **options)


@pytest.mark.parametrize("name", ONLY_LOSSES)
@pytest.mark.filterwarnings("ignore:.*uses the mean weight", "ignore:.*raise.* max_iterations")
def test_the_label_of_a_document_without_weight_teaches_nothing(name, train, fresh, monkeypatch):
    # The order of rows, by which some draw, is that of their content, of which labels are a part.
    monkeypatch.setattr("pomona.rankers.base.in_content_order", lambda data, weights=None: data.gathered())
    random = np.random.default_rng(5)
    weights = np.where(random.random(train.n_docs) < 0.3, 0.0, random.integers(1, 4, train.n_docs))
    other = np.where(weights == 0, random.integers(0, 4, train.n_docs), train.y).astype(np.float32)
    assert (other != train.y).sum() > 20
    one, two = (fitted(name, train.replace(y=y), weights).predict(fresh) for y in (train.y, other))
    assert (one == two).all()


@pytest.mark.parametrize("name", LEARNING)
@pytest.mark.filterwarnings("ignore:.*raise.* max_iterations")
def test_weights_that_differ_inside_queries_are_used_or_warned_of(name, train, fresh):
    weights = np.random.default_rng(5).integers(1, 9, train.n_docs) / 2
    means = np.repeat(weights_in_queries(weights, train)[0], np.diff(train.query_ptr))
    if name in WHOLE_QUERIES:
        with pytest.warns(UserWarning, match="uses the mean weight of each query's documents"):
            ranker = fitted(name, train, weights)
        assert ranker.predict(fresh) == pytest.approx(fitted(name, train, means).predict(fresh), abs=1e-4)
        return
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "BestFeature uses the mean weight")  # a member of linearcombination
        differing, alike = (fitted(name, train, w).predict(fresh) for w in (weights, means))
    assert (differing != alike).any()


@pytest.mark.parametrize("name", ["smoothrank"])
def test_smooth_rank_warns_where_the_measure_has_no_terms(name, train):
    weights = np.random.default_rng(5).integers(1, 9, train.n_docs) / 2
    for measure in ("ap", "err@10", "pfound"):
        with pytest.warns(UserWarning, match="no sum with a term for each document"):
            small(name, measure=measure).fit(train, sample_weight=weights)


def test_equal_weights_inside_queries_are_weights_of_queries(train, fresh):
    by_query = np.random.default_rng(5).integers(1, 9, train.n_queries) / 2
    weights = np.repeat(by_query, np.diff(train.query_ptr))
    assert weights_in_queries(weights, train)[1] is None
    assert documents_that_count(train, weights)[0] is train
    weights[: train.query_ptr[2]] = 0.0  # two whole queries
    assert documents_that_count(train, weights)[0] is train


@pytest.mark.parametrize("name", LEARNING)
@pytest.mark.filterwarnings("ignore:.*uses the mean weight", "ignore:.*raise.* max_iterations")
def test_an_unjudged_document_counts_like_one_of_label_0_and_weight_0(name, train, fresh):
    """Its label is NaN; the measure that training watches sees no gain in either."""
    random = np.random.default_rng(6)
    is_judged = random.random(train.n_docs) > 0.2
    labels = np.where(is_judged, train.y, 0).astype(np.float32)
    unjudged = pm.Dataset(train.X, np.where(is_judged, labels, np.nan), train.qid)
    one = small(name).fit(unjudged)
    two = fitted(name, train.replace(y=labels), is_judged.astype(float))
    assert (one.predict(fresh) == two.predict(fresh)).all()
