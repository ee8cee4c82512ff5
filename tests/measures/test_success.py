import numpy as np
import pytest

import pomona as pm
from pomona.measures.parse import measure
from pomona.measures.success import Success


def test_by_hand():
    assert Success(k=2).of_query([0, 0, 1]) == 0
    assert Success(k=3).of_query([0, 0, 1]) == 1
    assert Success(k=1, relevant=2).of_query([1, 2]) == 0
    assert Success().of_query([0, 0]) == 0


@pytest.mark.parametrize("name", ["success_5", "hit@5", "hr@5", "trec_eval:success@5"])
def test_names(name):
    assert measure(name).of_query([0, 0, 0, 0, 1, 0]) == 1
    assert measure(name).of_query([0, 0, 0, 0, 0, 1]) == 0


def test_tied_documents_are_a_draw_without_replacement():
    """Two of six are relevant: the first two hold none of them with chance C(4, 2) / C(6, 2)."""
    data = pm.Dataset(np.zeros((6, 1)), [1, 1, 0, 0, 0, 0], qid=[1] * 6)
    found = pm.evaluate(data, np.zeros(6), "success@2", ties="expected")
    assert found["success@2"] == pytest.approx(1 - 6 / 15)


def test_as_trec_eval():
    pytrec_eval = pytest.importorskip("pytrec_eval")
    rng = np.random.default_rng(0)
    data = pm.simulate(30, docs_per_query=12, seed=5)
    scores = rng.permutation(data.n_docs).astype(float)
    qrel, run = {}, {}
    for doc, (query, label, score) in enumerate(zip(data.qid, data.y, scores, strict=True)):
        qrel.setdefault(str(query), {})[f"d{doc}"] = int(label)
        run.setdefault(str(query), {})[f"d{doc}"] = float(score)
    theirs = pytrec_eval.RelevanceEvaluator(qrel, {"success_5"}).evaluate(run)
    ours = pm.evaluate(data, scores, "trec_eval:success@5", per_query=True)["trec_eval:success@5"]
    assert ours.tolist() == [theirs[str(query)]["success_5"] for query in data.qids]
