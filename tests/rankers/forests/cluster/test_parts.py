import copy

import numpy as np
import pytest

import pomona as pm
from pomona._jit import threads
from pomona.data.concatenation import concatenated
from pomona.rankers.forests.cluster.parts import (
    assemble,
    cut_points,
    facts_of,
    hashes_of,
    memory_part,
    portion_of,
    split_part,
)
from pomona.rankers.forests.cluster.record import TreeRecord
from pomona.trees import binning
from trees.fake_peers import run_peers


def parted(data, n_parts, seed, weights=None):
    """Rows dealt out to parts, so that most queries lie in several."""
    part = np.random.default_rng(seed).integers(0, n_parts, data.n_docs)
    chosen = [np.flatnonzero(part == k) for k in range(n_parts)]
    given = [None if weights is None else weights[rows] for rows in chosen]
    return [
        memory_part(pm.Dataset(data.X[rows], data.y[rows], data.qid[rows], weight=weight))
        for rows, weight in zip(chosen, given, strict=True)
    ]


def dealt(parts, n_workers):
    """What comes to each worker."""
    cuts = cut_points([facts_of(part) for part in parts], n_workers)
    names = parts[0].feature_names
    pieces = [split_part(part, cuts, len(names), names) for part in parts]
    return [assemble([of_part[w] for of_part in pieces]) for w in range(len(cuts) + 1)]


def learnt(ranker, train, valid, peers, record=None, unjudged=None):
    part, weights, held_out, portion = portion_of(
        train, valid, peers, record or TreeRecord(), unjudged=unjudged
    )
    mine = copy.copy(ranker)
    mine.base_model_, mine.needs_base_ = None, False
    mine.learn_portion(part, held_out, weights, portion)
    return mine


def bits(ranker):
    arrays = ranker.get_state()[1]
    return {name: array.tobytes() for name, array in arrays.items()}, ranker.models_[0].base


@pytest.fixture(scope="module")
def data():
    train = pm.simulate(37, docs_per_query=15, n_features=6, seed=4)
    X = train.X.copy()
    X[::7, 2] = np.nan
    X[:, 5] = np.rint(X[:, 5])
    train = train.replace(X=X)
    return train, pm.simulate(11, docs_per_query=9, n_features=6, seed=5)


RANKERS = {
    "lambdamart": pm.LambdaMART(n_trees=6, n_leaves=6, min_docs=3),
    "bagged": pm.LambdaMART(
        measure="err@5", n_trees=5, n_leaves=5, min_docs=3, query_fraction=0.6, feature_fraction=0.5, seed=3
    ),
    "sampled": pm.LambdaMART(n_trees=5, n_leaves=5, min_docs=3, top_fraction=0.3, rest_fraction=0.3),
    "oblivious": pm.LambdaMART(measure="ap", n_trees=4, growth="oblivious", max_depth=3, min_docs=3),
    "mart": pm.MART(n_trees=5, n_leaves=7, early_stopping=2),
    "rcrank": pm.RCRank(n_trees=12, max_depth=3, enhanced=True),
    "forest": pm.RandomForest(n_trees=4, n_leaves=6, min_docs=2),
    "forest of lambdas": pm.RandomForest(n_trees=3, trees_per_bag=2, objective="lambda", min_docs=2),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", RANKERS)
def test_workers_learn_the_model_of_one_machine(data, name, weighted):
    train, valid = data
    weights = np.random.default_rng(0).random(train.n_docs) if weighted else None
    expected = copy.copy(RANKERS[name]).fit(train, valid=valid, sample_weight=weights)
    for n_workers, n_parts in ((1, 1), (2, 3), (3, 2), (5, 7)):
        holdings = dealt(parted(train, n_parts, n_parts, weights), n_workers)
        # Validation data keep their order: tied documents are ranked as they came.
        held_out = dealt(
            [memory_part(valid.take(q)) for q in np.array_split(np.arange(11), n_parts)], n_workers
        )

        def work(peers, holdings=holdings, held_out=held_out):
            return learnt(RANKERS[name], holdings[peers.rank], held_out[peers.rank], peers)

        with threads(1):
            for mine in run_peers(n_workers, work):
                assert bits(mine) == bits(expected)
                assert mine.evals_ == expected.evals_
                assert mine.best_iteration_ == expected.best_iteration_
                if "forest" in name:
                    assert mine.oob_score_ == expected.oob_score_


def test_bins_of_a_sample(data, monkeypatch):
    monkeypatch.setattr(binning, "SAMPLE", 100)
    train, _ = data
    ranker = pm.MART(n_trees=3, n_leaves=9, min_docs=2, max_bins=16)
    expected = copy.copy(ranker).fit(train)
    holdings = dealt(parted(train, 4, 1), 3)
    with threads(1):
        for mine in run_peers(3, lambda peers: learnt(ranker, holdings[peers.rank], None, peers)):
            assert bits(mine) == bits(expected)


@pytest.mark.parametrize("name", ["bagged", "rcrank", "forest"])
def test_a_record_of_trees_is_gone_on_from_as_if_nothing_had_happened(data, name):
    train, valid = data
    expected = copy.copy(RANKERS[name]).fit(train, valid=valid)
    holdings, held_out = dealt([memory_part(train)], 2), dealt([memory_part(valid)], 2)
    records = [TreeRecord(), TreeRecord()]

    def first(peers):
        learnt(RANKERS[name], holdings[peers.rank], held_out[peers.rank], peers, records[peers.rank])

    three, all_valid = dealt([memory_part(train)], 3), dealt([memory_part(valid)], 3)
    with threads(1):
        run_peers(2, first)
        some = records[0].trees[:3]

        def again(peers):
            record = TreeRecord(list(some))
            return learnt(RANKERS[name], three[peers.rank], all_valid[peers.rank], peers, record)

        for mine in run_peers(3, again):
            assert bits(mine) == bits(expected)
            assert mine.evals_ == expected.evals_


def test_queries_come_together_in_the_order_of_their_rows(data):
    train, _ = data
    parts = parted(train, 5, 2)
    everything = concatenated(parts)
    holdings = dealt(parts, 4)
    assert sum(h.data.n_docs for h in holdings) == train.n_docs
    assert max(h.data.n_docs for h in holdings) < 2 * train.n_docs / 4
    seen = {}
    for holding in holdings:
        own = holding.data
        for q, place in zip(range(own.n_queries), holding.places.tolist(), strict=True):
            seen[tuple(place)] = own.take([q])
    for q, place in enumerate(sorted(seen)):
        assert seen[place].X.tobytes() == everything.take([q]).X.tobytes()
        assert seen[place].qids.tolist() == everything.qids[q : q + 1].tolist()


def test_everybody_gets_a_query():
    data = pm.Dataset(np.ones((100, 1)), np.ones(100), [1] * 97 + [2, 3, 4])
    facts = [facts_of(memory_part(data))]
    for n_workers in range(1, 7):
        held = np.searchsorted(cut_points(facts, n_workers), facts[0].hashes, side="right")
        assert sorted(set(held.tolist())) == list(range(min(4, n_workers)))


def test_a_query_is_known_by_the_text_of_its_id():
    assert hashes_of(np.array([7, 12])).tolist() == hashes_of(np.array(["7", "12"])).tolist()
    assert len(set(hashes_of(np.arange(50_000)).tolist())) == 50_000


@pytest.mark.parametrize("unjudged", ["ignored", "irrelevant"])
@pytest.mark.parametrize("name", ["lambdamart", "mart", "forest"])
def test_workers_leave_documents_without_labels_out_as_one_machine_does(data, name, unjudged):
    train, valid = data
    random = np.random.default_rng(1)
    y = train.y.copy()
    y[random.random(train.n_docs) < 0.3] = np.nan
    y[: train.n_docs // 2] = train.y[: train.n_docs // 2]  # some workers have labels alone
    train = train.replace(y=y)
    valid = valid.replace(weight=random.integers(0, 3, valid.n_docs))
    expected = copy.copy(RANKERS[name]).fit(train, valid=valid, unjudged=unjudged)
    for n_workers, n_parts in ((2, 3), (5, 2)):
        holdings = dealt(parted(train, n_parts, n_parts), n_workers)
        held_out = dealt([memory_part(valid)], n_workers)

        def work(peers, holdings=holdings, held_out=held_out):
            return learnt(RANKERS[name], holdings[peers.rank], held_out[peers.rank], peers, unjudged=unjudged)

        with threads(1):
            for mine in run_peers(n_workers, work):
                assert bits(mine) == bits(expected)
                assert mine.evals_ == expected.evals_
