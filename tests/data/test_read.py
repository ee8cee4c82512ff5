import bz2
import gzip
import json
import lzma

import numpy as np
import polars as pl
import pytest
import zstandard

import pomona as pm
from pomona.data.read import read, read_parts
from pomona.errors import InputError, MissingDataError, PomonaError

CSV = "label,qid,a\n1,7,2\n0,7,3\n"
LETOR = "1 qid:7 1:2\n0 qid:7 1:3\n"
PACKERS = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.ZstdCompressor().compress,
}


@pytest.mark.parametrize("packed", PACKERS)
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("d.txt", LETOR),
        ("d", LETOR),
        ("d.csv", CSV),
        ("d.tsv", CSV.replace(",", "\t")),
        ("D.CSV", CSV),
        ("d.jsonl", '{"label": 1, "qid": 7, "a": 2}\n{"label": 0, "qid": 7, "a": 3}\n'),
    ],
)
@pytest.mark.parametrize("cache", [False, True])
def test_any_text_in_any_compression(tmp_path, monkeypatch, name, text, packed, cache):
    monkeypatch.setenv("POMONA_CACHE", str(tmp_path / "cache"))
    path = tmp_path / f"{name}{packed}"
    path.write_bytes(PACKERS[packed](text.encode()))
    for _ in range(2):
        data = pm.read(path, cache=cache)
        assert (data.X.tolist(), data.y.tolist(), data.qids.tolist()) == ([[2], [3]], [1, 0], [7])
        assert data.feature_names == (("f1",) if text is LETOR else ("a",))


@pytest.mark.parametrize("name", ["d.parquet", "d.arrow", "d.feather", "d.ipc"])
def test_binary_tables(tmp_path, name):
    frame = pl.DataFrame({"grade": [1, 0], "query": ["x", "x"], "url": ["u", "v"], "a": [2.5, None]})
    (frame.write_parquet if name.endswith("parquet") else frame.write_ipc)(tmp_path / name)
    data = read(str(tmp_path / name), label="grade", qid="query", doc_id="url")
    assert np.array_equal(data.X, [[2.5], [np.nan]], equal_nan=True)
    assert (data.qids.tolist(), list(data.doc_ids)) == (["x"], ["u", "v"])


def test_query_sizes_and_feature_names_beside_the_file_are_used(tmp_path):
    (tmp_path / "rank.train.xz").write_bytes(lzma.compress(b"1 1:1\n0 1:2\n2 1:3\n"))
    (tmp_path / "rank.train.query").write_text("2\n1\n")
    (tmp_path / "rank.features.json").write_text(json.dumps({"1": "bm25"}))
    data = read(tmp_path / "rank.train.xz")
    assert data.query_ptr.tolist() == [0, 2, 3]
    assert data.feature_names == ("bm25",)
    assert read([tmp_path / "rank.train.xz"] * 2).qids.tolist() == [1, 2, 3, 4]
    (tmp_path / "rank.train.xz").write_bytes(lzma.compress(LETOR.encode()))
    with pytest.warns(UserWarning, match=r"rank\.train\.query is not used: the data tell their queries"):
        assert read(tmp_path / "rank.train.xz").qids.tolist() == [7]


@pytest.mark.parametrize("name", ["d.txt", "d.csv", "d.txt.gz"])
@pytest.mark.parametrize("ending", [".query", ".group"])
def test_sizes_of_queries_that_are_not_needed_are_not_ignored_without_a_word(tmp_path, name, ending):
    with pytest.warns(UserWarning, match=rf"{name}{ending} is not used: "):
        assert read(_with_file_beside(tmp_path, name, ending)).n_docs == 2


@pytest.mark.parametrize("name", ["d.txt", "d.csv", "d.txt.gz"])
@pytest.mark.parametrize("ending", [".weight", ".init", ".position"])
def test_what_another_tool_would_learn_from_is_refused(tmp_path, name, ending):
    data = _with_file_beside(tmp_path, name, ending)
    message = rf"{name}{ending}: LightGBM would learn from this file beside {name}, .*: move it away"
    with pytest.raises(InputError, match=message) as caught:
        read(data)
    assert ("sample_weight" in str(caught.value)) == (ending == ".weight")


def _with_file_beside(folder, name, ending):
    text = (CSV if "csv" in name else LETOR).encode()
    (folder / name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    (folder / (name + ending)).write_text("2\n")
    return folder / name


@pytest.mark.parametrize("text", ["{", "[1]", "\xff"])
def test_names_of_features_that_cannot_be_read_are_refused(tmp_path, text):
    (tmp_path / "rank.train").write_text(LETOR)
    (tmp_path / "rank.features.json").write_text(text, encoding="latin-1")
    with pytest.raises(InputError, match=r"rank\.features\.json: "):
        read(tmp_path / "rank.train")


def test_several_files_are_one_dataset(tmp_path):
    (tmp_path / "a.txt").write_text(LETOR)
    (tmp_path / "b.txt").write_text("2 qid:x 2:5\n")
    data = read([tmp_path / "a.txt", tmp_path / "b.txt"], undefined=np.nan)
    assert data.qids.tolist() == ["7", "x"]
    assert np.array_equal(data.X, [[2, np.nan], [3, np.nan], [np.nan, 5]], equal_nan=True)
    (tmp_path / "a.csv").write_text(CSV)
    (tmp_path / "b.csv").write_text(CSV)
    (tmp_path / "c.csv").write_text(CSV.replace(",a", ",c"))
    with pytest.warns(
        UserWarning, match=r"query 7 stands in .*a\.csv and in .*b\.csv, .*one query \(1 such\)"
    ):
        assert read([tmp_path / "a.csv", tmp_path / "b.csv"]).query_ptr.tolist() == [0, 4]
    (tmp_path / "c.txt").write_text("2 qid:7 2:5\n0 qid:x\n")
    for files in (["a.txt", "c.txt"], ["b.txt", "c.txt"], ["b.txt", "a.txt", "c.txt"]):
        for reader in (read, pm.read_letor):
            with pytest.warns(UserWarning, match=r"query (7|x) stands in .*[ab]\.txt and in .*c\.txt"):
                reader([tmp_path / name for name in files])
    with pytest.raises(InputError, match="missing: a; not expected: c"):
        read([tmp_path / "a.csv", tmp_path / "c.csv"])


def test_parts_of_a_file_and_of_a_directory(tmp_path):
    for name in ("train.csv", "test.csv"):
        (tmp_path / name).write_text(CSV.replace("label", "grade"))
    assert list(read_parts(tmp_path, label="grade")) == ["train", "test"]
    assert list(read_parts(tmp_path / "test.csv", label="grade")) == ["test.csv"]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("mq2008", r"mq2008: this is a collection of folds, expected a file: .* pm\.load\('mq2008'\)"),
        ("folder", "folder: this is a directory, expected a file"),
        ("mq208", r"mq208: no such file \(a collection is called mq2008\)"),
        ("nothing.txt", "nothing.txt: no such file$"),
        ("bad.csv", "bad.csv: no column 'label'"),
        ([], "found no file to read"),
    ],
)
def test_refusals_are_one_line_with_a_remedy(tmp_path, monkeypatch, source, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "bad.csv").write_text("grade,qid,x\n0,1,2\n")
    with pytest.raises(PomonaError, match=message) as caught:
        read(source)
    assert "\n" not in str(caught.value)


def test_names_of_features_belong_to_one_file(tmp_path):
    """`train` and `test` once shared `.features.json`, and `train.txt` and `train.letor` one file, too."""
    for name in ("train", "test", "a.txt", "a.letor", "b.txt", "rank.train", "rank.test"):
        (tmp_path / name).write_text(LETOR)
    for name in ("train", "a.txt", "b", "rank"):
        (tmp_path / f"{name}.features.json").write_text(json.dumps({"1": name}))
    names = {name: read(tmp_path / name).feature_names for name in ("train", "test", "a.txt", "a.letor")}
    assert names == {"train": ("train",), "test": ("f1",), "a.txt": ("a.txt",), "a.letor": ("f1",)}
    assert read(tmp_path / "b.txt").feature_names == ("b",)  # as it was called in earlier versions
    assert read(tmp_path / "rank.test").feature_names == ("rank",)  # parts of one collection
    (tmp_path / "b.letor").write_text(LETOR)
    with pytest.warns(UserWarning, match=r"b\.features\.json is not used: .* b\.txt or of b\.letor; call"):
        assert read(tmp_path / "b.txt").feature_names == ("f1",)
    (tmp_path / ".features.json").write_text(json.dumps({"1": "shared"}))
    with pytest.warns(UserWarning, match=r"\.features\.json is not used"):
        assert read(tmp_path / "test").feature_names == ("f1",)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"0": "a"}, "'0'"),
        ({"01": "a"}, "'01'"),
        ({"x": "a"}, "'x'"),
        ({"1": 5}, "expected names"),
        ({"1": "f2"}, "two features are called 'f2'"),
    ],
)
def test_names_that_name_nothing_are_refused(tmp_path, names, message):
    (tmp_path / "a.txt").write_text("0 qid:1 1:1 2:2\n")
    (tmp_path / "a.txt.features.json").write_text(json.dumps(names))
    with pytest.raises(InputError, match=message):
        read(tmp_path / "a.txt")


def test_a_path_that_is_there_comes_before_a_collection_of_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("POMONA_DATA", str(tmp_path / "nowhere"))
    (tmp_path / "mq2008").mkdir()
    for name in ("train", "test"):
        (tmp_path / "mq2008" / f"{name}.csv").write_text(CSV)
    for source in ("mq2008", "./mq2008", tmp_path / "mq2008", "mq2008/"):
        assert list(read_parts(source)) == ["train", "test"]
        assert pm.load(source).train.n_docs == 2
    (tmp_path / "ohsumed").write_text(LETOR)
    assert list(read_parts("ohsumed")) == ["ohsumed"]
    assert read("ohsumed").n_docs == 2
    with pytest.raises(PomonaError, match="no such file or directory"):
        read_parts("./mq2007")
    (tmp_path / "mq2008" / "store.sqlite").touch()  # a comparison that was called by the collection
    with pytest.raises(MissingDataError):
        read_parts("mq2008")


@pytest.mark.parametrize(
    ("name", "said", "not_said"),
    [
        ("nofile.txt", "nofile.txt: no such file or directory", "known"),
        ("folder/mq2008", "folder/mq2008: no such file or directory", "known"),
        ("zzzz", "zzzz: no such file or directory", "known"),
        ("mq208", "did you mean 'mq2008'.*mq2007", "yahoo"),
        ("Mq2009", "did you mean 'mq200", "yahoo"),
    ],
)
def test_what_is_not_there_is_a_file_unless_it_is_nearly_a_collection(name, said, not_said):
    with pytest.raises(PomonaError, match=said) as caught:
        read_parts(name)
    assert not_said not in str(caught.value)


def test_nan_labels_and_labels_below_0_of_text(tmp_path):
    (tmp_path / "a.txt").write_text("nan qid:1 1:1\n1 qid:1 1:2\nNaN qid:2 1:1\n-nan qid:1 1:2\n")
    data = read(tmp_path / "a.txt")
    assert np.array_equal(data.y, [np.nan, 1, np.nan, np.nan], equal_nan=True)
    pm.write_letor(data, tmp_path / "b.txt")
    assert read(tmp_path / "b.txt").fingerprint() == data.fingerprint()
    (tmp_path / "a.txt").write_text("-1 qid:1 1:1\n1 qid:1 1:2\n")
    for options in ({}, {"cache": True}, {"cache": True}):
        with pytest.warns(UserWarning, match=r"a\.txt: 1 label is below 0") as told:
            read(tmp_path / "a.txt", **options)
        assert len(told) == 1


def test_files_that_name_their_features_otherwise_are_not_joined(tmp_path):
    (tmp_path / "a.txt").write_text(LETOR)
    (tmp_path / "b.txt").write_text(LETOR.replace("qid:7", "qid:8"))
    files = [tmp_path / "a.txt", tmp_path / "b.txt"]
    (tmp_path / "a.txt.features.json").write_text('{"1": "bm25"}')
    assert read(files).feature_names == ("bm25",)
    (tmp_path / "b.txt.features.json").write_text('{"1": "clicks"}')
    with pytest.raises(InputError, match=r"b\.txt\.features\.json: other names than those of .*a\.txt"):
        read(files)
