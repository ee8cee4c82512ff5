"""Every measure on random runs, to the last bit of what the tool's own code computes."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pomona.data.trec import parse_qrels, parse_run
from pomona.tools.trec_eval.measure import MEASURES, NICKNAMES
from pomona.tools.trec_eval.ranking import Options, rankings
from pomona.tools.trec_eval.report import choose, values_of

TEXTS = {"runid", "relstring"}
DOCUMENTS = [f"d{i}" for i in range(16)]
# Few distinct scores make ties; neighbours in float64 are ties in float32.
scores = st.sampled_from([0.0, 1.0, -1.0, 0.7, 0.700000001, 0.25, 1e-9, 3.0, 2.5])
judgments = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-1, 4), min_size=1)
answers = st.dictionaries(st.sampled_from(DOCUMENTS), scores, min_size=1)


@settings(max_examples=150)
@given(
    st.lists(
        st.tuples(judgments.filter(lambda judged: max(judged.values()) >= 0), answers), min_size=1, max_size=3
    ),
    st.sampled_from([1, 1, 2, 3]),
    st.booleans(),
)
def test_against_the_tool_s_code(queries, level, judged_only):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    names = pytrec_eval.supported_measures - TEXTS
    assert names <= set(MEASURES)
    qrels = {str(q): judged for q, (judged, _) in enumerate(queries)}
    run = {str(q): answer for q, (_, answer) in enumerate(queries)}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, names, level, judged_only).evaluate(run)

    qrels_text = "\n".join(f"{q} 0 {d} {label}" for q, judged in qrels.items() for d, label in judged.items())
    run_text = "\n".join(
        f"{q} Q0 {d} 1 {score!r} t" for q, answer in run.items() for d, score in answer.items()
    )
    chosen = choose(names, 9)
    options = Options(level=level, judged_only=judged_only)
    with np.errstate(divide="ignore", invalid="ignore"):
        for query in rankings(parse_qrels(qrels_text.encode()), parse_run(run_text.encode()), options):
            ours = {
                name: value
                for one, values in zip(chosen, values_of(chosen, query), strict=True)
                for name, value in zip(one.names, values, strict=True)
            }
            for name, value in theirs[query.qid.decode()].items():
                assert ours[name] == value or (math.isnan(ours[name]) and math.isnan(value)), name


def test_the_order_of_the_tool():
    order = list(MEASURES)
    assert order[:3] == ["runid", "num_q", "num_ret"]
    assert order.index("ndcg") < order.index("ndcg_cut") < order.index("map_cut") < order.index("success")
    assert all(name in MEASURES for names in NICKNAMES.values() for name in names)


def test_relstring():
    ranking = next(
        rankings(
            parse_qrels(b"1 0 a 0\n1 0 b 9\n1 0 c 10\n1 0 d -1\n"),
            parse_run(b"".join(b"1 Q0 %c 1 %d t\n" % (ord("a") + i, 9 - i) for i in range(5))),
            Options(),
        )
    ).ranking
    assert MEASURES["relstring"].values(ranking, (10.0,)) == ["'09>.-'"]
    assert MEASURES["relstring"].values(ranking, (2.9,)) == ["'09'"]
    assert MEASURES["relstring"].values(ranking, (-1.0,)) == ["''"]
