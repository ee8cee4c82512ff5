"""TREC judgments and runs, and the dataset made of them."""

import bz2
import gzip
import lzma
import re

import numpy as np
import pytest
import zstandard

from pomona.data.trec import dataset_of_trec, parse_qrels, parse_run, pooled_run, read_qrels, read_run
from pomona.errors import InputError, PomonaError

QRELS = b"2 0 d1 1\n10 0 d1 0\n10 0 d2 2\n10 0 d9 -1\n"
RUN = b"""2 Q0 d1 1 0.5 first
10 Q0 d2 1 0.125 first
3 Q0 d1 1 9 first
10 Q0 d8 2 0.25 first
10 Q0 d9 3 -1 last
"""


def test_queries_stand_in_byte_order_and_rows_in_file_order():
    run = parse_run(RUN)
    assert run.qids == (b"10", b"2", b"3")
    assert [run.documents(query) for query in range(3)] == [[b"d2", b"d8", b"d9"], [b"d1"], [b"d1"]]
    assert run.scores.tolist() == [0.125, 0.25, -1.0, 0.5, 9.0]
    assert run.tag == b"last"


def test_judgments_by_document():
    qrels = parse_qrels(QRELS)
    assert qrels.judgments(0) == {b"d1": 0, b"d2": 2, b"d9": -1}
    assert qrels.judgments(1) == {b"d1": 1}


def test_fields_beyond_the_tag_are_ignored_and_tabs_separate():
    run = parse_run(b"1\tQ0\td1\t1\t2.5\ttag and more\r\n")
    assert (run.documents(0), run.scores.tolist(), run.tag) == ([b"d1"], [2.5], b"tag")


def test_comments_are_a_choice():
    text = b"# qid iteration docno judgment\n1 0 d1 1\n"
    assert parse_qrels(text).qids == (b"1",)
    with pytest.raises(InputError, match=r"^qrels:1: found 5 fields, expected 4"):
        parse_qrels(text, comments=False)


@pytest.mark.parametrize(
    ("parse", "text", "message"),
    [
        (parse_run, b"1 Q0 a 1 2.0\n", "run:1: found 5 fields, expected 6: qid Q0 docno rank score tag"),
        (parse_run, b"1 Q0 a 1 2 t\n1 Q0 b 2 nan t\n", "run:2: found the score 'nan', expected a number"),
        (parse_qrels, b"1 0 a 1 x\n", "qrels:1: found 5 fields, expected 4: qid iteration docno judgment"),
        (
            parse_qrels,
            b"1 0 a 1\n\n",
            "qrels:2: found a blank line, expected 4: qid iteration docno judgment",
        ),
        (parse_qrels, b"", "qrels: the file holds no line of the form: qid iteration docno judgment"),
    ],
)
def test_refusals(parse, text, message):
    with pytest.raises(InputError) as error:
        parse(text)
    assert str(error.value) == message


def test_a_repeated_document_is_refused_with_its_line():
    qrels = parse_qrels(b"2 0 a 0\n1 0 a 0\n2 0 b 1\n2 0 a 1\n")
    with pytest.raises(InputError) as error:
        qrels.judgments(1)
    assert str(error.value) == "qrels:4: document 'a' occurs twice for query '2': keep one"


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(PomonaError, match=r"nowhere\.txt: no such file"):
        read_qrels(tmp_path / "nowhere.txt")


@pytest.mark.parametrize(
    "compress", [bytes, gzip.compress, bz2.compress, lzma.compress, zstandard.ZstdCompressor().compress]
)
def test_plain_or_compressed(compress, tmp_path):
    (tmp_path / "run").write_bytes(compress(RUN))
    run = read_run(tmp_path / "run")
    assert run.scores.tolist() == parse_run(RUN).scores.tolist()
    assert run.file == str(tmp_path / "run")


@pytest.mark.parametrize("compress", [bytes, gzip.compress, lzma.compress])
def test_a_byte_order_mark_is_no_part_of_a_query_id(compress, tmp_path):
    mark = b"\xef\xbb\xbf"
    (tmp_path / "run").write_bytes(compress(mark + RUN))
    (tmp_path / "qrels").write_bytes(compress(mark + QRELS))
    assert read_run(tmp_path / "run").qids == parse_run(RUN).qids
    assert read_qrels(tmp_path / "qrels").qids == parse_qrels(QRELS).qids


def test_a_label_that_float32_would_round_is_refused():
    run = parse_run(b"1 Q0 a 1 1 t\n")
    assert dataset_of_trec(parse_qrels(b"1 0 a 16777218\n"), run).data.y.tolist() == [16777218]
    for label in (2**24 + 1, 2**53 + 1, 2**62 + 1):
        with pytest.raises(InputError, match=f"label {label} of document 0 is beyond what float32 holds"):
            dataset_of_trec(parse_qrels(b"1 0 a %d\n" % label), run)


def test_the_dataset_of_a_run():
    judged = dataset_of_trec(parse_qrels(QRELS), parse_run(RUN))
    data = judged.data
    assert data.qids.tolist() == ["10", "2"]
    assert data.query_ptr.tolist() == [0, 3, 4]
    assert data.y.tolist() == [2.0, -1.0, -1.0, 1.0]  # d8 has no judgment, that of d9 is negative
    assert list(data.doc_ids) == ["d2", "d8", "d9", "d1"]
    assert data.feature_names == ("score",)
    assert data.X[:, 0].tolist() == judged.scores.tolist() == [0.125, 0.25, -1.0, 0.5]
    assert judged.pool_labels.tolist() == [0.0, 2.0, 1.0]
    assert judged.pool_ptr.tolist() == [0, 2, 3]


def test_scores_keep_what_the_feature_cannot():
    run = parse_run(b"1 Q0 a 1 0.7 t\n1 Q0 b 2 0.700000001 t\n1 Q0 c 3 1e300 t\n")
    judged = dataset_of_trec(parse_qrels(b"1 0 a 1\n"), run)
    assert judged.scores.tolist() == [0.7, 0.700000001, 1e300]
    assert judged.data.X[0, 0] == judged.data.X[1, 0]
    assert np.isinf(judged.data.X[2, 0])


def test_files_without_a_common_query_are_refused():
    with pytest.raises(InputError, match=r"^no query of run is in qrels"):
        dataset_of_trec(parse_qrels(b"1 0 a 1\n"), parse_run(b"01 Q0 a 1 1 t\n"))


def test_a_document_twice_in_the_run_is_refused():
    with pytest.raises(InputError, match=r"^run:2: document 'a' occurs twice"):
        dataset_of_trec(parse_qrels(b"1 0 a 1\n"), parse_run(b"1 Q0 a 1 1 t\n1 Q0 a 2 0 t\n"))


@pytest.mark.parametrize(
    ("text", "label"), [(b"1.7", 1), (b"0.9", 0), (b"1e3", 1), (b"good", 0), (b"-0.5", 0), (b"+-1", 0)]
)
def test_a_judgment_that_is_no_whole_number_is_told(text, label):
    qrels = parse_qrels(b"2 0 b 1\n1 0 c +2\n1 0 d -1\n1 0 a %s\n" % text)
    run = parse_run(b"1 Q0 a 1 1 t\n1 Q0 b 1 0x10 t\n1 Q0 c 1 -.5e-3 t\n1 Q0 d 1 inf t\n")
    said = f"^qrels:4: the judgment {text.decode()!r} is no whole number and counts as {label}, as for"
    for join in (dataset_of_trec, pooled_run):
        with pytest.warns(UserWarning, match=re.escape(said[1:])):
            join(qrels, run)
    assert qrels.judgments(0)[b"a"] == label


@pytest.mark.parametrize(("text", "score"), [(b"2,5", 2), (b"2.5x", 2.5), (b"high", 0), (b"1.2.3", 1.2)])
def test_a_score_that_is_no_number_is_told(text, score):
    run = parse_run(b"1 Q0 a 1 1 t\n1 Q0 b 1 %s t\n" % text)
    with pytest.warns(UserWarning, match=f"run:2: the score {text.decode()!r} is no number and counts as"):
        assert dataset_of_trec(parse_qrels(b"1 0 a 1\n"), run).scores.tolist() == [1, score]
