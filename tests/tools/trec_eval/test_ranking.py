"""The judged ranking of a query."""

import pytest

from pomona.data.trec import parse_qrels, parse_run
from pomona.errors import InputError
from pomona.tools.trec_eval.ranking import Options, rankings


def judged(qrels, run, **options):
    found = rankings(parse_qrels(qrels), parse_run(run), Options(**options))
    return {query.qid: query.ranking for query in found}


def labels(qrels, run, **options):
    return {qid: ranking.labels.tolist() for qid, ranking in judged(qrels, run, **options).items()}


QRELS = b"1 0 a 3\n1 0 b 0\n1 0 c -1\n1 0 z 2\n"
RUN = b"1 Q0 b 1 1 t\n1 Q0 c 2 4 t\n1 Q0 a 3 3 t\n1 Q0 x 4 2 t\n"


def test_labels_by_score():
    assert labels(QRELS, RUN) == {b"1": [-2, 3, -1, 0]}  # c is in the pool and not judged, x is not in it
    ranking = judged(QRELS, RUN)[b"1"]
    assert ranking.levels.tolist() == [1, 0, 1, 1]
    assert (ranking.n_ret, ranking.n_rel, ranking.n_rel_ret) == (4, 2, 1)
    assert ranking.hits.tolist() == [2]
    assert [ranking.n_hits(k) for k in (1, 2, 9)] == [0, 1, 1]


def test_fewer_documents():
    assert labels(QRELS, RUN, max_docs=2) == {b"1": [-2, 3]}
    assert labels(QRELS, RUN, judged_only=True) == {b"1": [3, 0]}
    assert labels(QRELS, RUN, judged_only=True, max_docs=1) == {b"1": []}
    assert labels(QRELS, RUN, max_docs=0) == {b"1": []}


def test_ties_fall_to_the_greater_name():
    run = b"1 Q0 a 1 1 t\n1 Q0 b 1 1 t\n1 Q0 z 1 1 t\n1 Q0 Z 1 1 t\n1 Q0 x 1 2 t\n"
    assert labels(QRELS, run) == {b"1": [-1, 2, 0, 3, -1]}  # x, then z, b, a, Z


def test_version_9_reads_scores_as_float32():
    run = b"1 Q0 a 1 0.700000001 t\n1 Q0 b 2 0.7 t\n"
    assert labels(QRELS, run, version=9) == {b"1": [0, 3]}
    assert labels(QRELS, run, version=10) == {b"1": [3, 0]}
    run = b"1 Q0 a 1 2e300 t\n1 Q0 b 2 1e300 t\n"
    assert labels(QRELS, run, version=9) == {b"1": [0, 3]}


def test_a_document_twice_is_refused_where_it_is_looked_at():
    run = b"1 Q0 a 1 3 t\n1 Q0 b 2 2 t\n1 Q0 a 3 1 t\n"
    with pytest.raises(InputError, match=r"^run:3: document 'a' occurs twice for query '1': keep one$"):
        judged(QRELS, run)
    assert labels(QRELS, run, max_docs=2) == {b"1": [3, 0]}
    with pytest.raises(InputError, match=r"^qrels:5: document 'a' occurs twice"):
        judged(QRELS + b"1 0 a 3\n", RUN)


def test_judgments_that_are_all_negative():
    run = b"1 Q0 a 1 1 t\n2 Q0 a 1 1 t\n"
    with pytest.raises(InputError) as error:
        judged(b"1 0 a -1\n2 0 a 1\n", run)
    assert str(error.value) == (
        "qrels: query '1' has negative judgments only, where trec_eval stops: leave that query out"
    )
    # Not the first one: the tool goes on, with nothing relevant.
    assert judged(b"1 0 a 1\n2 0 a -1\n", run)[b"2"].n_rel == 0
    with pytest.raises(InputError, match="negative judgments only"):
        judged(b"1 0 a 1\n2 0 a -2\n", run)


def test_a_grade_beyond_reason():
    with pytest.raises(InputError) as error:
        judged(b"1 0 a 99999999\n", b"1 Q0 a 1 1 t\n")
    assert str(error.value) == (
        "qrels: query '1' has the judgment 99999999, expected at most 10000000: renumber the grades"
    )
