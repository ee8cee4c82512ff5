import os
import re
import sys
from pathlib import Path

import pytest

from pomona.data.catalog import COLLECTIONS, available, data_directory, load, load_folds
from pomona.errors import InputError, MissingDataError, UnknownNameError


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("POMONA_DATA", str(tmp_path))
    return tmp_path


def write(path: Path, qid: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"1 qid:{qid} 1:0.5\n")


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("mq2008", ["MQ2008/Fold1/train.txt", "MQ2008/Fold1/vali.txt", "MQ2008/Fold1/test.txt"]),
        (
            "mslr-web10k",
            ["mslr-web10k/Fold1/train.txt", "mslr-web10k/Fold1/vali.txt", "mslr-web10k/Fold1/test.txt"],
        ),
        ("ohsumed", [f"OHSUMED/QueryLevelNorm/Fold1/{role}.txt" for role in ("train", "vali", "test")]),
        (
            "ohsumed-min",
            [f"OHSUMED/Feature-min/Fold1/{role}set.txt" for role in ("training", "validation", "test")],
        ),
        (
            "gov2003-td",
            [f"Gov/QueryLevelNorm/2003_td_dataset/Fold1/{role}.txt" for role in ("train", "vali", "test")],
        ),
        ("yahoo-set2", [f"ltrc_yahoo/set2.{role}.txt" for role in ("train", "valid", "test")]),
        ("istella-s", [f"istella-s-letor/sample/{role}.txt" for role in ("train", "vali", "test")]),
    ],
)
def test_published_layouts_are_found(home, name, files):
    for qid, file in enumerate(files, start=1):
        write(home / file, qid)
    write(home / "ltrc_yahoo" / "set1.train.txt", 9)
    train, valid, test = load(name.upper())
    assert [part.qids.tolist() for part in (train, valid, test)] == [[1], [2], [3]]
    assert train.n_features == COLLECTIONS[name].n_features
    assert [entry.name for entry, here in available() if here] == [name]


def test_a_missing_collection_says_where_to_get_it_and_where_to_put_it(home):
    with pytest.raises(MissingDataError) as found:
        load("mq2007")
    message = str(found.value)
    assert COLLECTIONS["mq2007"].page in message
    assert str(home / "MQ2007") in message
    assert "train.txt, vali.txt, test.txt" in message


def test_a_path_works_in_place_of_a_name(home):
    for qid, role in enumerate(("train", "test"), start=1):
        write(home / "mine" / f"{role}.txt", qid)
    train, valid, test = load(home / "mine")
    assert (train.qids.tolist(), valid, test.qids.tolist()) == ([1], None, [2])
    assert len(load_folds(str(home / "mine"))) == 1
    assert list(load_folds(home / "mine").parts()) == ["train", "test"]


def test_what_does_not_exist_is_refused(home):
    with pytest.raises(UnknownNameError, match="did you mean 'mq2008'"):
        load("mq208")
    for qid, role in enumerate(("train", "test"), start=1):
        write(home / "mine" / f"{role}.txt", qid)
    with pytest.raises(InputError, match="has folds 1 to 1, found 2"):
        load(home / "mine", fold=2)
    with pytest.raises(InputError, match="this is one file"):
        load(home / "mine" / "train.txt")


def test_every_record_is_complete():
    for name, entry in COLLECTIONS.items():
        assert re.fullmatch(r"[a-z0-9-]+", name)
        assert entry.page.startswith("https://")
        assert entry.places
        assert entry.n_features > 0
        assert entry.max_label > 0
        assert "\n" not in entry.description


def test_without_a_setting_the_operating_system_says_where(monkeypatch):
    monkeypatch.delenv("POMONA_DATA", raising=False)
    monkeypatch.setattr("platformdirs.user_data_dir", lambda name, **options: f"/home/me/{name}")
    assert data_directory() == Path("/home/me/pomona")
    monkeypatch.setenv("POMONA_DATA", "/somewhere")
    assert data_directory() == Path("/somewhere")


@pytest.mark.skipif(sys.platform != "linux", reason="where Linux keeps data")
def test_the_directories_of_linux(monkeypatch):
    monkeypatch.delenv("POMONA_DATA", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", "/somewhere")
    assert data_directory() == Path("/somewhere/pomona")
    monkeypatch.delenv("XDG_DATA_HOME")
    assert data_directory() == Path.home() / ".local" / "share" / "pomona"


# Queries of train, valid and test in every fold, as the collections' own descriptions give them.
FOLD_SIZES = {
    "mq2008": [(471, 157, 156), (471, 156, 157), (470, 157, 157), (470, 157, 157), (470, 157, 157)],
    "ohsumed": [(63, 21, 22), (63, 22, 21), (64, 21, 21), (64, 21, 21), (64, 21, 21)],
}
ONE_FOLD_SIZES = {
    "mslr-subset": (43, 22, 43),
    "lightgbm-example": (201, 0, 50),
    "trec-news-2018": (45, 0, 5),
}


@pytest.mark.skipif("POMONA_DATA" not in os.environ, reason="needs the collections under POMONA_DATA")
@pytest.mark.parametrize("name", [*FOLD_SIZES, *ONE_FOLD_SIZES])
def test_real_collections_have_their_published_sizes(name):
    if COLLECTIONS[name].directory() is None:
        pytest.skip(f"{name} is not here")
    expected = FOLD_SIZES.get(name) or [ONE_FOLD_SIZES[name]]
    sizes = [tuple(0 if part is None else part.n_queries for part in fold) for fold in load_folds(name)]
    assert sizes == expected
    first = load(name, fold=1).train
    assert first.n_features == COLLECTIONS[name].n_features
    assert first.y.max() <= COLLECTIONS[name].max_label


@pytest.mark.skipif("POMONA_DATA" not in os.environ, reason="needs the collections under POMONA_DATA")
def test_trec_news_features_have_their_names():
    if COLLECTIONS["trec-news-2018"].directory() is None:
        pytest.skip("TREC News is not here")
    assert load("trec-news-2018").train.feature_names[3] == "pagerank"
