"""Peers' own numbers: LightGBM, XGBoost, scikit-learn, CatBoost, as they printed them."""

import json
import math

import numpy as np
import pytest

from pomona._registry import entries
from pomona.errors import InputError, UnknownNameError
from pomona.measures.conventions import CONVENTIONS, convention_named, discount, gains_of, relevant_of
from pomona.measures.judge import judge
from pomona.measures.lists import RankedLists, ScoredQueries
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
        ours = judge(
            ScoredQueries(labels.astype(float), scores.astype(float), np.array([0, 12])),
            [measure("sklearn:ndcg@5")],
        )
        assert ours[0].mean == pytest.approx(ndcg_score([labels], [scores], k=5), abs=1e-14)


def queries(random, n, highest, *, ties):
    """Labels, scores and offsets of queries of 1 to 40 documents, some without a relevant one."""
    lengths = random.integers(1, 41, n)
    total = int(lengths.sum())
    labels = random.integers(0, highest + 1, total) * (random.random(total) < 0.3)
    labels[: lengths[0]] = 0
    scores = random.integers(0, 4, total) if ties else random.permutation(total)
    return labels.astype(np.float32), scores.astype(np.float32), np.append(0, np.cumsum(lengths))


def ours(text, labels, scores, ptr):
    documents = ScoredQueries(labels.astype(float), scores.astype(float), ptr)
    return judge(documents, [measure(text)])[0].mean


@pytest.mark.parametrize("ties", [False, True])
def test_xgboost_itself(ties):
    xgboost = pytest.importorskip("xgboost")
    random = np.random.default_rng(5)
    for highest, texts in ((1, "map map@3 pre pre@3 pre@60 ndcg@3"), (4, "ndcg ndcg@5")):
        names = texts.split()
        labels, scores, ptr = queries(random, 40, highest, ties=ties)
        data = xgboost.DMatrix(np.zeros((len(labels), 1)), label=labels, base_margin=scores)
        data.set_group(np.diff(ptr))
        options = {"objective": "rank:ndcg", "disable_default_eval_metric": True, "eval_metric": names}
        printed = xgboost.Booster(options, cache=[data]).eval(data)
        theirs = dict(part.removeprefix("eval-").split(":") for part in printed.split()[1:])
        for name in names:
            mine = ours(f"xgboost:{name.replace('pre', 'p')}", labels, scores, ptr)
            assert mine == pytest.approx(float(theirs[name]), abs=1e-14), name
    with pytest.raises(InputError, match="xgboost refuses label 2 for AveragePrecision: it takes 0, 1"):
        measure("xgboost:ap").of_query([2, 1, 0])


@pytest.mark.parametrize("ties", [False, True])
def test_lightgbm_itself(ties):
    lightgbm = pytest.importorskip("lightgbm")
    labels, scores, ptr = queries(np.random.default_rng(6), 40, 4, ties=ties)
    options = {"objective": "none", "metric": ["map", "ndcg"], "eval_at": [1, 3, 60], "verbose": -1}
    X = np.random.default_rng(0).normal(size=(len(labels), 1))
    data = lightgbm.Dataset(
        X, label=labels, group=np.diff(ptr), init_score=scores.astype(float), params=options
    )
    for _, name, theirs, _ in lightgbm.Booster(options, data).eval_train():
        assert ours(f"lightgbm:{name}", labels, scores, ptr) == pytest.approx(theirs, abs=1e-14), name


@pytest.mark.parametrize("ties", [False, True])
def test_catboost_itself(ties):
    catboost = pytest.importorskip("catboost.utils")
    random = np.random.default_rng(7)
    names = {
        "NDCG": "ndcg",
        "NDCG:top=3": "ndcg@3",
        "DCG:top=3": "dcg@3",
        "MAP": "ap",
        "MAP:top=3": "ap@3",
        "MRR": "rr",
        "MRR:top=2": "rr@2",
        "ERR": "err",
        "ERR:top=3": "err@3",
        "PrecisionAt:top=3": "p@3",
        "PrecisionAt:top=60": "p@60",
        "RecallAt:top=3": "recall@3",
        "PFound": "pfound",
        "PFound:top=3": "pfound@3",
    }
    for highest, scale in ((1, 1.0), (4, 1.0), (4, 0.25)):
        labels, scores, ptr = queries(random, 40, highest, ties=ties)
        labels = labels * np.float32(scale)
        groups = np.repeat(np.arange(40), np.diff(ptr)).tolist()
        for theirs, mine in names.items():
            (value,) = catboost.eval_metric(labels.tolist(), scores.tolist(), theirs, group_id=groups)
            assert ours(f"catboost:{mine}", labels, scores, ptr) == pytest.approx(value, abs=1e-12), theirs


def test_gdeval_by_hand():
    """gdeval.pl: chances and gains of labels 0 to 4, 20 documents, tied documents by descending id."""
    labels, scores = np.array([0.0, 2.0, 1.0, -2.0]), np.array([3.0, 2.0, 2.0, 1.0])
    documents = ScoredQueries(labels, scores, np.array([0, 4]), ["a", "b", "c", "d"])
    ndcg, err, cut = judge(documents, [measure(f"gdeval:{text}") for text in ("ndcg", "err", "ndcg@2")])
    # c, of label 1, stands before b, of label 2.
    dcg, ideal = 1 / math.log2(3) + 3 / math.log2(4), 3 / math.log2(2) + 1 / math.log2(3)
    assert (ndcg.measure.k, err.measure.k) == (20, 20)
    assert ndcg.mean == pytest.approx(dcg / ideal)
    assert err.mean == pytest.approx((1 / 16) / 2 + (1 - 1 / 16) * (3 / 16) / 3)
    assert cut.mean == pytest.approx((1 / math.log2(3)) / ideal)
    long = measure("gdeval:err").of_query([0] * 20 + [4])
    assert long == 0.0
    for wrong in ([5, 1], [0.5, 1]):
        with pytest.raises(InputError, match=r"gdeval refuses label .* it takes 0, 1, 2, 3, 4"):
            measure("gdeval:ndcg").of_query(wrong)
    with pytest.raises(InputError, match="1 of 2 have none"):
        measure("gdeval:err").of_lists(RankedLists.of_labels([[1, 0], [0, 0]]))


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


TAKES_NEGATIVE = {
    *(f"{tool}:{name}" for tool in ("letor3", "letor4", "mslr") for name in ("ndcg", "ap", "p")),
    *(f"trec_eval:{name}" for name in ("ndcg", "ap", "p", "recall", "rr", "success")),
    *(f"catboost:{name}" for name in ("ap", "p", "recall", "rr")),
    *("gdeval:ndcg", "gdeval:err", "lightgbm:ap", "letor4:meanndcg", "mslr:meanndcg"),
}


def test_labels_below_0_have_a_number_only_of_tools_that_take_them_as_not_judged():
    labels, scores, ptr = np.array([-1.0, 1.0, 0.0]), np.array([3.0, 2.0, 1.0]), np.array([0, 3])
    queries_ = ScoredQueries(labels, scores, ptr, ["a", "b", "c"])
    for tool in CONVENTIONS:
        for name, entry in entries("measures").items():
            one = f"{tool}:{name}"
            if one in TAKES_NEGATIVE:
                judge(queries_, [measure(one)])
            elif tool in entry.load().conventions:
                with pytest.raises(InputError, match="does not take a label below 0 as not judged: found -1"):
                    judge(queries_, [measure(one)])


def test_labels_that_lightgbm_and_xgboost_refuse_for_ndcg():
    for tool, highest in (("lightgbm", 30), ("xgboost", 31)):
        for label in (0.5, highest + 1.0):
            with pytest.raises(InputError, match=f"{tool} refuses label {label:g} for NDCG: it takes whole"):
                ours(f"{tool}:ndcg", np.array([label, 0.0]), np.array([1.0, 2.0]), np.array([0, 2]))
            found = ours(
                f"{tool}:ndcg(gain=linear)", np.array([label, 0.0]), np.array([1.0, 2.0]), np.array([0, 2])
            )
            assert found == pytest.approx(1 / np.log2(3))


def test_catboosts_numbers_where_a_label_below_0_is_only_irrelevant():
    metrics = pytest.importorskip("catboost.utils")
    labels, scores, ptr = np.array([-1.0, 2.0, 1.0, 0.0]), np.array([3.0, 2.0, 1.0, 0.5]), np.array([0, 4])
    names = {"ap": "MAP", "rr": "MRR", "p@3": "PrecisionAt:top=3", "recall@3": "RecallAt:top=3"}
    for name, theirs in names.items():
        value = metrics.eval_metric(labels, scores, theirs, group_id=[0] * 4, thread_count=1)[0]
        assert ours(f"catboost:{name}", labels, scores, ptr) == pytest.approx(value)


def test_lightgbms_map_counts_labels_above_a_half():
    lightgbm = pytest.importorskip("lightgbm")
    labels, scores = np.array([0.5, 1.5, 0.25, 0.75]), np.array([4.0, 3.0, 2.0, 1.0])
    options = {"objective": "rank_xendcg", "metric": "map", "eval_at": [4], "verbose": -1, "num_threads": 1}
    data = lightgbm.Dataset(np.zeros((4, 1)), labels, group=[4], init_score=scores, params=options)
    ((_, _, theirs, _),) = lightgbm.Booster(options, data).eval_train()
    assert theirs == pytest.approx((1 / 2 + 2 / 4) / 2)
    assert ours("lightgbm:ap@4", labels, scores, np.array([0, 4])) == pytest.approx(theirs)
