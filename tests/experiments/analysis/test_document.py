import json

import numpy as np
import polars as pl
import pytest

from experiments.invented_results import Ranker, invent
from pomona.data.dataset import Dataset
from pomona.errors import InputError
from pomona.experiments.analysis.document import N_DOCUMENTS, N_QUERIES, _rows
from pomona.experiments.findings import Findings


def test_queries_of_the_largest_spread_come_first():
    results = invent(n_queries=100)
    findings = Findings(results)
    (data,), table = findings.pooled, findings.documents
    shown = table.select("fold", "qid").unique(maintain_order=True).rows()
    assert len(shown) == N_QUERIES
    spread = dict(zip(data.queries.rows(), np.ptp(data.of_measure("ndcg@10")[:3], axis=0), strict=True))
    assert [spread[q] for q in shown] == sorted(spread.values(), reverse=True)[:N_QUERIES]
    assert table.columns[6:] == [f"{what}:{r}" for what in ("score", "rank") for r in data.real]


def test_scores_and_ranks_are_those_of_the_first_seed():
    results = invent(n_queries=20)
    table = Findings(results).documents
    fold, qid = table.select("fold", "qid").row(0)
    documents = table.filter(fold=fold, qid=qid)
    test = results.test_data("one", fold)
    begin = int(test.query_ptr[test.qids.tolist().index(int(qid))])
    scores = results.scores("one", fold, "LambdaMART", 0)[begin : begin + 8]
    rows = [int(doc) - 1 for doc in documents["doc"]]
    assert sorted(rows) == list(range(8))
    assert documents["score:LambdaMART"].to_list() == scores[rows].tolist()
    assert documents["rank:LambdaMART"].to_list() == [1 + sum(scores > scores[i]) for i in rows]
    assert documents["label"].to_list() == sorted(test.y[begin : begin + 8].tolist(), reverse=True)


class Given:
    """Results with one query of given documents."""

    def __init__(self, X, labels, scores, doc_ids=None):
        self._data = Dataset(X, labels, [7] * len(labels), doc_ids=doc_ids)
        self._scores = scores
        rankers = [Ranker(name, 0.1 * i, noise=0.0) for i, name in enumerate(scores)]
        invented = invent(rankers, n_folds=1, n_queries=1)
        self.values = invented.values.with_columns(qid=pl.lit("7"))
        self.runs, self.spec, self.columns = invented.runs, invented.spec, invented.columns

    def test_data(self, dataset, fold):
        return self._data

    def scores(self, dataset, fold, ranker, seed):
        return np.array(self._scores[ranker], float)

    def table(self):
        return Findings(self).documents


def test_features_that_tell_a_document_apart():
    X = [[0.0, 1.0, 5.0], [0.0, 2.0, 5.0], [9.0, 3.0, 5.0], [0.0, np.nan, 5.0]]
    table = Given(X, [3, 2, 1, 0], {"a": [4, 3, 2, 1], "b": [1, 2, 3, 4]}, ["w", "x", "", "z"]).table()
    assert table["doc"].to_list() == ["w", "x", "3", "z"]
    features = [json.loads(text) for text in table["features"]]
    # The third feature never varies; the second document has the mean of the second, the last has none.
    assert features[0] == {"f2": 1.0, "f1": 0.0}
    assert features[1] == {"f1": 0.0}
    assert list(features[2]) == ["f1", "f2"]
    assert features[3] == {"f1": 0.0}


def test_long_queries_keep_what_somebody_put_high():
    n = 100
    labels = np.zeros(n)
    labels[70] = 2
    scores = {"a": -np.arange(n), "b": -np.abs(np.arange(n) - 50)}
    table = Given(np.zeros((n, 1)), labels, scores).table()
    assert len(table) == N_DOCUMENTS
    assert table["doc"][0] == "71"  # the one relevant document, which both put low
    assert {"1", "51"} <= set(table["doc"])
    assert "91" not in table["doc"]


def test_rankers_without_the_fold_are_null():
    results = invent(n_queries=20, failed=[("one", 2, "MART", 0)])
    table = Findings(results).documents
    assert table.filter(fold=2)["score:MART"].null_count() == table.filter(fold=2).height > 0
    assert table.filter(fold=1)["rank:MART"].null_count() == 0


def test_other_test_data_are_refused():
    given = Given([[0.0], [1.0]], [1, 0], {"a": [1, 2], "b": [2, 1]})
    given._data = Dataset([[0.0]], [1], [8])
    findings = Findings(given)
    with pytest.raises(InputError, match="the test data of fold 1 are not those that were judged"):
        _rows(findings, findings.pooled[0])
    assert findings.documents.is_empty()
    (warning,) = findings.warnings
    assert warning.endswith("the test data of fold 1 are not those that were judged")


def test_rankers_that_agree_show_nothing():
    results = invent([Ranker("a", noise=0.0), Ranker("b", noise=0.0)])
    assert Findings(results).documents.is_empty()


def test_ties_do_not_rank_by_the_order_of_the_rows():
    # A ranker that scores all alike puts no document above another, in a file sorted by label or not.
    labels = [2, 1, 0, 0]
    one = Given([[0.0]] * 4, labels, {"all alike": [1, 1, 1, 1], "two": [3, 1, 1, 0]}).table()
    assert one["rank:all alike"].to_list() == [1, 1, 1, 1]
    assert one["rank:two"].to_list() == [1, 2, 2, 4]


def test_of_a_long_query_ties_do_not_decide_what_is_shown():
    # The best label stands last in the file, and one ranker ties everything.
    n = N_DOCUMENTS + 10
    labels = [0] * (n - 1) + [2]
    table = Given([[0.0]] * n, labels, {"all alike": [1.0] * n, "also": [1.0] * n}).table()
    assert table["label"].to_list()[0] == 2


def test_a_document_that_was_not_judged_has_no_label():
    table = Given([[0.0]] * 3, [np.nan, 1, 0], {"a": [3, 2, 1], "b": [1, 2, 3]}).table()
    assert table.sort("score:a", descending=True)["label"].to_list() == [None, 1.0, 0.0]
