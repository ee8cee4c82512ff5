"""The public collections by name: where each is published, how it is laid out, and how to load it.

Collections lie under the directory that `POMONA_DATA` names (or the one the operating system gives to an
application's data). Nothing is downloaded here: most of these collections ask their users to accept a
licence first.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs

from pomona.data.folds import Fold, Folds, find_folds
from pomona.errors import InputError, MissingDataError, UnknownNameError


@dataclass(frozen=True, slots=True)
class Collection:
    """One public collection.

    `places` are the directories, below the data directory, in which it may lie; the first is where to
    put it. Where one directory holds several collections, `prefix` begins the names of this one's files.
    """

    name: str
    title: str
    page: str
    places: tuple[str, ...]
    layout: str
    n_features: int
    max_label: int
    description: str
    prefix: str = ""

    def directory(self) -> Path | None:
        """Where it lies, or None when it is not here."""
        for candidate in self._candidates():
            try:
                find_folds(candidate, prefix=self.prefix)
            except InputError:
                continue
            return candidate
        return None

    def folds(self) -> Folds:
        """Its folds, or an error that says where to get it and where to put it."""
        directory = self.directory()
        if directory is None:
            raise MissingDataError(
                f"{self.title} is not here: get it from {self.page} and put {self.layout}"
                f" into {data_directory() / self.places[0]} (or set POMONA_DATA to where your data lie)"
            )
        return find_folds(directory, prefix=self.prefix, n_features=self.n_features)

    def _candidates(self) -> Iterator[Path]:
        for place in self.places:
            path = data_directory()
            for name in Path(place).parts:
                path = _in_any_case(path, name)
            yield path


_LETOR = "https://www.microsoft.com/en-us/research/project/letor-learning-rank-information-retrieval/"
_LETOR_3 = f"{_LETOR}letor-3-0/"
_LETOR_4 = f"{_LETOR}letor-4-0/"
_MSLR = "https://www.microsoft.com/en-us/research/project/mslr/"
_YAHOO = "https://webscope.sandbox.yahoo.com/catalog.php?datatype=c"
_ISTELLA = "https://istella.ai/data/"
_FOLDS = "Fold1 … Fold5 (each with train.txt, vali.txt, test.txt) or S1.txt … S5.txt"
_RAW_FOLDS = "Fold1 … Fold5 (each with trainingset.txt, validationset.txt, testset.txt) or S1.txt … S5.txt"
_ONE_FOLD = "train.txt, vali.txt and test.txt"


def _gov(year: int, task: str, goal: str, counts: str) -> Collection:
    return Collection(
        name=f"gov{year}-{task}",
        title=f"{task.upper()}{year} (LETOR 3.0)",
        page=_LETOR_3,
        places=(
            f"Gov-letor3/querylevelnorm/{year}_{task}",
            f"Gov/QueryLevelNorm/{year}_{task}_dataset",
            f"{task.upper()}{year}",
        ),
        layout=_FOLDS,
        n_features=64,
        max_label=1,
        description=f"{goal} in the .gov crawl, TREC {year}: {counts}; normalized per query",
    )


_COLLECTIONS = (
    Collection(
        name="mq2007",
        title="MQ2007 (LETOR 4.0)",
        page=_LETOR_4,
        places=("MQ2007", "LETOR4.0/MQ2007", "MQ2007/MQ2007"),
        layout=_FOLDS,
        n_features=46,
        max_label=2,
        description="TREC million-query track 2007: 1692 queries, 69623 documents; normalized per query",
    ),
    Collection(
        name="mq2008",
        title="MQ2008 (LETOR 4.0)",
        page=_LETOR_4,
        places=("MQ2008", "LETOR4.0/MQ2008", "MQ2008/MQ2008"),
        layout=_FOLDS,
        n_features=46,
        max_label=2,
        description="TREC million-query track 2008: 784 queries, 15211 documents; normalized per query",
    ),
    Collection(
        name="ohsumed",
        title="OHSUMED (LETOR 3.0)",
        page=_LETOR_3,
        places=("OHSUMED-letor3/querylevelnorm", "OHSUMED/QueryLevelNorm", "OHSUMED"),
        layout=_FOLDS,
        n_features=45,
        max_label=2,
        description="medical abstracts: 106 queries, 16140 documents; normalized per query",
    ),
    Collection(
        name="ohsumed-min",
        title="OHSUMED, raw scale, missing values as the query's minimum (LETOR 3.0)",
        page=_LETOR_3,
        places=("OHSUMED-letor3/min", "OHSUMED/Feature-min"),
        layout=_RAW_FOLDS,
        n_features=45,
        max_label=2,
        description="OHSUMED before normalization, missing values filled",
    ),
    Collection(
        name="ohsumed-null",
        title="OHSUMED, raw scale, missing values as NULL (LETOR 3.0)",
        page=_LETOR_3,
        places=("OHSUMED-letor3/null", "OHSUMED/Feature-null"),
        layout=_RAW_FOLDS,
        n_features=45,
        max_label=2,
        description="OHSUMED before normalization, missing values marked",
    ),
    _gov(2003, "td", "topic distillation", "50 queries"),
    _gov(2003, "np", "named-page finding", "150 queries"),
    _gov(2003, "hp", "home-page finding", "150 queries"),
    _gov(2004, "td", "topic distillation", "75 queries"),
    _gov(2004, "np", "named-page finding", "75 queries"),
    _gov(2004, "hp", "home-page finding", "75 queries"),
    Collection(
        name="mslr-subset",
        title="a subset of MSLR-WEB Fold1",
        page=_MSLR,
        places=("MSLR-subset",),
        layout=_ONE_FOLD,
        n_features=136,
        max_label=4,
        description="108 queries of a web search engine, 12319 documents; raw scale",
    ),
    Collection(
        name="mslr-web10k",
        title="MSLR-WEB10K",
        page=_MSLR,
        places=("MSLR-WEB10K",),
        layout=_FOLDS,
        n_features=136,
        max_label=4,
        description="a web search engine: 10000 queries, 1200192 documents; raw scale",
    ),
    Collection(
        name="mslr-web30k",
        title="MSLR-WEB30K",
        page=_MSLR,
        places=("MSLR-WEB30K",),
        layout=_FOLDS,
        n_features=136,
        max_label=4,
        description="a web search engine: 31531 queries, 3771125 documents; raw scale",
    ),
    Collection(
        name="yahoo-set1",
        title="Yahoo! Learning to Rank Challenge, set 1",
        page=_YAHOO,
        places=("ltrc_yahoo", "yahoo", "yahoo-set1"),
        layout="set1.train.txt, set1.valid.txt and set1.test.txt",
        n_features=700,
        max_label=4,
        description="29921 queries, 709877 documents; 519 of 700 feature numbers occur",
        prefix="set1",
    ),
    Collection(
        name="yahoo-set2",
        title="Yahoo! Learning to Rank Challenge, set 2",
        page=_YAHOO,
        places=("ltrc_yahoo", "yahoo", "yahoo-set2"),
        layout="set2.train.txt, set2.valid.txt and set2.test.txt",
        n_features=700,
        max_label=4,
        description="6330 queries, 172870 documents; 596 of 700 feature numbers occur",
        prefix="set2",
    ),
    Collection(
        name="istella",
        title="Istella LETOR",
        page=_ISTELLA,
        places=("istella-letor/full", "istella-letor", "istella", "istella/full"),
        layout="train.txt and test.txt",
        n_features=220,
        max_label=4,
        description="a web search engine: 33018 queries, 10454629 documents; raw scale, no validation part",
    ),
    Collection(
        name="istella-s",
        title="Istella-S LETOR",
        page=_ISTELLA,
        places=("istella-s-letor/sample", "istella-s-letor", "istella-s", "istella-s/sample"),
        layout=_ONE_FOLD,
        n_features=220,
        max_label=4,
        description="Istella with fewer irrelevant documents: 33018 queries, 3408630 documents; raw scale",
    ),
    Collection(
        name="lightgbm-example",
        title="LightGBM's lambdarank example",
        page="https://github.com/microsoft/LightGBM/tree/master/examples/lambdarank",
        places=("lightgbm-lambdarank", "lambdarank"),
        layout="rank.train, rank.train.query, rank.test and rank.test.query",
        n_features=300,
        max_label=4,
        description="251 short queries, 3773 documents, sparse; query sizes in their own files",
    ),
    Collection(
        name="trec-news-2018",
        title="TREC News 2018 entities",
        page="https://trec.nist.gov/data/news2018.html",
        places=("trec-news-2018",),
        layout="trec_news_2018.train and trec_news_2018.test",
        n_features=5,
        max_label=4,
        description="entities of 50 news articles, 823 documents, sparse; a toy with real judgments",
    ),
)

COLLECTIONS = {collection.name: collection for collection in _COLLECTIONS}


def data_directory() -> Path:
    """`POMONA_DATA`, or the place the operating system gives to an application's data."""
    return Path(os.environ.get("POMONA_DATA") or platformdirs.user_data_dir("pomona", appauthor=False))


def available() -> list[tuple[Collection, bool]]:
    """Every collection, and whether it is here."""
    return [(collection, collection.directory() is not None) for collection in _COLLECTIONS]


def load(name: str | Path, fold: int = 1) -> Fold:
    """Training, validation and test data of a collection's fold (from 1), or of a fold directory.

    `valid` is None where a collection has no validation part.
    """
    folds = load_folds(name)
    if not 1 <= fold <= len(folds):
        raise InputError(f"{name} has folds 1 to {len(folds)}, found {fold}")
    return folds[fold - 1]


def load_folds(name: str | Path, *, columns: Mapping[str, Any] | None = None) -> Folds:
    """All folds of a collection or of a directory; each is read when it is asked for.

    `columns` are `label`, `qid` and `doc_id` of the tables in a directory.
    """
    collection = COLLECTIONS.get(str(name).lower())
    if collection is not None:
        return collection.folds()
    if Path(name).is_dir():
        return find_folds(name, columns=columns)
    if Path(name).is_file():
        raise InputError("this is one file, expected a fold directory or a collection's name", name)
    raise UnknownNameError("collection or directory", str(name), COLLECTIONS)


def _in_any_case(parent: Path, name: str) -> Path:
    """The entry of this name, spelt in capitals or not, as archives unpack differently."""
    exact = parent / name
    if exact.exists() or not parent.is_dir():
        return exact
    return next((path for path in sorted(parent.iterdir()) if path.name.lower() == name.lower()), exact)
