"""Judgment lists of every kind."""

import gzip

import pytest

from pomona.data.judgments import parse_judgments, read_judgments
from pomona.errors import InputError

EXPECTED = {("1", "a"): 3.0, ("1", "b"): 0.0, ("2", "a"): 1.0}

LISTS = {
    "Quepid": b"query,docid,rating\n1,a,3\n1,b,0\n2,a,1\n2,z,\n",
    "Quepid, detailed": (
        b'Team Name,Query Text,Doc ID,Title,Rating\nt,1,a,"A, b",3.0\nt,1,b,,0\nt,2,a,x,1\nt,2,z,x,\n'
    ),
    "with semicolons": b"\xef\xbb\xbfqid;doc_id;grade\r\n1;a;3\r\n1;b;0\r\n2;a;1\r\n2;z;\r\n",
    "TREC": b"1 0 a 3\n1 0 b 0\n2 0 a 1\n2 0 z -1\n",
}


@pytest.mark.parametrize("kind", LISTS)
def test_every_kind_gives_the_same_labels(kind):
    judgments = parse_judgments(LISTS[kind])
    assert judgments.labels == EXPECTED
    assert judgments.n_unrated == 1


def test_the_list_of_the_plugin(tmp_path):
    path = tmp_path / "sample.txt.gz"
    path.write_bytes(gzip.compress(b"# qid:1: rambo\n\n3 qid:1 # a Rambo\n0\tqid:1\t#b\n1 qid:2 # a\n"))
    assert read_judgments(path).labels == EXPECTED


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "found no judgment"),
        (b"# nothing\n\n", "found no judgment"),
        (b"query,docid,stars\n1,a,3\n", "expected one called rating or grade or label"),
        (b"query,rating\n1,3\n", "expected one called docid or"),
        (b"query,docid,rating\n1,a\n", ":2: found 2 cells, expected 3"),
        (b"query,docid,rating\n1,a,good\n", ":2: found the judgment 'good', expected a number"),
        (b"query,docid,rating\n1,a,nan\n", ":2: found the judgment 'nan'"),
        (b"query,docid,rating\n1,a,3\n1,a,2\n", ":3: document 'a' of query '1' is judged 3 and 2"),
        (b"3 qid:1 # a\n4 qid:1\n", ":2: found '4 qid:1', expected `label qid:query # document`"),
        (b"query,docid,rating\n1,,3\n", ":2: found no document"),
        (b"query,docid,rating\n1,a,2\n ,b,3\n", ":3: found no query"),
        (b"1 0 a 1\n1 0 b 1.5\n", ":2: found the judgment '1.5', expected a whole number"),
        (b"1 0 a 1\n1 0 b good\n", ":2: found the judgment 'good'"),
        (b"\xff\xfe1,2", "cannot be read as text"),
    ],
)
def test_what_is_refused(content, said):
    with pytest.raises(InputError) as caught:
        parse_judgments(content, "j")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_same_judgment_twice_is_one():
    assert parse_judgments(b"query,docid,rating\n1,a,3\n1,a,3.0\n").labels == {("1", "a"): 3.0}
