import dataclasses
import json
import pickle

import numpy as np
import pytest

import pomona as pm
from pomona.data.folds import Fold
from pomona.errors import PomonaError
from pomona.experiments.data_spec import DataSpec, Files, Simulated
from pomona.experiments.source import (
    DataFacts,
    at_hand,
    cut,
    dataset_digest,
    digest,
    examine,
    fold_sources,
)

TOY = Simulated(queries=20, docs_per_query=6, features=4, seed=2)


def write(path, data):
    pm.write_letor(data, path)
    return str(path)


@pytest.fixture
def halves(tmp_path):
    data = pm.simulate(20, docs_per_query=6, n_features=4, seed=2)
    first, second = data.take(np.arange(12)), data.take(np.arange(12, 20))
    return write(tmp_path / "a.txt", first), write(tmp_path / "b.txt", second)


def queries(data):
    return set(data.qids.tolist())


def test_a_whole_is_cut_by_queries_and_each_is_tested_once():
    folds = [source.load() for source in fold_sources(DataSpec("toy", TOY), 4)]
    assert len(folds) == 4
    assert [fold.test.n_queries for fold in folds] == [5] * 4
    assert set.union(*(queries(fold.test) for fold in folds)) == set(range(1, 21))
    for train, valid, test in folds:
        assert (train.n_queries, valid.n_queries) == (12, 3)  # a fifth of 15
        assert not queries(train) & queries(valid)
        assert not (queries(train) | queries(valid)) & queries(test)


def test_a_single_file_is_cut_the_same_way(tmp_path):
    path = write(tmp_path / "all.txt", pm.simulate(20, docs_per_query=6, n_features=4, seed=2))
    from_file = fold_sources(DataSpec("x", path), 4)[1].load()
    simulated = fold_sources(DataSpec("toy", TOY), 4)[1].load()
    assert from_file.test.qids.tolist() == simulated.test.qids.tolist()
    assert from_file.train.qids.tolist() == simulated.train.qids.tolist()


@pytest.mark.parametrize("more", [{}, {"drop_empty": True}, {"split": (0.5, 0.25, 0.25)}])
def test_rows_of_a_query_may_lie_apart(tmp_path, more):
    table = ["label,qid,a,b", *(f"{row % 3},{row % 8},{row},{row % 5}" for row in range(48))]
    together = [table[0], *sorted(table[1:], key=lambda line: int(line.split(",")[1]))]
    found = []
    for lines in (table, together):
        (tmp_path / "f.csv").write_text("\n".join(lines))
        sources = fold_sources(DataSpec("f", str(tmp_path / "f.csv"), **more), 2)
        parts = [part for source in sources for part in source.load()]
        found.append([(part.qids.tolist(), part.X.tolist(), part.y.tolist()) for part in parts])
    assert found[0] == found[1]


def test_cut_depends_on_the_seed_alone():
    data = pm.simulate(20, docs_per_query=3, n_features=2)
    turned = data.take(np.arange(20)[::-1])
    assert queries(cut(data, 1)[1]) == queries(cut(turned, 1)[1])
    assert queries(cut(data, 1)[1]) == queries(cut(data, 1)[1]) != queries(cut(data, 2)[1])
    with pytest.raises(PomonaError, match="single query cannot be cut"):
        cut(data.take([0]), 0)


def test_published_folds_and_which_of_them(tmp_path):
    for k in range(1, 6):
        write(tmp_path / f"S{k}.txt", pm.simulate(3, docs_per_query=4, n_features=3, seed=k))
    every = fold_sources(DataSpec("x", str(tmp_path)), 9)
    assert [source.fold for source in every] == [1, 2, 3, 4, 5]
    with pytest.warns(UserWarning, match="stands in .* taken as one query"):
        assert every[0].load().train.n_queries == 3  # the ids start anew in each part
    chosen = fold_sources(DataSpec("x", str(tmp_path), folds=(2, 5)), 9)
    assert [source.fold for source in chosen] == [2, 5]
    with pytest.raises(PomonaError, match="dataset x has folds 1 to 5, found 6"):
        fold_sources(DataSpec("x", str(tmp_path), folds=(6,)), 9)


def test_files(halves):
    a, b = halves
    (source,) = fold_sources(DataSpec("x", Files(a, b)), 5)
    train, valid, test = source.load()
    assert (train.n_queries, valid, test.n_queries) == (12, None, 8)
    assert fold_sources(DataSpec("x", Files(a, b, b)), 5)[0].load().valid.n_queries == 8


def test_tables_by_their_columns(tmp_path):
    for name, columns in (
        ("a", "grade,query,url,f,g"),
        ("b", "grade,query,url,f,g"),
        ("c", "grade,query,url,g,f"),
    ):
        rows = "\n".join(f"{i % 2},{name}{i // 3},u{i},{i},{-i}" for i in range(9))
        (tmp_path / f"{name}.csv").write_text(f"{columns}\n{rows}\n")
    a, b, c = (str(tmp_path / f"{name}.csv") for name in "abc")
    columns = {"label": "grade", "qid": "query", "doc_id": "url"}
    fold = fold_sources(DataSpec("x", Files(a, b), **columns), 5)[0].load()
    assert fold.train.feature_names == ("f", "g")
    assert list(fold.test.doc_ids)[:2] == ["u0", "u1"]
    turned = fold_sources(DataSpec("x", Files(a, c), **columns), 5)[0].load()
    assert turned.test.feature_names == ("f", "g")
    assert (fold.test.X[:, ::-1] == turned.test.X).all()
    with pytest.raises(PomonaError, match="'label'"):
        fold_sources(DataSpec("x", Files(a, b)), 5)[0].load()
    (tmp_path / "d.csv").write_text("grade,query,url,f\n1,1,x,1\n")
    with pytest.raises(PomonaError, match="missing: g"):
        fold_sources(DataSpec("x", Files(a, str(tmp_path / "d.csv")), **columns), 5)[0].load()


def test_a_digest_sees_every_change():
    data = pm.simulate(6, docs_per_query=4, n_features=3)
    fold = Fold(data.take([0, 1]), data.take([2]), data.take([3, 4]))
    other_label, other_value = fold.test.y.copy(), fold.test.X.copy()
    other_label[0] += 1
    other_value[-1, -1] += 1
    changed = [
        Fold(fold.train, None, fold.test),
        Fold(fold.valid, fold.train, fold.test),
        Fold(fold.train, fold.valid, fold.test.replace(y=other_label)),
        Fold(fold.train, fold.valid, fold.test.replace(X=other_value)),
        Fold(fold.train, fold.valid, data.take([4, 3])),
    ]
    assert len({digest(one) for one in (fold, *changed)}) == 6
    assert digest(
        Fold(*(None if part is None else part.take(np.arange(part.n_queries)) for part in fold))
    ) == digest(fold)


def test_the_same_query_in_train_and_test_is_refused(halves, make_spec):
    a, b = halves
    for source in (Files(a, a), Files(b, a, valid=a)):
        part = "train" if source.train == a else "valid"
        with pytest.raises(PomonaError, match=f"dataset x, fold 1: query 1 stands in {part} and in test"):
            examine(make_spec(), DataSpec("x", source), {})


def test_an_id_may_come_again_with_other_documents(tmp_path, make_spec):
    a, b = (
        write(tmp_path / f"{seed}.txt", pm.simulate(5, docs_per_query=5, n_features=3, seed=seed))
        for seed in (1, 2)
    )
    _, facts = examine(make_spec(), DataSpec("x", Files(a, b)), {})
    assert "same query id in two parts" in dict(facts.warnings)


def test_labels_that_a_measure_does_not_take_are_refused_before_training(tmp_path, make_spec):
    data = pm.simulate(8, docs_per_query=5, n_features=3)
    path = write(tmp_path / "half.txt", data.replace(y=data.y + np.float32(0.5)))
    spec = make_spec(measures=["ndcg(gain=0/1/2/3/4)@3"])
    with pytest.raises(PomonaError, match=r"dataset x, fold 1, test: label .* is not an integer"):
        examine(spec, DataSpec("x", path), {})


def test_facts_of_data_are_not_made_twice(make_spec, monkeypatch):
    spec = make_spec()
    sources, facts = examine(spec, spec.datasets[0], {})
    assert [source.fold for source in sources] == [1, 2]
    assert facts.statistics["queries"] == 24
    assert facts.largest_bytes == max(source.load().train.X.nbytes for source in sources)
    again = DataFacts.of_json(json.loads(json.dumps(dataclasses.asdict(facts))))
    assert again == facts
    monkeypatch.setattr("pomona.experiments.source.audit", lambda parts: pytest.fail("audited again"))
    assert examine(spec, spec.datasets[0], {dataset_digest(again.digests): again})[1] == facts


def test_an_audit_is_one_line_a_kind(tmp_path, make_spec):
    rows = [f"{label} qid:{query} 1:{i}" for query in range(9) for i, label in enumerate((0, 0))]
    rows += [f"{label} qid:9 1:{i}" for i, label in enumerate((0, 1))]
    (tmp_path / "all.txt").write_text("\n".join(rows) + "\n")
    _, facts = examine(make_spec(), DataSpec("x", str(tmp_path / "all.txt")), {})
    assert facts.statistics["empty_queries"] == 9
    assert dict(facts.warnings)["empty query"].startswith("9 queries: no document is relevant")


def collection(folder, seeds, n_queries=3):
    folder.mkdir()
    for k, seed in enumerate(seeds, 1):
        data = pm.simulate(n_queries, docs_per_query=4, n_features=3, seed=seed)
        write(folder / f"S{k}.txt", pm.Dataset(data.X, data.y, data.qid + 100 * seed))
    return str(folder)


def test_collections_are_joined_fold_by_fold(tmp_path, make_spec):
    a, b = collection(tmp_path / "a", range(1, 6)), collection(tmp_path / "b", range(6, 11), 2)
    joined = fold_sources(DataSpec("x", (a, b)), 9)
    for one, two, both in zip(*(fold_sources(DataSpec("x", of), 9) for of in (a, b)), joined, strict=True):
        for first, second, part in zip(one.load(), two.load(), both.load(), strict=True):
            assert part.qids.tolist() == [*first.qids.tolist(), *second.qids.tolist()]
            np.testing.assert_array_equal(part.X, np.concatenate([first.X, second.X]))
    assert len(examine(make_spec(), DataSpec("x", (a, b)), {})[1].digests) == 5
    with pytest.raises(PomonaError, match="dataset x: query 101 stands in both of the collections"):
        examine(make_spec(), DataSpec("x", (a, collection(tmp_path / "c", range(1, 6)))), {})
    (tmp_path / "d").mkdir()
    for name in ("train", "test"):
        write(tmp_path / "d" / f"{name}.txt", pm.simulate(2, docs_per_query=4, n_features=3))
    with pytest.raises(PomonaError, match="only equal numbers of folds can be joined, found 5, 1"):
        fold_sources(DataSpec("x", (a, str(tmp_path / "d"))), 9)


def test_queries_without_a_relevant_document_can_be_left_out(tmp_path, make_spec):
    data = pm.simulate(20, docs_per_query=6, n_features=4, seed=2)
    y = data.y.copy()
    y[: data.query_ptr[7]] = 0
    path = write(tmp_path / "a.txt", data.replace(y=y))
    spec = DataSpec("x", path, drop_empty=True)
    folds = [source.load() for source in fold_sources(spec, 4)]
    answered = {q for q in range(1, 21) if y[data.query_ptr[q - 1] : data.query_ptr[q]].any()}
    assert set.union(*(queries(fold.test) for fold in folds)) == answered
    assert queries(folds[0].train) | queries(folds[0].valid) | queries(folds[0].test) == answered
    facts = examine(make_spec(), spec, {})[1]
    assert (facts.statistics["empty_queries"], facts.statistics["queries"]) == (0, len(answered))
    assert fold_sources(DataSpec("x", Files(path, path), drop_empty=True), 4)[0].load().valid is None


def test_variants_of_a_dataset(make_spec):
    each = {"train_fraction": [0.5, 1.0], "label_noise": [0.0, 0.2]}
    data = DataSpec("toy", TOY, each=each, draw=(0, 1))
    sources, facts = examine(make_spec(), data, {})
    assert len(sources) == 2 * 7  # folds × (three that are drawn twice, and the complete data)
    assert {fold: one["digest"] for fold, one in facts.variants["toy"].items()} == facts.digests
    digests = [one["digest"] for folds in facts.variants.values() for one in folds.values()]
    assert len(set(digests)) == len(digests)
    sent = pickle.loads(pickle.dumps(sources))  # as another machine gets them
    assert sent == sources
    for source in sent:
        fold, found = source.load_with_digest()
        known = facts.variants[source.dataset][source.fold]
        assert found == known["digest"]
        assert fold.train.n_queries == known["n_train_queries"]
        assert ("pairs_turned" in known) == (source.variation.label_noise > 0)
    again = DataFacts.of_json(json.loads(json.dumps(dataclasses.asdict(facts))))
    assert again.variants == facts.variants


def test_validation_queries_are_cut_before_anything_is_varied(halves, make_spec):
    data = DataSpec("x", Files(*halves), each={"train_fraction": [0.5, 1.0], "label_noise": [0.0, 0.5]})
    sources, _ = examine(make_spec(), data, {})
    folds = [source.load() for source in sources]
    assert {tuple(fold.valid.qids.tolist()) for fold in folds} == {tuple(folds[0].valid.qids.tolist())}
    assert [fold.train.n_queries for fold in folds] == [5, 5, 10, 10]
    plain = fold_sources(DataSpec("x", Files(*halves)), 5)[0].load()
    assert plain.valid is None


def test_a_variant_that_the_data_do_not_allow(make_spec):
    with pytest.raises(
        PomonaError, match=r"dataset toy n_features=9, fold 1: found n_features = 9, the data have 4"
    ):
        examine(make_spec(), DataSpec("toy", TOY, each={"n_features": [9]}), {})


def test_the_shares_of_a_split():
    folds = [source.load() for source in fold_sources(DataSpec("toy", TOY, split=(0.6, 0.2, 0.2)), 3)]
    assert [tuple(part.n_queries for part in fold) for fold in folds] == [(12, 4, 4)] * 5
    assert set.union(*(queries(fold.test) for fold in folds)) == set(range(1, 21))  # each is tested once
    for train, valid, test in folds:
        assert queries(train) | queries(valid) | queries(test) == set(range(1, 21))
        assert not queries(train) & queries(valid)
    assert len({frozenset(queries(fold.valid)) for fold in folds}) > 1  # drawn anew for each fold


def test_a_split_without_validation_queries():
    sources = fold_sources(DataSpec("toy", TOY, split=(0.7, 0.3), folds=(1, 3)), 5)
    folds = [source.load() for source in sources]
    assert [source.fold for source in sources] == [1, 3]
    assert [(fold.train.n_queries, fold.valid, fold.test.n_queries) for fold in folds] == [(14, None, 6)] * 2
    assert not queries(folds[0].test) & queries(folds[1].test)
    with pytest.raises(PomonaError, match="folds 1 to 3, found 4"):
        fold_sources(DataSpec("toy", TOY, split=(0.7, 0.3), folds=(4,)), 5)


def test_published_folds_are_cut_anew(tmp_path):
    for k in range(1, 6):
        part = pm.simulate(4, docs_per_query=4, n_features=3, seed=k)
        write(tmp_path / f"S{k}.txt", pm.Dataset(part.X, part.y, part.qid + 100 * k))
    spec = DataSpec("x", str(tmp_path), split=(0.8, 0.2))
    folds = [source.load() for source in fold_sources(spec, 9)]
    assert [(fold.train.n_queries, fold.test.n_queries) for fold in folds] == [(16, 4)] * 5
    published = fold_sources(DataSpec("x", str(tmp_path)), 9)[0].load()
    every = set().union(*map(queries, published))
    assert set.union(*(queries(fold.test) for fold in folds)) == every
    assert queries(folds[0].test) != queries(published.test)
    # The order of the rows does not count.
    for path in tmp_path.glob("S*.txt"):
        path.write_text("".join(sorted(path.read_text().splitlines(keepends=True), reverse=True)))
    again = fold_sources(spec, 9)[0].load()
    assert queries(again.test) == queries(folds[0].test)


def test_a_split_of_too_few_queries():
    few = Simulated(queries=3, docs_per_query=4, features=2)
    (source, *_) = fold_sources(DataSpec("few", few, split=(0.8, 0.1, 0.1)), 5)
    with pytest.raises(PomonaError, match=r"few: 3 queries are too few for the shares 0.8, 0.1, 0.1"):
        source.load()


def test_an_optional_dataset_that_is_not_here_is_left_out(make_spec, tmp_path, monkeypatch):
    monkeypatch.setenv("POMONA_DATA", str(tmp_path))
    spec = make_spec()
    absent = DataSpec("the big one", "mslr-web10k", optional=True)
    both = dataclasses.replace(spec, datasets=(*spec.datasets, absent))
    here, left_out = at_hand(both)
    assert here == spec
    assert "is not here: get it from" in left_out["the big one"]
    assert at_hand(spec) == (spec, {})
    nowhere = DataSpec("lost", str(tmp_path / "nowhere"), optional=True)
    told = at_hand(dataclasses.replace(both, datasets=(*spec.datasets, nowhere)))[1]["lost"]
    assert "no such file or directory" in told
    # What is here and cannot be read is no absence.
    (tmp_path / "broken").mkdir()
    broken = DataSpec("broken", str(tmp_path / "broken"), optional=True)
    assert at_hand(dataclasses.replace(spec, datasets=(broken,)))[1] == {}
    with pytest.raises(PomonaError, match="no train and no test file"):
        fold_sources(broken, 5)
    with pytest.raises(PomonaError, match=r"every dataset is optional and left out: .* is not here"):
        at_hand(dataclasses.replace(spec, datasets=(absent,)))
