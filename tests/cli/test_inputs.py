import gzip

import numpy as np
import pytest

from pomona.cli.inputs import read_judged, read_scores
from pomona.errors import InputError


def test_scores(tmp_path):
    path = tmp_path / "s.txt"
    path.write_text("1\n-2.5e3\n inf \n\n")
    assert read_scores(path, 3).tolist() == [1, -2500, np.inf]
    packed = tmp_path / "s.txt.gz"
    packed.write_bytes(gzip.compress(b"1\r\n2\r\n"))
    assert read_scores(packed, 2).tolist() == [1, 2]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("1\nx\n3\n", r"s:2: found 'x', expected one score"),
        ("1\n\n3\n", r"s:2: found '', expected one score"),
        ("1\nnan\n3\n", r"s:2: found 'nan'"),
        ("1_0\n2\n3\n", r"s:1: found '1_0'"),
        ("1 2 3\n", r"s:1: found '1 2 3'"),
        ("1\n1e999\n3\n", r"s:2: found '1e999'"),
        ("1\n2\n", "found 2 scores for 3 documents"),
        ("", "found 0 scores for 3 documents"),
    ],
)
def test_refusals(text, why, tmp_path):
    path = tmp_path / "s"
    path.write_text(text)
    with pytest.raises(InputError, match=why):
        read_scores(path, 3)


def test_scores_of_data_in_any_format(tmp_path):
    (tmp_path / "s").write_text("3\n5\n4\n")
    (tmp_path / "d.txt").write_text("1 qid:1 1:2\n0 qid:2 1:2\n2 qid:1 1:2\n")
    (tmp_path / "d.csv").write_text("grade,qid,a\n1,1,2\n0,2,2\n2,1,2\n")
    for name, columns in (("d.txt", {}), ("d.csv", {"label": "grade"})):
        judged, qids = read_judged(tmp_path / name, tmp_path / "s", columns)
        assert (judged.labels.tolist(), judged.scores.tolist(), qids) == ([1, 2, 0], [3, 4, 5], ["1", "2"])


@pytest.mark.parametrize("seed", range(4))
def test_random_scores_come_back_and_random_damage_is_seen(tmp_path, seed):
    random = np.random.default_rng(seed)
    path, scores = tmp_path / "s", random.standard_normal(20)
    whole = "".join(f"{score!r}\n" for score in scores.tolist()).encode()
    path.write_bytes(b"\xef\xbb\xbf" * (seed % 2) + whole)
    assert read_scores(path, 20).tolist() == scores.tolist()
    for _ in range(200):
        damaged = bytearray(whole)
        place = random.integers(len(damaged))
        damaged[place : place + random.integers(2)] = random.choice(list(b"0e.-\n\r x\xff\x00_")).tobytes()[
            :1
        ]
        path.write_bytes(damaged)
        try:
            assert len(read_scores(path, 20)) == 20
        except InputError as error:
            assert "\n" not in str(error)  # noqa: PT017
