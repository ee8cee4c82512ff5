import gzip
import json
import lzma

import numpy as np
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_validate

from pomona.data.dataset import Dataset
from pomona.data.folds import QueryKFold, find_folds, read_part
from pomona.errors import InputError


def line(qid: int, label: int = 1, features: str = "1:0.5 2:1") -> str:
    return f"{label} qid:{qid} {features}\n"


def write(path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".xz":
        path.write_bytes(lzma.compress(text.encode()))
    elif path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)


def qids(fold) -> list:
    return [None if part is None else part.qids.tolist() for part in fold]


@pytest.mark.parametrize(
    "names",
    [
        ("train.txt", "vali.txt", "test.txt"),
        ("trainingset.txt", "validationset.txt", "testset.txt"),
        ("train.txt.xz", "vali.txt.gz", "Test.txt"),
        ("set1.train.txt", "set1.valid.txt", "set1.test.txt"),
        ("rank.train", "rank.dev", "rank.test"),
    ],
)
def test_one_fold_by_the_words_of_the_names(tmp_path, names):
    for qid, name in enumerate(names, start=1):
        write(tmp_path / name, line(qid))
    (tmp_path / "train-notes.md").write_text("not data")
    folds = find_folds(tmp_path)
    assert len(folds) == 1
    assert qids(folds[0]) == [[1], [2], [3]]
    assert list(folds.parts()) == ["train", "valid", "test"]


def test_fold_directories_come_in_the_order_of_their_numbers(tmp_path):
    for number in (10, 2, 1):
        for role, name in enumerate(("train", "vali", "test")):
            write(tmp_path / f"Fold{number}" / f"{name}.txt", line(10 * number + role))
    write(tmp_path / "S1.txt", line(99))
    folds = find_folds(tmp_path)
    assert [qids(fold) for fold in folds] == [[[10 * k], [10 * k + 1], [10 * k + 2]] for k in (1, 2, 10)]
    assert [part.qids.tolist() for part in folds.parts().values()] == [[10], [11], [12]]
    assert len(folds[1:]) == 2


def test_five_parts_rotate_into_five_folds(tmp_path):
    for number in range(1, 6):
        write(tmp_path / f"S{number}.txt.xz", line(number))
    folds = find_folds(tmp_path)
    assert qids(folds[0]) == [[1, 2, 3], [4], [5]]
    assert qids(folds[1]) == [[2, 3, 4], [5], [1]]
    assert qids(folds[4]) == [[5, 1, 2], [3], [4]]
    assert len(folds) == 5
    assert [part.qids.tolist() for part in folds.parts().values()] == [[1], [2], [3], [4], [5]]


def test_a_prefix_picks_one_of_two_sets_and_validation_may_be_absent(tmp_path):
    for number in (1, 2):
        for role in ("train", "test"):
            write(tmp_path / f"set{number}.{role}.txt", line(number))
    assert qids(find_folds(tmp_path, prefix="set2")[0]) == [[2], None, [2]]
    with pytest.raises(InputError, match=r"two test files, set1\.test\.txt and set2\.test\.txt"):
        find_folds(tmp_path)


def test_parts_of_a_sparse_collection_get_the_same_width(tmp_path):
    write(tmp_path / "train.txt", line(1, features="1:1 4:2"))
    write(tmp_path / "test.txt", line(2, features="2:3"))
    folds = find_folds(tmp_path)
    assert folds[0].test.X.tolist() == [[0, 3, 0, 0]]
    assert np.array_equal(
        folds.parts(undefined=np.nan)["test"].X, [[np.nan, 3, np.nan, np.nan]], equal_nan=True
    )


def test_query_sizes_and_feature_names_beside_the_file_are_used(tmp_path):
    write(tmp_path / "rank.train.xz", "1 1:1\n0 1:2\n2 1:3\n")
    write(tmp_path / "rank.train.query", "2\n1\n")
    write(tmp_path / "rank.features.json", json.dumps({"1": "bm25"}))
    data = read_part(tmp_path / "rank.train.xz")
    assert data.query_ptr.tolist() == [0, 2, 3]
    assert data.feature_names == ("bm25",)


def test_a_plain_file_hides_its_compressed_twin(tmp_path):
    for name, qid in (("train.txt", 1), ("train.txt.xz", 9), ("test.txt", 2)):
        write(tmp_path / name, line(qid))
    assert qids(find_folds(tmp_path)[0]) == [[1], None, [2]]


def test_tables_are_parts_too(tmp_path):
    write(tmp_path / "train.csv", "label,qid,x\n1,a,2.5\n")
    write(tmp_path / "test.csv", "label,qid,x\n0,b,3.5\n")
    fold = find_folds(tmp_path)[0]
    assert fold.train.feature_names == ("x",)
    assert fold.test.X.tolist() == [[3.5]]


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(InputError, match="no such directory"):
        find_folds(tmp_path / "nowhere")
    with pytest.raises(InputError, match="no such file"):
        read_part(tmp_path / "nothing.txt")
    write(tmp_path / "train.txt", line(1))
    with pytest.raises(InputError, match=r"no test file; expected train, vali and test"):
        find_folds(tmp_path)


@given(st.lists(st.integers(0, 8), min_size=3, max_size=30), st.integers(2, 3), st.integers(0, 3))
def test_folds_divide_the_rows_by_whole_queries(ids, n_splits, seed):
    ids = np.array([*ids, 100, 101, 102])
    splits = list(QueryKFold(n_splits, seed=seed).split(np.zeros((len(ids), 1)), groups=ids))
    assert sorted(np.concatenate([test for _, test in splits])) == list(range(len(ids)))
    for train, test in splits:
        assert sorted([*train, *test]) == list(range(len(ids)))
        assert not set(ids[train]) & set(ids[test])
    sizes = [len(set(ids[test])) for _, test in splits]
    assert max(sizes) - min(sizes) <= 1


def test_folds_depend_on_ids_and_seed_not_on_the_order_of_rows():
    ids = np.repeat(np.arange(10), 3)
    turned = ids[::-1]
    splitter = QueryKFold(5, seed=4)
    straight = [set(ids[test]) for _, test in splitter.split(ids, groups=ids)]
    assert straight == [set(turned[test]) for _, test in splitter.split(turned, groups=turned)]
    assert straight != [set(ids[test]) for _, test in QueryKFold(5, seed=5).split(ids, groups=ids)]
    ordered = QueryKFold(5, shuffle=False).split(ids, groups=ids)
    assert [set(ids[test]) for _, test in ordered] == [{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}]


def test_queries_and_rows_are_split_alike():
    data = Dataset(np.zeros((12, 1)), np.zeros(12), np.repeat(["d", "b", "a", "c"], 3))
    splitter = QueryKFold(2, seed=1)
    by_rows = [set(data.qid[test]) for _, test in splitter.split(data)]
    by_queries = [set(data.take(test).qids) for _, test in splitter.split_queries(data)]
    assert by_rows == by_queries


def test_impossible_folds_are_refused():
    with pytest.raises(InputError, match="n_splits must be 2 at least"):
        QueryKFold(1)
    with pytest.raises(InputError, match="2 queries cannot be split into 5 folds"):
        next(QueryKFold().split([[0], [0]], groups=[1, 2]))
    with pytest.raises(InputError, match="needs the query ids"):
        next(QueryKFold().split([[0], [0]]))


def test_scikit_learn_takes_it_as_a_splitter():
    rng = np.random.default_rng(0)
    X, qid = rng.random((40, 2)), rng.integers(0, 8, 40)
    y = X[:, 0]
    found = cross_validate(DummyRegressor(), X, y, cv=QueryKFold(4), groups=qid)
    assert len(found["test_score"]) == 4
    search = GridSearchCV(Ridge(), {"alpha": [1e-6, 1e6]}, cv=QueryKFold(3)).fit(X, y, groups=qid)
    assert search.best_params_ == {"alpha": 1e-6}
    assert search.n_splits_ == 3
    with sklearn.config_context(enable_metadata_routing=True):
        routed = cross_validate(DummyRegressor(), X, y, cv=QueryKFold(4), params={"groups": qid})
    assert np.array_equal(routed["test_score"], found["test_score"])


def test_it_prints_its_settings():
    assert repr(QueryKFold(3, seed=2)) == "QueryKFold(n_splits=3, shuffle=True, seed=2)"
