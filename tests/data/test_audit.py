import json

import numpy as np
import pytest

from pomona._jit import threads
from pomona.data.audit import LONGEST_QUERY, audit
from pomona.data.dataset import Dataset
from pomona.errors import InputError

# Hashes wrap around on purpose; with the kernels' compilation switched off, numpy says so.
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered in scalar")

nan, inf = np.nan, np.inf


def found(parts, check):
    return [finding for finding in audit(parts) if finding.check == check]


def one(parts, check):
    (finding,) = found(parts, check)
    return finding


def test_data_without_features_are_audited():
    findings = audit(Dataset(np.empty((3, 0)), [0, 1, 0], [7, 7, 9]))
    assert {"empty query", "conflicting labels"} <= {finding.check for finding in findings}


def clean(seed: int = 0, first_query: int = 1) -> Dataset:
    """Ten queries of five documents in which nothing is odd."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(first_query, first_query + 10), 5)
    return Dataset(rng.random((50, 3)), np.tile([0, 2, 0, 1, 1], 10), qid)


def test_clean_data_have_only_their_label_levels_to_note():
    findings = audit({"train": clean(0), "test": clean(1, first_query=11)})
    assert {finding.check for finding in findings} == {"label levels"}
    assert (
        findings[0].examples[0].detail
        == "label 0: 20 documents, label 1: 20 documents, label 2: 10 documents"
    )


def test_queries_without_information():
    data = Dataset(np.arange(9.0)[:, None], [0, 0, 1, 2, 2, 0, 1, 2, 0], [1, 1, 2, 3, 3, 4, 4, 4, 5])
    empty = one(data, "empty query")
    assert (empty.severity, empty.count, empty.amount) == ("warning", 2, "2 queries")
    assert [(example.query, example.row) for example in empty.examples] == [("1", 1), ("5", 9)]
    assert one(data, "one-document query").count == 2
    same = one(data, "one label in a query")
    assert (same.count, same.examples[0].query, same.amount) == (1, "3", "1 query")


def test_documents_that_nobody_judged():
    X, qid = np.array([1.0, 2, 3, 4, 5, 6, 7, 7, 7])[:, None], [1, 1, 1, 2, 2, 3, 4, 4, 4]
    data = Dataset(X, [0, 1, nan, nan, nan, 0, nan, nan, 2], qid)
    unjudged = one(data, "not judged")
    assert (unjudged.severity, unjudged.count, unjudged.unit) == ("note", 5, "documents")
    assert [(example.query, example.row) for example in unjudged.examples] == [("1", 3), ("2", 4), ("2", 5)]
    nobody = one(data, "query without a label")
    assert (nobody.severity, [example.query for example in nobody.examples]) == ("warning", ["2"])
    assert [example.query for example in one(data, "empty query").examples] == ["3"]
    assert one(data, "identical rows").count == 1  # the two of query 4 that nobody judged
    for check in ("fractional label", "negative label", "conflicting labels"):
        assert not found(data, check)
    assert "label 0: 2 documents, label 1: 1 documents" in one(data, "label levels").examples[0].detail
    none = audit(Dataset(X[:2], [nan, nan], [1, 1]))
    assert [(finding.check, finding.severity) for finding in none] == [("no label", "error")]


def test_a_query_of_tens_of_thousands_of_documents():
    n = LONGEST_QUERY + 1
    labels, qid = np.arange(n + 5) % 2, np.append(np.full(n, 7), np.full(5, 8))
    data = Dataset(np.random.default_rng(0).random((n + 5, 1)), labels, qid)
    found = one(data, "very long query")
    assert (found.severity, found.count, found.examples[0].query) == ("warning", 1, "7")
    assert found.examples[0].detail == f"{n} documents"
    assert not any(finding.check == "very long query" for finding in audit(data.take([1])))


def test_rows_are_told_as_they_stood_in_the_input():
    data = Dataset([[1.0], [2.0], [1.0], [3.0]], [0, 1, 2, 0], [8, 9, 8, 9])
    conflict = one(data, "conflicting labels").examples[0]
    assert (conflict.query, conflict.row, conflict.detail) == ("8", 3, "label 2, but 0 in row 1")
    assert str(conflict) == "query 8, row 3: label 2, but 0 in row 1"


def test_rows_repeat_only_within_a_query():
    data = Dataset([[1, nan], [1, nan], [-0.0, 1], [0.0, 1], [1, nan]], [0, 1, 2, 2, 1], [1, 1, 1, 1, 2])
    assert one(data, "conflicting labels").count == 1
    assert one(data, "identical rows").count == 1  # 0 and −0 are one value


def test_labels():
    assert one(Dataset([[1.0], [2.0]], [1, 1], [1, 1]), "one label level").severity == "error"
    with pytest.warns(UserWarning, match="below 0"):
        odd = Dataset([[1.0], [2.0], [3.0]], [-1, 0.5, 2], [1, 1, 1])
    assert one(odd, "negative label").severity == "error"
    assert one(odd, "fractional label").examples[0].detail == "label 0.5"


def test_features():
    X = [[1, 7, 1, 3, 1, nan], [2, 7, 2, 3, 2, nan], [3, 7, 3, 4, 3, nan], [4, 7, 4, 4, 5, nan]]
    data = Dataset(X, [0, 1, 0, 1], [1, 1, 2, 2])
    constant = one(data, "constant feature")
    assert [example.detail for example in constant.examples] == [
        "feature f2 is 7 everywhere",
        "feature f6 is undefined everywhere",
    ]
    assert one(data, "feature constant in each query").examples[0].detail == "feature f4"
    twins = one(data, "duplicated feature")
    assert (twins.count, twins.examples[0].detail) == (1, "feature f3 equals f1")


def test_a_feature_must_be_constant_in_all_parts():
    train = Dataset([[1.0, 5.0], [1.0, 6.0]], [0, 1], [1, 1])
    same, other = (Dataset([[value, 5.0], [value, 7.0]], [0, 1], [2, 2]) for value in (1.0, 2.0))
    assert one({"train": train, "test": same}, "constant feature").part == "all"
    assert not found({"train": train, "test": other}, "constant feature")
    assert one({"train": train, "test": other}, "feature constant in each query").count == 1


def test_undefined_and_infinite_values():
    data = Dataset([[nan, 1], [2, inf], [nan, -inf]], [0, 1, 0], [1, 1, 1])
    undefined, infinite = one(data, "undefined value"), one(data, "infinite value")
    assert (undefined.severity, undefined.count) == ("note", 2)
    assert (infinite.severity, infinite.count) == ("error", 2)
    assert (infinite.examples[0].row, infinite.examples[0].detail) == (2, "feature f2, 2 such values")


def test_the_same_documents_in_two_parts_are_a_leak_whatever_the_id_and_order():
    train, test = clean(0), clean(1, first_query=11)
    copied = Dataset(
        np.vstack([test.X, train.X[5:10][::-1]]),
        np.append(test.y, train.y[5:10][::-1]),
        np.append(test.qid, np.full(5, 99)),
    )
    leak = one({"train": train, "test": copied}, "same query in two parts")
    assert (leak.severity, leak.count, leak.part) == ("error", 1, "train and test")
    assert str(leak.examples[0]) == "query 99, row 51: in test, its documents are those of query 2 in train"
    assert audit({"train": train, "test": copied})[0] == leak


def test_an_id_that_starts_anew_is_only_a_warning():
    reused = one({"train": clean(0), "test": clean(1)}, "same query id in two parts")
    assert (reused.severity, reused.count) == ("warning", 10)


def test_one_document_queries_are_no_leak_unless_the_id_agrees():
    train = Dataset([[0.0], [1.0], [2.0]], [1, 0, 1], [1, 2, 2])
    assert not found({"train": train, "test": Dataset([[0.0]], [1], [7])}, "same query in two parts")
    assert one({"train": train, "test": Dataset([[0.0]], [1], [1])}, "same query in two parts").count == 1


def test_a_query_twice_in_one_part():
    data = Dataset([[1.0], [2.0], [2.0], [1.0]], [0, 1, 1, 0], [1, 1, 2, 2])
    assert str(one(data, "same query twice").examples[0]) == "query 2, row 3: same documents as query 1"


def test_document_ids_repeat_only_within_a_query_and_none_is_no_id():
    ids = ["a", "b", "a", "a", "", ""]
    data = Dataset(np.arange(6.0)[:, None], [0, 1, 2, 0, 1, 2], [1, 1, 1, 2, 2, 2], doc_ids=ids)
    twice = one(data, "document id twice in a query")
    assert (twice.count, str(twice.examples[0])) == (1, "query 1, row 3: id a, also in row 1")


def test_documents_from_best_to_worst_are_noticed():
    X = np.arange(6.0)[:, None]
    assert one(Dataset(X, [2, 1, 0, 1, 1, 0], [1, 1, 1, 2, 2, 2]), "sorted by label").count == 2
    assert not found(Dataset(X, [2, 1, 0, 1, 0, 1], [1, 1, 1, 2, 2, 2]), "sorted by label")


def test_parts_of_different_width_are_noticed():
    parts = {"train": clean(), "test": Dataset([[1.0], [2.0]], [0, 1], [77, 77])}
    assert one(parts, "different numbers of features").examples[0].detail == "train: 3, test: 1"


def test_at_most_three_examples_and_plain_json():
    data = Dataset(np.arange(5.0)[:, None], [0, 0, 0, 0, 1], [1, 2, 3, 4, 5])
    empty = one(data, "empty query")
    assert (empty.count, len(empty.examples)) == (4, 3)
    assert json.loads(json.dumps(empty.to_json()))["examples"][0] == {
        "query": "1",
        "row": 1,
        "detail": "1 document",
    }


def test_threads_do_not_matter():
    rng = np.random.default_rng(3)
    data = Dataset(rng.integers(0, 2, (3000, 4)), rng.integers(0, 3, 3000), rng.integers(0, 90, 3000))
    with threads(1):
        alone = audit(data)
    with threads(3):
        assert audit(data) == alone
    # 3000 rows of 2⁴ values in 90 queries: the repeats counted plainly.
    rows = {(q, *row) for q, row in zip(data.qid.tolist(), data.X.tolist(), strict=True)}
    repeats = sum(f.count for f in alone if f.check in ("conflicting labels", "identical rows"))
    assert repeats == 3000 - len(rows)


def test_no_document_is_refused():
    with pytest.raises(InputError, match="no document"):
        audit({})
