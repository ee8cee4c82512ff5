import numpy as np
import pytest

import pomona as pm
from pomona.errors import InputError, PomonaError
from pomona.rankers.loading import load_model
from pomona.rankers.neural.context_rank import ContextRank
from pomona.rankers.neural.lambda_rank import LambdaRank

LOSSES = ("lambdarank", "listnet", "listmle", "ranknet", "softrank")


@pytest.fixture(scope="module")
def parts():
    return [pm.simulate(n, docs_per_query=12, n_features=16, seed=n) for n in (50, 30)]


@pytest.fixture(scope="module")
def fitted(parts):
    return ContextRank(n_epochs=5, device="cpu").fit(parts[0], valid=parts[1])


def test_it_learns_what_no_document_tells_alone():
    """Relevant is what is near the mean of its list."""

    def lists(seed):
        random = np.random.default_rng(seed)
        x = random.normal(0, 2, (200, 1)) + random.standard_normal((200, 10))
        y = np.abs(x - x.mean(axis=1, keepdims=True)) < 0.5
        return pm.Dataset(x.reshape(-1, 1), y.ravel(), np.repeat(np.arange(200), 10))

    options = {"n_epochs": 30, "log_features": False, "device": "cpu"}
    alone, together = (cls(**options).fit(lists(0)).score(lists(1)) for cls in (LambdaRank, ContextRank))
    assert together > alone + 0.1


@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss(loss, parts):
    ranker = ContextRank(n_epochs=4, loss=loss, device="cpu").fit(parts[0], valid=parts[1])
    assert ("loss" in ranker.evals_) == (loss != "lambdarank")
    assert ranker.score(parts[1]) > 0.4


def test_documents_in_any_order_get_the_same_scores(fitted, parts):
    data = parts[1]
    order = np.random.default_rng(0).permutation(data.n_docs)
    found = fitted.predict(data.X[order], qid=data.qid[order])
    assert (found == fitted.predict(data)[order]).all()
    alone = data.take(np.arange(data.n_queries) == 7)
    assert (fitted.predict(alone) == fitted.predict(data)[data.query_ptr[7] : data.query_ptr[8]]).all()


def test_lists_of_one_and_of_thousands(parts):
    random = np.random.default_rng(0)
    X, lengths = random.standard_normal((2301, 4)), [1, 1300, 999, 1]
    qid, y = np.repeat(["a", "b", "c", "d"], lengths), random.integers(0, 3, 2301)
    ranker = ContextRank(n_epochs=1, device="cpu").fit(X, y, qid=qid, valid=(X, y, qid))
    assert np.isfinite(ranker.predict(X, qid=qid)).all()


def test_it_says_that_it_needs_whole_queries(fitted, parts):
    with pytest.raises(InputError, match=r"ContextRank scores whole queries, .*qid of 423 rows are missing"):
        fitted.predict(parts[1].X)


def test_no_engine_takes_it(fitted):
    for name in ("onnx", "solr", "lightgbm"):
        with pytest.raises(InputError, match="engines score document by document"):
            fitted.exported(name)


def test_save_and_load(parts, tmp_path):
    options = {"hidden": (12, 8), "n_blocks": 2, "n_heads": 4, "layer_norm": True, "quantile_features": True}
    ranker = ContextRank(n_epochs=2, device="cpu", **options).fit(parts[0])
    ranker.save(tmp_path / "m.pomona")
    loaded = load_model(tmp_path / "m.pomona")
    assert loaded.model_.architecture == ranker.model_.architecture
    assert (loaded.predict(parts[1]) == ranker.predict(parts[1])).all()


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"hidden": 0}, "attention needs a hidden layer"),
        ({"hidden": 9, "n_heads": 2}, r"a multiple of n_heads=2: found hidden=\(9,\)"),
        ({"n_blocks": 13}, "n_blocks must be an integer of at least 1 and at most 12"),
        ({"loss": "listnte"}, "did you mean 'listnet'"),
    ],
)
def test_refusals(wrong, why, parts):
    with pytest.raises(PomonaError, match=why):
        ContextRank(**wrong).fit(parts[0])


def test_parameters_can_be_moved(fitted, parts):
    movable = fitted.movable(parts[1])
    assert movable.score(movable.parameters) == pytest.approx(fitted.predict(parts[1]), abs=1e-6)
