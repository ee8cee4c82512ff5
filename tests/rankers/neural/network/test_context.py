import itertools
import os
import subprocess
import sys

import numpy as np
import pytest

from pomona._jit import threads
from pomona.errors import InputError
from pomona.rankers.neural.network.context import ContextArchitecture, ContextNetwork
from pomona.rankers.neural.network.scaling import Scaling


def network_of(architecture, seed=0):
    random = np.random.default_rng(seed)
    noise = 0.1 * random.standard_normal(architecture.n_parameters)
    parameters = (architecture.start(random) + noise).astype(np.float32)
    return architecture.network(Scaling.done(architecture.n_features), parameters)


def documents(n, n_features=5, seed=1):
    return np.random.default_rng(seed).standard_normal((n, n_features)).astype(np.float32)


def normalized(h, gain, shift):
    return (h - h.mean(1, keepdims=True)) / np.sqrt(h.var(1, keepdims=True) + 1e-5) * gain + shift


def by_hand(network, X):
    """The formulas of the module, in double precision, for one query."""
    shape, at, parts = network.architecture, 0, []
    for size in shape.shapes:
        parts.append(network.parameters[at : at + np.prod(size)].reshape(size).astype(float))
        at += np.prod(size)
    parts = iter(parts)
    h = X.astype(float)
    for _ in shape.hidden:
        h = np.maximum(h @ next(parts) + next(parts), 0)
    for _ in range(shape.n_blocks):
        a = normalized(h, next(parts), next(parts)) @ next(parts) + next(parts)
        found = []
        for head in range(shape.n_heads):
            q, k, v = (np.split(part, shape.n_heads, axis=1)[head] for part in np.split(a, 3, axis=1))
            e = np.exp(q @ k.T / np.sqrt(q.shape[1]))
            found.append(e / e.sum(1, keepdims=True) @ v)
        h = h + np.hstack(found) @ next(parts) + next(parts)
        f = normalized(h, next(parts), next(parts))
        h = h + np.maximum(f @ next(parts) + next(parts), 0) @ next(parts) + next(parts)
    return normalized(h, 1.0, 0.0) @ next(parts)


@pytest.mark.parametrize("n", [1, 2, 7, 1500])
@pytest.mark.parametrize("shape", [((8,), 1, 2), ((6, 4), 2, 1), ((12,), 3, 4)], ids=str)
def test_equals_the_formulas(shape, n):
    hidden, n_blocks, n_heads = shape
    network = network_of(ContextArchitecture(5, hidden, n_blocks=n_blocks, n_heads=n_heads))
    X = documents(n)
    assert network.score(X) == pytest.approx(by_hand(network, X), abs=2e-4)


def test_scores_follow_documents_and_know_their_query():
    network = network_of(ContextArchitecture(5, (8,)))
    X, query_ptr = documents(400), np.array([0, 1, 40, 400])
    scores = network.score(X, query_ptr)
    order = np.concatenate([[0], 1 + np.random.default_rng(0).permutation(39), np.arange(400)[:39:-1]])
    for count in (1, 3):
        with threads(count):
            assert (network.score(X[order], query_ptr) == scores[order]).all()
    for begin, end in itertools.pairwise(query_ptr):
        assert (network.score(X[begin:end]) == scores[begin:end]).all()
    assert (network.score(X[:300], np.array([0, 1, 40, 300]))[:40] == scores[:40]).all()
    assert (network.score(X[:300], np.array([0, 1, 40, 300]))[40:] != scores[40:300]).all()


def test_documents_alike_score_alike():
    network = network_of(ContextArchitecture(5, (8,)))
    scores = network.score(np.repeat(documents(3), 30, axis=0))
    assert scores == pytest.approx(np.repeat(scores[::30], 30), abs=1e-6)


def test_shapes():
    shape = ContextArchitecture(3, (4,), n_blocks=2, n_heads=2)
    assert shape.n_parameters == len(shape.start(np.random.default_rng(0)))
    block = 2 * 8 + (4 * 12 + 12) + 3 * (4 * 4 + 4)
    assert shape.n_parameters == (3 * 4 + 4) + 2 * block + 4
    assert isinstance(network_of(shape), ContextNetwork)


@pytest.mark.parametrize("hidden", [(), (7,), (8, 5)])
def test_heads_share_the_width(hidden):
    with pytest.raises(InputError, match="a multiple of n_heads=2: found hidden"):
        ContextArchitecture(3, hidden, n_heads=2)


_SCORES = """
import numpy as np
from pomona.rankers.neural.network.context import ContextArchitecture
from pomona.rankers.neural.network.scaling import Scaling
random, shape = np.random.default_rng(0), ContextArchitecture(6, (32,))
X, query_ptr = random.standard_normal((70, 6)).astype(np.float32), np.array([0, 3, 20, 70])
print(shape.network(Scaling.done(6), shape.start(random)).score(X, query_ptr).tobytes().hex())
"""


@pytest.mark.slow
def test_the_process_that_compiles_gives_the_scores_of_those_that_load(tmp_path):
    environment = {**os.environ, "POMONA_CACHE": str(tmp_path)}
    first, second = (
        subprocess.run(
            [sys.executable, "-c", _SCORES], env=environment, capture_output=True, check=True
        ).stdout
        for _ in range(2)
    )
    assert first == second
