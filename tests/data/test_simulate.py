import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge

from pomona._jit import threads
from pomona.data.audit import audit
from pomona.data.dataset import Dataset
from pomona.data.normalize import normalize
from pomona.data.simulate import NAMED_FEATURES, simulate
from pomona.errors import InputError

# Hashes wrap around on purpose; with the kernels' compilation switched off, numpy says so.
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered in scalar")


def mean_ndcg(data: Dataset, scores, k: int = 10) -> float:
    """NDCG@k over the queries that have a relevant document, plainly."""
    values = []
    for start, end in zip(data.query_ptr, data.query_ptr[1:], strict=False):
        gains = 2 ** data.y[start:end] - 1
        discounts = 1 / np.log2(np.arange(2, 2 + len(gains[:k])))
        best = (np.sort(gains)[::-1][:k] * discounts).sum()
        if best > 0:
            ranked = gains[np.argsort(-scores[start:end], kind="stable")]
            values.append((ranked[:k] * discounts).sum() / best)
    return float(np.mean(values))


def test_the_names_are_those_of_136_different_features():
    assert len(NAMED_FEATURES) == len(set(NAMED_FEATURES)) == 5 * 25 + 11
    default = simulate(n_queries=5).feature_names
    for name in (
        "title_bm25",
        "body_tf_idf",
        "anchor_lm_dirichlet",
        "pagerank",
        "clicks",
        "spam_score",
        "age_days",
    ):
        assert name in default


@pytest.mark.parametrize("n_features", [1, 10, 46, 136, 140])
def test_any_number_of_features_can_be_had(n_features):
    data = simulate(n_queries=4, n_features=n_features, seed=2)
    assert data.X.shape == (data.n_docs, n_features)
    assert len(set(data.feature_names)) == n_features
    assert np.isfinite(data.X).all()
    assert len(set(data.doc_ids)) == data.n_docs


def test_more_features_do_not_change_the_labels():
    few, many = simulate(n_queries=70, n_features=46), simulate(n_queries=70, n_features=136)
    assert np.array_equal(few.y, many.y)
    assert np.array_equal(few.X, many.X[:, :46])


def test_the_same_seed_gives_the_same_bits_for_any_number_of_threads():
    with threads(1):
        one = simulate(n_queries=300, docs_per_query=5, seed=3)
    with threads(3):
        three = simulate(n_queries=300, docs_per_query=5, seed=3)
    assert np.array_equal(one.X, three.X)
    assert np.array_equal(one.y, three.y)
    assert not np.array_equal(one.y[:500], simulate(n_queries=300, docs_per_query=5, seed=4).y[:500])


def test_the_same_seed_gives_the_same_bits_without_avx_512():
    code = "import pomona; print(hash(pomona.simulate(50, n_features=136, seed=1).X.tobytes()))"
    wide = "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR X86_V4"
    found = set()
    for disabled in ("", wide):
        environment = {**os.environ, "NPY_DISABLE_CPU_FEATURES": disabled, "PYTHONHASHSEED": "0"}
        command = [sys.executable, "-W", "ignore", "-c", code]
        found.add(subprocess.run(command, env=environment, capture_output=True, check=True).stdout)
    assert len(found) == 1


def test_labels_and_lengths_look_like_web_search():
    data = simulate(n_queries=2000, n_features=1, docs_per_query=60, seed=5)
    shares = np.bincount(data.y.astype(int), minlength=5) / data.n_docs
    np.testing.assert_allclose(shares, [0.52, 0.32, 0.13, 0.02, 0.01], atol=0.02)
    lengths = np.diff(data.query_ptr)
    assert lengths.mean() == pytest.approx(60, rel=0.05)
    assert lengths.min() < 5
    assert lengths.max() > 200
    empty = np.maximum.reduceat(data.y, data.query_ptr[:-1]) == 0
    assert 0.01 < empty.mean() < 0.08


def test_nothing_is_odd_that_is_not_meant_to_be():
    checks = {finding.check for finding in audit(simulate(n_queries=200, n_features=136))}
    assert checks <= {
        "label levels",
        "empty query",
        "one-document query",
        "one label in a query",
        "feature constant in each query",
    }


def test_features_of_a_stream_go_together_and_spam_misleads():
    data = simulate(n_queries=300, seed=6)
    column = dict(zip(data.feature_names, normalize(data, "rank").X.T, strict=True))

    def correlation(a, b):
        return np.corrcoef(column[a], column[b])[0, 1]

    assert correlation("body_bm25", "body_lm_dirichlet") > 0.5
    assert correlation("body_bm25", "title_bm25") > 0.2
    assert abs(correlation("body_bm25", "pagerank")) < 0.2
    assert correlation("spam_score", "body_bm25") > 0.05
    assert np.corrcoef(column["spam_score"], data.y)[0, 1] < -0.05


def test_combining_beats_every_single_feature_and_trees_beat_linear_models():
    train, test = simulate(n_queries=250, seed=1), simulate(n_queries=200, seed=2)
    single = max(mean_ndcg(test, sign * test.X[:, j]) for j in range(46) for sign in (1, -1))
    linear = Ridge().fit(normalize(train, "standard").X, train.y)
    linear_ndcg = mean_ndcg(test, linear.predict(normalize(test, "standard").X))
    trees = HistGradientBoostingRegressor(max_iter=80, max_leaf_nodes=15, random_state=0).fit(
        train.X, train.y
    )
    trees_ndcg = mean_ndcg(test, trees.predict(test.X))
    chance = mean_ndcg(test, np.random.default_rng(0).random(test.n_docs))
    assert chance + 0.1 < single
    assert single + 0.1 < linear_ndcg
    assert linear_ndcg + 0.01 < trees_ndcg


def test_noise_of_annotators_makes_the_task_harder():
    def best_single(noise):
        data = simulate(n_queries=200, noise=noise, seed=7)
        return mean_ndcg(data, data.X[:, data.feature_names.index("clicks")])

    assert best_single(3.0) < best_single(0.0)


def test_in_context_a_page_of_another_time_is_worse():
    plain, data = simulate(n_queries=400, seed=8), simulate(n_queries=400, context=1.0, seed=8)
    others = [data.feature_names.index(name) for name in ("body_bm25", "pagerank", "url_depth")]
    assert np.array_equal(plain.query_ptr, data.query_ptr)
    assert np.array_equal(plain.X[:, others], data.X[:, others])  # the rest of the world is the same
    age = np.log1p(data.X[:, data.feature_names.index("age_days")])
    lengths = np.diff(data.query_ptr)
    means = np.repeat(np.add.reduceat(age, data.query_ptr[:-1]) / lengths, lengths)
    closeness = mean_ndcg(data, -np.abs(age - means))
    assert closeness > max(mean_ndcg(data, age), mean_ndcg(data, -age)) + 0.1
    shares = np.bincount(data.y.astype(int), minlength=5) / data.n_docs
    np.testing.assert_allclose(shares, [0.52, 0.32, 0.13, 0.02, 0.01], atol=0.06)


@pytest.mark.parametrize(
    "arguments",
    [
        {"n_queries": 0},
        {"n_features": 0},
        {"docs_per_query": 0.5},
        {"noise": -1.0},
        {"context": -1.0},
        {"context": np.nan},
        {"docs_per_query": np.inf},
        {"seed": -1},
    ],
)
def test_impossible_worlds_are_refused(arguments):
    with pytest.raises(InputError, match="must be 1 at least"):
        simulate(**arguments)
