"""The examples run: every spec of examples/papers on little simulated data, in sizes cut to the least."""

import dataclasses
import importlib.util
import shutil
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import pomona as pm
from pomona._jit import threads
from pomona.experiments.compare import compare
from pomona.experiments.data_spec import Simulated
from pomona.experiments.findings import find
from pomona.experiments.spec import SearchSpec, ranker_class, read_spec
from pomona.rankers.loading import load_model

ROOT = Path(__file__).parents[1]
PAPERS = ROOT / "examples" / "papers"
SPECS = sorted(path.stem for path in PAPERS.glob("*.toml"))
MOST_ROWS = 40
LEAST = {"n_trees": 2, "n_rounds": 2, "n_epochs": 1, "n_restarts": 1, "max_iterations": 2, "n_folds": 2}


@pytest.fixture(scope="module")
def collections(tmp_path_factory):
    """A data directory in which every collection of the specs lies, a few queries each."""
    root = tmp_path_factory.mktemp("data")

    def write(path, seed, max_label):
        data = pm.simulate(6, docs_per_query=8, n_features=5, seed=seed)
        path.parent.mkdir(parents=True, exist_ok=True)
        ids = [f"{seed}-{row}" for row in range(data.n_docs)]  # by which trec_eval breaks ties
        labels, qid = np.minimum(data.y, max_label), data.qid + 100 * seed
        pm.write_letor(pm.Dataset(data.X, labels, qid, doc_ids=ids), path)

    for number, place in enumerate(("MQ2007", "MQ2008", "OHSUMED-letor3/querylevelnorm")):
        for k in range(1, 6):
            write(root / place / f"S{k}.txt", 10 * number + k, 2)
    for number, (place, max_label) in enumerate((("MSLR-WEB10K", 4), ("WCL2R", 3)), 6):
        for k in range(1, 6):
            write(root / place / f"S{k}.txt", 10 * number + k, max_label)
    for number, place in enumerate(("MSLR-subset", "lightgbm-lambdarank", "trec-news-2018"), 3):
        for k, part in enumerate(("train", "vali", "test")):
            write(root / place / f"{part}.txt", 10 * number + k, 4)
    return root


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(autouse=True)
def quickly(monkeypatch, collections, in_process):
    """Runs in this process, which need no rehearsal, on the data of here."""
    monkeypatch.setattr("pomona.experiments.compare._rehearse", lambda *_: {})
    monkeypatch.setenv("POMONA_DATA", str(collections))
    with threads(1):  # threads of several libraries get in each other's way
        yield


def cut_down(spec):
    """The spec with everything in it that says how much made little."""
    little = Simulated(queries=20, features=5, docs_per_query=8.0)
    datasets = [
        dataclasses.replace(
            data,
            folds=(1,),
            source=little if isinstance(data.source, Simulated) else data.source,
            each={key: values[-2:] for key, values in data.each.items()},
            draw=data.draw[:1],
        )
        for data in spec.datasets
    ]
    rankers = []
    # Of rows that differ in a parameter on purpose, some tell whether the others would run.
    varied = [row.label for row in spec.rankers if row.varied]
    left_out = set(varied[3:-3]) - {spec.baseline} if len(varied) >= MOST_ROWS else set()
    for row in (row for row in spec.rankers if row.label not in left_out):
        known = ranker_class(row.ranker)().get_params()
        least = {name: value for name, value in LEAST.items() if name in known}
        rankers.append(dataclasses.replace(row, parameters={**row.parameters, **least}))
    return dataclasses.replace(
        spec,
        datasets=tuple(datasets[:2]),
        rankers=tuple(rankers),
        seeds=(0,),
        search=None if spec.search is None else SearchSpec(n_trials=1),
    )


@pytest.mark.parametrize("name", SPECS)
def test_a_spec_runs(name, runs):
    spec = read_spec(PAPERS / f"{name}.toml")
    results = compare(cut_down(spec), runs / name)
    assert results.runs.filter(state="failed")["reason"].to_list() == []
    assert set(results.runs["ranker"]) >= {row.label for row in cut_down(spec).rankers}


def test_the_pages_are_made_of_them_and_keep_their_sentences(runs, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(PAPERS / "pages")
    pages = _module(PAPERS / "pages" / "__main__.py")
    monkeypatch.setattr("common.find", partial(find, n_resamples=100))
    monkeypatch.setattr("brute_force.N_ANGLES", 72)
    shutil.copytree(ROOT / "docs" / "results", tmp_path / "results")
    before = {page.name: page.read_text() for page in (tmp_path / "results").glob("*.md")}
    assert before.keys() >= {"busa-fekete.md", "thesis.md", "yilmaz-robertson.md", "winning.md", "peers.md"}
    assert pages.write_pages(runs, tmp_path / "results") == []
    for name, text in before.items():
        after = (tmp_path / "results" / name).read_text()
        for part in pages.PARTS:
            assert f"<!-- {part} -->" in "".join(before.values())
            assert f"<!-- {part} -->\n<!-- end -->" not in after
        assert pages.without_parts(after) == pages.without_parts(text)
    marked = (tmp_path / "results" / "thesis.md").read_text()
    assert "| IdealRanker | 0.8407 |" in marked
    used = sorted({source for source, _ in pages.PARTS.values()})
    assert pages.write_pages(tmp_path / "none", tmp_path / "results") == used
    assert set(SPECS) - set(used) <= {"thesis_mslr10k", "thesis_wcl2r"}  # whose data few have
    assert (tmp_path / "results" / "thesis.md").read_text() == marked


def test_pages_name_the_commits_of_their_numbers(monkeypatch):
    monkeypatch.syspath_prepend(PAPERS / "pages")
    pages = _module(PAPERS / "pages" / "__main__.py")
    made = (
        "Commits at which the numbers were made: `one` at 1111111 (2026-01-01), `two` at 2222222 (2026-01-02)"
    )
    text = f"# T\n\n<!-- commits -->\n{made}\n\nSince then: much.\n<!-- end -->\n\nWords.\n"
    assert pages.with_commits(text, set(), "3333333 (2026-01-03)") == text
    one = pages.with_commits(text, {"one"}, "3333333 (2026-01-03)")
    assert "`one` at 3333333 (2026-01-03), `two` at 2222222 (2026-01-02)\n\nSince then: much.\n" in one
    both = pages.with_commits(one, {"one", "two", "new"}, "4444444 (2026-01-04)")
    told = ", ".join(f"`{name}` at 4444444 (2026-01-04)" for name in ("one", "two", "new"))
    assert both == f"# T\n\n<!-- commits -->\n{made.partition(':')[0]}: {told}\n<!-- end -->\n\nWords.\n"


@pytest.mark.parametrize("peer", ["LightGBM", "XGBoost", "CatBoost", "YDF"])
def test_a_peer_is_a_ranker(peer, tmp_path):
    pytest.importorskip(peer.lower())
    path = ROOT / "examples" / "rankers" / f"{peer.lower()}_ranker.py"
    cls = ranker_class(f"{path}:{peer}Ranker")
    train, valid, test = pm.simulate(60, docs_per_query=15, n_features=8, seed=1).split([0.6, 0.2, 0.2])
    ranker = cls(n_trees=30).fit(train, valid=valid)
    scores = ranker.predict(test)
    assert 1 <= ranker.best_iteration_ <= 30
    assert ranker.score(test) > 0.05 + pm.RandomRanker().fit(train).score(test)
    np.testing.assert_array_equal(cls(n_trees=30).fit(train, valid=valid).predict(test), scores)
    assert cls(n_trees=3).fit(train).best_iteration_ == 3
    ranker.save(tmp_path / "m.pomona")
    np.testing.assert_array_equal(load_model(tmp_path / "m.pomona", cls).predict(test), scores)
    weighted = cls(n_trees=30).fit(train, sample_weight=np.linspace(0.1, 9, train.n_docs))
    assert not np.array_equal(weighted.predict(test), cls(n_trees=30).fit(train).predict(test))
    assert cls.search_space.keys() <= ranker.get_params().keys()


def _module(path):
    found = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module
