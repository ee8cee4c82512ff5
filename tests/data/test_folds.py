import gzip
import lzma

import numpy as np
import pytest

from pomona import read_letor
from pomona.data import letor
from pomona.data.folds import find_folds
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
    write(tmp_path / "train.txt", line(1))
    with pytest.raises(InputError, match=r"no test file; expected train, vali and test"):
        find_folds(tmp_path)


def test_the_parts_of_folds_are_what_the_files_read_together_are(tmp_path):
    for number, text in enumerate(
        ("1 qid:1 1:1 # d1\n0 qid:2 2:1\n2 qid:1 1:3\n", line(3), "0 qid:2 4:4 # d2\n", line(7), line(8)), 1
    ):
        write(tmp_path / f"S{number}.txt", text)
    with pytest.warns(UserWarning, match=r"query 2 stands in .*S1\.txt and in .*S3\.txt"):
        train = find_folds(tmp_path)[0].train
    with pytest.warns(UserWarning, match=r"query 2 stands in .*S1\.txt and in .*S3\.txt"):
        together = read_letor([tmp_path / f"S{number}.txt" for number in (1, 2, 3)])
    for name in ("X", "y", "query_lengths", "qids", "input_order"):
        assert getattr(train, name).tolist() == getattr(together, name).tolist(), name
    assert list(train.doc_ids) == list(together.doc_ids)
    assert list(train.comments) == list(together.comments)
    assert (train.n_undefined, train.feature_names) == (together.n_undefined, together.feature_names)


def test_each_file_is_parsed_once(tmp_path, monkeypatch):
    monkeypatch.setenv("POMONA_CACHE", str(tmp_path / "cache"))
    parsed = []
    parse = letor._parse
    monkeypatch.setattr(letor, "_parse", lambda files, *more: parsed.append(files) or parse(files, *more))
    for number in range(1, 6):
        write(tmp_path / "data" / f"S{number}.txt", line(number))
    folds = find_folds(tmp_path / "data")
    assert [qids(fold)[2] for fold in folds] == [[5], [1], [2], [3], [4]]
    assert len(folds.parts()) == 5
    assert len(parsed) == 5


def test_five_parts_may_be_compressed_tables(tmp_path):
    for number in range(1, 6):
        write(tmp_path / f"S{number}.csv.gz", f"label,qid,x\n1,{number},{number}\n")
    assert qids(find_folds(tmp_path)[1]) == [[2, 3, 4], [5], [1]]


def test_tables_have_the_columns_that_are_named_and_the_same_features(tmp_path):
    write(tmp_path / "train.csv", "grade,query,x\n1,a,2.5\n")
    write(tmp_path / "test.csv.gz", "grade,query,x\n0,b,3.5\n")
    fold = find_folds(tmp_path, columns={"label": "grade", "qid": "query"})[0]
    assert fold.test.X.tolist() == [[3.5]]
    write(tmp_path / "test.csv.gz", "grade,query,z\n0,b,3.5\n")
    with pytest.raises(InputError, match=r"test data beside the train data: .*missing: x; not expected: z"):
        find_folds(tmp_path, columns={"label": "grade", "qid": "query"})[0]
