"""The service of examples/serve: what it answers."""

import asyncio
import runpy
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import numpy as np
import pytest

import pomona as pm

APP = Path(__file__).parents[1] / "examples" / "serve" / "app.py"


@pytest.fixture(scope="module")
def data():
    return pm.simulate(30, docs_per_query=12, n_features=5, seed=6)


@pytest.fixture(
    scope="module", params=[pm.LambdaMART(n_trees=10), pm.LinearRegression()], ids=lambda r: r.name
)
def ranker(request, data):
    return request.param.fit(data)


@pytest.fixture
def ask(ranker, tmp_path, monkeypatch):
    """What sends documents to the service, started anew, and gives its answer."""
    ranker.save(tmp_path / "m.pomona")
    monkeypatch.setenv("POMONA_MODEL", str(tmp_path / "m.pomona"))
    app = runpy.run_path(str(APP))["app"]

    async def answer(documents):
        client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://here")
        async with app.router.lifespan_context(app), client:
            return await client.post("/rank", json={"documents": documents})

    # In a thread of its own: other tests may have left a running loop in this one.
    def ask(documents):
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(asyncio.run, answer(documents)).result()

    return ask


def documents(data, query=0):
    rows = data.take([query]).X
    return [dict(zip(data.feature_names, row, strict=True)) for row in rows.tolist()]


def test_ranks_a_query(ask, ranker, data):
    answer = ask(documents(data))
    assert answer.status_code == 200
    expected = ranker.predict(data.take([0]))
    assert answer.json()["scores"] == expected.tolist()
    assert answer.json()["ranking"] == np.argsort(-expected, kind="stable").tolist()


def test_undefined_and_no_documents(ask, ranker, data):
    first = documents(data)[0]
    undefined = {**first, data.feature_names[2]: None}
    answer = ask([undefined, first])
    row = np.array([list(undefined.values()), list(first.values())], float)
    assert answer.json()["scores"] == ranker.predict(row, qid=0).tolist()
    assert ask([]).json() == {"scores": [], "ranking": []}


def test_a_bad_request_is_told_why(ask, data):
    short = dict(list(documents(data)[0].items())[1:])
    answer = ask([short])
    assert answer.status_code == 422
    assert f"has no {data.feature_names[0]!r}" in answer.json()["detail"]
    assert ask([{"a": "much"}]).status_code == 422
