import gzip
import re
from pathlib import Path

import numpy as np
import pytest

import pomona as pm
from fuzz.options import run as command
from pomona.cli.inputs import are_trec, named_files, read_judged, read_scores
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


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model of three features, and its data."""
    folder = tmp_path_factory.mktemp("model")
    data = pm.simulate(12, docs_per_query=6, n_features=3, seed=1)
    data = data.replace(feature_names=("f1", "f2", "f3"))
    pm.MART(n_trees=3, min_docs=2).fit(data).save(folder / "m.pomona")
    pm.write_letor(data, folder / "d.txt")
    return folder


_JUDGING = (
    "score m.pomona {}",
    "explain m.pomona {} --query 1",
    "parity m.pomona {} --engine solr",
    "features {} --model m.pomona",
    "optimality m.pomona {} --directions 2",
)


@pytest.mark.parametrize("words", _JUDGING)
def test_data_with_other_features_than_the_model(words, model, monkeypatch):
    """One answer of every verb to too few features and to too many."""
    monkeypatch.chdir(model)
    lines = Path("d.txt").read_text().splitlines()
    Path("few.txt").write_text("".join(re.sub(r" [23]:\S+", "", line) + "\n" for line in lines))
    told = command(words.format("few.txt").split())
    assert told.code == 0
    assert "note: the last 2 features of the model do not occur in few.txt: taken as 0\n" in told.stderr
    Path("many.txt").write_text("".join(line.replace(" 3:", " 3:1 5:") + "\n" for line in lines))
    told = command(words.format("many.txt").split())
    assert (told.code, told.stderr) == (2, "pomona: many.txt: found 5 features, and the model has 3\n")
    Path("few.csv").write_text("label,qid,f1\n1,1,0.5\n0,1,0.25\n")
    told = command(words.format("few.csv").split())
    expected = "pomona: few.csv: found 1 features, and the model has 3; missing: f2, f3\n"
    assert (told.code, told.stderr) == (2, expected)


@pytest.mark.parametrize("words", _JUDGING)
def test_a_table_with_more_columns_than_the_model_has_features(words, model, monkeypatch):
    monkeypatch.chdir(model)
    data = pm.read("d.txt")
    rows = zip(data.qid.tolist(), data.y.tolist(), data.X.tolist(), strict=True)
    cells = [f"{q},text {i},{label},{x[2]},{x[0]},{x[1]}" for i, (q, label, x) in enumerate(rows)]
    Path("more.csv").write_text("\n".join(["qid,title,label,f3,f1,f2", *cells]) + "\n")
    table, text = (command([*words.format(name).split(), "--json"]) for name in ("more.csv", "d.txt"))
    assert (table.code, text.code) == (0, 0), table.stderr
    assert table.stdout.replace("more.csv", "d.txt") == text.stdout or "explain" in words


TREC = {"qrels": "1 0 a 1\n1 0 b 0\n2 0 c 2\n", "run": "1 Q0 a 1 2 t\n9 Q0 z 1 1 t\n"}


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in TREC.items():
        Path(name).write_text(text)
    Path("d.txt").write_text("1 qid:1 1:1\n0 qid:1 1:2\n")
    Path("s.txt").write_text("1\n2\n")
    Path("d.csv").write_text("label,qid,f1\n1,1,2\n0,1,1\n")


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("qrels run", True),
        ("qrels run run", True),
        ("d.txt s.txt", False),
        ("d.csv s.txt s.txt", False),
        ("none s.txt", False),
        ("run qrels", "run is a TREC run; qrels is TREC judgments"),
        ("qrels s.txt", "qrels is TREC judgments; s.txt holds scores"),
        ("d.txt run", "d.txt is LETOR text; run is a TREC run"),
        ("s.txt d.txt", "s.txt holds scores; d.txt is LETOR text"),
        ("qrels none", "qrels is TREC judgments; none is not known by its first lines"),
    ],
)
def test_judgments_and_runs_are_known_by_their_content(names, expected, files):
    paths = [Path(name) for name in names.split()]
    if isinstance(expected, bool):
        assert are_trec(paths) is expected
    else:
        with pytest.raises(InputError, match=expected):
            are_trec(paths)


def test_systems_are_called_by_the_shortest_names_that_differ(tmp_path):
    paths = [Path("a/s.txt"), Path("b/s.txt"), Path("c/t.txt")]
    assert named_files(paths) == {"a/s.txt": paths[0], "b/s.txt": paths[1], "t": paths[2]}
    (tmp_path / "s").write_text("")
    (tmp_path / "link").symlink_to("s")
    for twice in ([Path("s"), Path("s")], [tmp_path / "s", tmp_path / "link"]):
        with pytest.raises(InputError, match="the same file was given twice"):
            named_files(twice)


@pytest.mark.parametrize("verb", ["stats", "audit", "features --trees 0"])
def test_a_source_that_is_given_twice(verb, files):
    told = command([*verb.split(), "d.txt", "d.txt"])
    assert (told.code, told.stderr) == (2, "pomona: d.txt: was given twice\n")
