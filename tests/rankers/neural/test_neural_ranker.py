import subprocess
import sys

import numpy as np
import pytest

import pomona as pm
from pomona.errors import InputError, PomonaError
from pomona.rankers.loading import load_model
from pomona.rankers.neural.lambda_rank import LambdaRank
from pomona.rankers.neural.list_mle import ListMLE
from pomona.rankers.neural.list_net import ListNet
from pomona.rankers.neural.rank_net import RankNet
from pomona.rankers.neural.soft_rank import SoftRank
from pomona.rankers.neural.training.trainer import Trainer

RANKERS = [RankNet, LambdaRank, ListNet, ListMLE, SoftRank]


@pytest.fixture(scope="module")
def parts():
    return [pm.simulate(n, docs_per_query=12, n_features=8, seed=n) for n in (50, 30)]


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"n_epochs": 0}, "n_epochs must be an integer of at least 1"),
        ({"batch_size": 0}, "batch_size must be an integer of at least 1"),
        ({"restart_after": 0}, "restart_after must be an integer of at least 1"),
        ({"dropout": 1.0}, "dropout must be a number of at least 0 and below 1"),
        ({"l2": -1.0}, "l2 must be a number of at least 0"),
        ({"learning_rate": 0.0}, "learning_rate must be a number above 0"),
        ({"learning_rate": ()}, "learning_rate must name one rate at least"),
        ({"hidden": (1, 2, 3, 4)}, "hidden must name the widths"),
        ({"activation": "rellu"}, "did you mean 'relu'"),
        ({"optimizer": "adma"}, "did you mean 'adam'"),
        ({"schedule": "cosin"}, "did you mean 'cosine'"),
        ({"device": "gpu"}, "device 'gpu' cannot be used"),
        ({"valid_measure": "ndgc"}, "did you mean 'ndcg'"),
    ],
)
def test_refusals(wrong, why, parts):
    with pytest.raises(PomonaError, match=why):
        RankNet(**wrong).fit(parts[0], valid=parts[1])


def test_several_learning_rates(parts):
    train, valid = parts
    rates = (1e-6, 0.01)
    best = RankNet(n_epochs=8, learning_rate=rates, device="cpu").fit(train, valid=valid)
    alone = RankNet(n_epochs=8, learning_rate=0.01, device="cpu").fit(train, valid=valid)
    assert best.learning_rate_ == 0.01
    assert (best.predict(valid) == alone.predict(valid)).all()
    with pytest.raises(InputError, match="only be told apart on validation data"):
        RankNet(learning_rate=rates).fit(train)


@pytest.mark.parametrize(("hidden", "sizes"), [(0, ()), ((), ()), (7, (7,)), ((5, 4), (5, 4))])
def test_hidden_layers(hidden, sizes, parts, tmp_path):
    ranker = ListNet(n_epochs=2, hidden=hidden, layer_norm=True, activation="tanh").fit(parts[0])
    assert ranker.model_.architecture.hidden == sizes
    ranker.save(tmp_path / "m.pomona")
    loaded = load_model(tmp_path / "m.pomona")
    assert loaded.model_.architecture == ranker.model_.architecture
    assert (loaded.predict(parts[1]) == ranker.predict(parts[1])).all()


def test_the_file_keeps_how_it_came_about(parts, tmp_path):
    ranker = ListNet(n_epochs=4, log_features=False).fit(parts[0], valid=parts[1])
    ranker.save(tmp_path / "m.pomona")
    loaded = load_model(tmp_path / "m.pomona")
    assert loaded.evals_ == ranker.evals_
    assert (loaded.best_iteration_, loaded.learning_rate_) == (ranker.best_iteration_, ranker.learning_rate_)
    assert not loaded.model_.scaling.log


def test_quantiles_are_kept_and_not_exported(parts, tmp_path):
    ranker = ListNet(n_epochs=4, quantile_features=True).fit(parts[0], valid=parts[1])
    ranker.save(tmp_path / "m.pomona")
    assert (load_model(tmp_path / "m.pomona").predict(parts[1]) == ranker.predict(parts[1])).all()
    assert ranker.score(parts[1]) == max(ranker.evals_["valid"])
    for name in ("onnx", "solr"):
        with pytest.raises(InputError, match="engines know no quantiles: train the network with quantile_f"):
            ranker.exported(name)


def test_a_file_whose_parts_do_not_fit_is_refused(parts, tmp_path):
    ranker = ListNet(n_epochs=1).fit(parts[0])
    ranker.n_features_in_, ranker.feature_names_ = 7, ranker.feature_names_[:7]
    ranker.save(tmp_path / "m.pomona")
    with pytest.raises(InputError, match="a network over 8 of 7 features"):
        load_model(tmp_path / "m.pomona")


def test_undefined_values_count_as_the_mean(parts):
    ranker = ListNet(n_epochs=2).fit(parts[0])
    row = parts[1].X[:1].copy()
    row[0, 3] = np.nan
    mean = ranker.model_.scaling.mean[3]
    filled = row.copy()
    filled[0, 3] = np.expm1(mean)
    assert ranker.predict(row) == pytest.approx(ranker.predict(filled), rel=1e-5)


@pytest.mark.parametrize("hidden", [0, (8, 4, 2)])
@pytest.mark.parametrize("inputs", [{"log_features": False}, {}, {"quantile_features": True}], ids=str)
@pytest.mark.parametrize("cls", RANKERS)
@pytest.mark.filterwarnings("ignore:.*below 0")
def test_odd_data_give_finite_scores(cls, inputs, hidden):
    random = np.random.default_rng(0)
    X, qid = random.standard_normal((40, 5)).astype(np.float32), np.repeat(np.arange(4), 10)
    labels = random.integers(0, 3, 40)
    ranker = cls(n_epochs=2, hidden=hidden, **inputs, device="cpu")
    for features, y, queries in (
        (X, labels, np.zeros(40)),
        (X, random.random(40), qid),
        (X, labels - 1, qid),
        (X, 30 * labels, qid),
        (1e38 * X, labels, qid),
        (np.ones_like(X), labels, qid),
        (np.full_like(X, np.nan), labels, qid),
        (np.where(X > 1, np.nan, X), labels, qid),
        (X[:, :1], labels, qid),
        (X[:2], [1, 0], [7, 7]),
    ):
        ranker.fit(features, y, qid=queries, valid=(features, y, queries))
        assert np.isfinite(ranker.predict(features)).all()
        assert np.isfinite(ranker.predict(np.full_like(features, 3e38))).all()


@pytest.mark.parametrize("cls", RANKERS)
def test_what_cannot_be_learnt_is_said(cls):
    X = np.eye(4)
    with pytest.raises(InputError, match="there is nothing to learn"):
        cls(device="cpu").fit(X, [0, 1, 2, 1], qid=[1, 2, 3, 4])
    X[0, 0] = np.inf
    with pytest.raises(InputError, match="infinite value"):
        cls(device="cpu").fit(X, [0, 1, 2, 1], qid=[1, 1, 1, 1])


def test_progress(parts, capsys):
    RankNet(n_epochs=2, verbose=True, learning_rate=(0.001, 0.01)).fit(parts[0], valid=parts[1])
    shown = capsys.readouterr().err
    assert "RankNet" in shown
    assert "rate 0.01 (2 of 2), 2 epochs, loss" in " ".join(shown.split())


@pytest.mark.parametrize(("before", "rates", "kept"), [(3, 0.01, 3), (8, (0.01, 0.02), 8), (0, 0.01, 0)])
def test_ctrl_c_keeps_the_best_epoch(before, rates, kept, parts, monkeypatch):
    """After three epochs; in the first epoch of the second rate; before anything was learnt."""

    def interrupt(self, run, judged):
        if len(visited) == before:
            raise KeyboardInterrupt
        visited.append(run.n_epochs)
        return original(self, run, judged)

    visited, original = [], Trainer._epoch
    monkeypatch.setattr(Trainer, "_epoch", interrupt)
    ranker = RankNet(n_epochs=8, learning_rate=rates, early_stopping=None, device="cpu")
    if kept == 0:
        with pytest.raises(KeyboardInterrupt):
            ranker.fit(parts[0], valid=parts[1])
        return
    with pytest.warns(UserWarning, match="interrupted: keeping epoch") as caught:
        ranker.fit(parts[0], valid=parts[1])
    assert ranker.interrupted_
    assert len(ranker.evals_["valid"]) == kept
    assert ranker.score(parts[1]) == max(ranker.evals_["valid"])
    assert caught[0].filename == __file__


def test_weights_of_queries(parts):
    train, valid = parts
    once = LambdaRank(n_epochs=3, dropout=0.0, device="cpu").fit(train).predict(valid)
    ones = LambdaRank(n_epochs=3, dropout=0.0, device="cpu").fit(train, sample_weight=np.ones(train.n_docs))
    assert (ones.predict(valid) == once).all()


def test_scoring_needs_no_pytorch(parts, tmp_path):
    """Listing, loading and scoring import no torch, and fitting without it says what to install."""
    ranker = ListNet(n_epochs=2).fit(parts[0])
    ranker.save(tmp_path / "m.pomona")
    np.save(tmp_path / "X.npy", parts[1].X)
    np.save(tmp_path / "scores.npy", ranker.predict(parts[1]))
    code = """
import sys
import numpy as np
import pomona as pm
from pomona._registry import entries
assert "listnet" in entries("rankers")
model = pm.load_model("m.pomona")
X = np.load("X.npy")
assert (model.predict(X) == np.load("scores.npy")).all()
assert not any(name.partition(".")[0] == "torch" for name in sys.modules)
sys.modules["torch"] = None
try:
    pm.ListNet().fit(X, np.arange(len(X)) % 2, qid=np.zeros(len(X), int))
except pm.PomonaError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.stdout == "torch is not installed: pip install 'pomona[neural]'\n"


class WithoutRelativeWeights(RankNet):
    """A ranker of somebody who knows of weights of queries only."""

    name = "without_relative_weights"

    def objective(self, labels, query_ptr, weights, seed):
        return super().objective(labels, query_ptr, weights, seed)


def test_an_objective_without_weights_of_documents_has_the_means_of_queries(parts):
    train, valid = parts
    weights = np.arange(train.n_docs) % 3 + 1.0
    plain = WithoutRelativeWeights(n_epochs=2, device="cpu").fit(train).predict(valid)
    assert (plain == RankNet(n_epochs=2, device="cpu").fit(train).predict(valid)).all()
    with pytest.warns(UserWarning, match="takes no `relative` weights"):
        WithoutRelativeWeights(n_epochs=2, device="cpu").fit(train, sample_weight=weights)
