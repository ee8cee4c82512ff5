"""Peers' own numbers: LightGBM, XGBoost, scikit-learn, CatBoost, as they printed them."""

import json

import numpy as np
import pytest

from pomona.errors import UnknownNameError
from pomona.measures.conventions import CONVENTIONS, convention_named, discount, gains_of, relevant_of
from pomona.measures.judge import judge
from pomona.measures.parse import measure
from pomona.tools.files import java_number, judged_by_query, lines_of, scores_of

PEERS = {
    "lightgbm": {f"{name}@{k}": f"{name}@{k}" for name in ("ndcg", "map") for k in (1, 3, 5, 10, 100)},
    "xgboost": {
        "ndcg": "ndcg",
        "ndcg@1": "ndcg@1",
        "ndcg@5": "ndcg@5",
        "ndcg@10": "ndcg@10",
        "ndcg@10-": "ndcg(empty=0)@10",
    },
    "catboost": {
        "NDCG": "ndcg",
        "NDCG:top=10": "ndcg@10",
        "NDCG:top=5": "ndcg@5",
        "NDCG:top=10;type=Exp": "ndcg(gain=exp2)@10",
        "DCG:top=10;type=Exp": "dcg(gain=exp2)@10",
    },
}


def judged_case(case):
    rows = [line.split(b" ", 2) for line in lines_of(case / "features.txt")]
    labels = np.array([float(row[0]) for row in rows])
    scores = scores_of(case / "predictions.txt", len(rows), java_number)
    judged, qids = judged_by_query(labels, scores, [row[1][4:] for row in rows])
    return judged, [qid.decode() for qid in qids]


def test_peers(oracles):
    compared = 0
    for case in sorted(path for path in (oracles / "peers").iterdir() if path.is_dir()):
        printed = json.loads((case / "output.json").read_text())
        judged, qids = judged_case(case)
        for tool, names in PEERS.items():
            for theirs, ours in names.items():
                if theirs in printed.get(tool, {}):
                    (judgement,) = judge(judged, [measure(ours, tool)])
                    assert judgement.mean == pytest.approx(printed[tool][theirs], abs=2e-15), (
                        case.name,
                        tool,
                        theirs,
                    )
                    compared += 1
        for theirs, values in printed.get("sklearn", {}).items():
            if theirs.startswith("ndcg_score"):
                k = theirs.partition("k=")[2].partition(",")[0]
                gain = "exp2" if "exp gain" in theirs else "linear"
                ties = "stable" if "ignore_ties=True" in theirs else "expected"
                one = measure(f"sklearn:ndcg(gain={gain},ties={ties}){'' if k == 'None' else f'@{k}'}")
                (judgement,) = judge(judged, [one])
                for qid, value in values.items():
                    if isinstance(value, float) and ties == "expected":
                        assert judgement.values[qids.index(qid)] == pytest.approx(value, abs=1e-14), (
                            case.name,
                            theirs,
                        )
                        compared += 1
    assert compared > 1000


def test_scikit_learn_itself():
    from sklearn.metrics import ndcg_score

    random = np.random.default_rng(3)
    for _ in range(20):
        labels, scores = random.integers(0, 4, 12), random.integers(0, 4, 12)
        from pomona.measures.lists import ScoredQueries

        ours = judge(
            ScoredQueries(labels.astype(float), scores.astype(float), np.array([0, 12])),
            [measure("sklearn:ndcg@5")],
        )
        assert ours[0].mean == pytest.approx(ndcg_score([labels], [scores], k=5), abs=1e-14)


def test_names():
    assert convention_named("LETOR4") is CONVENTIONS["letor4"]
    with pytest.raises(UnknownNameError, match="did you mean 'letor4'"):
        convention_named("letor5")


def test_gains():
    levels = np.array([-1.0, 0.0, 1.0, 2.5])
    assert gains_of(levels, "linear").tolist() == [0, 0, 1, 2.5]
    assert gains_of(levels, "linear_int").tolist() == [0, 0, 1, 2]
    assert gains_of(levels, "exp2_int").tolist() == [0, 0, 1, 3]
    assert gains_of(np.array([0.0, 2.0, 7.0]), (0.0, 1.0, 3.0)).tolist() == [0, 3, 0]


def test_relevance():
    levels = np.array([0.0, 0.5, 1.0, 3.0])
    assert relevant_of(levels, 1.0).tolist() == [False, False, True, True]
    assert relevant_of(levels, (1.0, 2.0)).tolist() == [False, False, True, False]


def test_discounts_agree_up_to_rounding():
    numerator, divisor = discount("log2", 9)
    other = discount("ranklib", 9)
    np.testing.assert_allclose(numerator / divisor, other[0] / other[1], rtol=1e-15)
    assert discount("letor", 3)[0].tolist()[:2] == [1, 1]
