"""Feature logs of search engines, joined with judgments."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

import pomona as pm
from pomona.data.logs import log_of_file, read_log
from pomona.errors import InputError

NAN = float("nan")
NAMES = ["title", "body", "age"]
# query -> document -> features, None where the feature's query did not match
LOGGED = {
    "star wars": {"a": [2.5, 1.0, None], "b": [None, 0.25, 7.0], "x": [0.0, 0.0, 0.0]},
    "rambo": {"a": [None, None, 1.0], "c": [3.0, 0.5, -1.0]},
}
QUEPID = "query,docid,rating\nstar wars,a,3\nstar wars,b,0\nrambo,a,1\nrambo,c,2\nrambo,d,4\nalien,a,\n"
EXPECTED_X = [[2.5, 1.0, NAN], [NAN, 0.25, 7.0], [NAN, NAN, 1.0], [3.0, 0.5, -1.0]]


def plugin_hit(document, values):
    entries = [
        {"name": name} if value is None else {"name": name, "value": value}
        for name, value in zip(NAMES, values, strict=True)
    ]
    entries.append({"name": "extra_logging", "value": {"tokens": 3}})
    return {"_id": document, "_score": 1.0, "fields": {"_ltrlog": [{"main": entries}]}}


def plugin_response(documents):
    return {"took": 3, "hits": {"total": 9, "hits": [plugin_hit(*one) for one in documents.items()]}}


def solr_document(document, values, is_sparse=False):
    given = [0.0 if value is None else value for value in values]
    pairs = (f"{name}={value}" for name, value in zip(NAMES, given, strict=True) if value or not is_sparse)
    return {"id": document, "score": 1.0, "[features]": ",".join(pairs)}


def solr_responses(is_sparse):
    return {
        query: {
            "response": {"numFound": 3, "docs": [solr_document(*one, is_sparse) for one in found.items()]}
        }
        for query, found in LOGGED.items()
    }


PLUGIN = {query: plugin_response(documents) for query, documents in LOGGED.items()}
HITS = [
    {"qid": query, **plugin_hit(document, values)}
    for query, documents in LOGGED.items()
    for document, values in documents.items()
]
LOGS = {
    "by query": json.dumps(PLUGIN),
    "a list": json.dumps([{"query": query, **response} for query, response in PLUGIN.items()]),
    "a response a line": "\n".join(json.dumps({"qid": q, **response}) for q, response in PLUGIN.items()),
    "a hit a line": "\n".join(map(json.dumps, HITS)) + "\n",
    "indented": json.dumps(PLUGIN, indent=2),
}


@pytest.fixture
def judgments(tmp_path):
    path = tmp_path / "judgments.csv"
    path.write_text(QUEPID)
    return path


@pytest.mark.parametrize("kind", LOGS)
def test_every_layout_of_the_plugins_log(kind, tmp_path, judgments):
    path = tmp_path / "hits.json"
    path.write_text(LOGS[kind])
    with pytest.warns(UserWarning, match="left out") as warnings:
        data = pm.read_log(path, judgments)
    assert str(warnings[0].message) == (
        "1 logged documents, of 1 queries, have no judgment and are left out; "
        "1 judgments, of 1 queries, have no logged document; 1 documents are listed without a rating"
    )
    np.testing.assert_array_equal(data.X, np.array(EXPECTED_X, np.float32))
    assert data.feature_names == tuple(NAMES)
    assert data.y.tolist() == [3, 0, 1, 2]
    assert data.qid.tolist() == ["star wars", "star wars", "rambo", "rambo"]
    assert list(data.doc_ids) == ["a", "b", "a", "c"]


@pytest.mark.filterwarnings("ignore:.*judg")
def test_undefined_as_the_engine_serves_it(tmp_path, judgments):
    path = tmp_path / "hits.json"
    path.write_text(LOGS["by query"])
    zero = pm.read_log(path, judgments, undefined=0.0)
    np.testing.assert_array_equal(zero.X, np.nan_to_num(np.array(EXPECTED_X, np.float32)))
    for is_sparse in (False, True):
        path.write_text(json.dumps(solr_responses(is_sparse)))
        np.testing.assert_array_equal(pm.read_log(path, judgments, feature_names=NAMES).X, zero.X)
    as_served = pm.read_log(path, judgments, undefined=NAN, feature_names=NAMES)
    assert np.isnan(as_served.X[0, 2])


@pytest.mark.filterwarnings("ignore:.*judg")
def test_tables_of_solr_and_frames(tmp_path, judgments):
    rows = [
        {"query": query, "id": document, **dict(zip(NAMES, values, strict=True))}
        for query, documents in LOGGED.items()
        for document, values in documents.items()
    ]
    expected = np.array(EXPECTED_X, np.float32)
    for frame in (pl.DataFrame(rows), pl.LazyFrame(rows), pd.DataFrame(rows)):
        np.testing.assert_array_equal(read_log(frame, judgments).X, expected)
    for name, write in (("log.csv", pl.DataFrame.write_csv), ("log.parquet", pl.DataFrame.write_parquet)):
        write(pl.DataFrame(rows), tmp_path / name)
        np.testing.assert_array_equal(read_log(tmp_path / name, judgments).X, expected)
    table = pl.DataFrame(
        [
            {"query": query, **solr_document(document, values)}
            for query, documents in LOGGED.items()
            for document, values in documents.items()
        ]
    )
    table.write_csv(tmp_path / "solr.csv")
    np.testing.assert_array_equal(read_log(tmp_path / "solr.csv", judgments).X, np.nan_to_num(expected))


@pytest.mark.filterwarnings("ignore:.*judg")
def test_queries_nobody_named_are_numbered(tmp_path):
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("1 0 a 3\n2 0 c 1\n")
    path = tmp_path / "msearch.json"
    path.write_text(json.dumps({"took": 1, "responses": list(PLUGIN.values())}))
    data = pm.read_log(path, qrels)
    assert data.qid.tolist() == [1, 2]
    assert list(data.doc_ids) == ["a", "c"]


def test_unjudged_documents_may_get_a_label(tmp_path, judgments):
    path = tmp_path / "hits.json"
    path.write_text(LOGS["by query"])
    with pytest.warns(UserWarning, match="have no judgment and get the label 0"):
        data = pm.read_log(path, judgments, unjudged=0)
    assert data.y.tolist() == [3, 0, 0, 1, 2]


def test_documents_logged_twice(tmp_path, judgments):
    path = tmp_path / "hits.jsonl"
    path.write_text("\n".join(map(json.dumps, [*HITS, HITS[0]])))
    with pytest.warns(UserWarning, match="1 documents were logged more than once"):
        assert pm.read_log(path, judgments).n_docs == 4
    other = {"qid": "star wars", **plugin_hit("a", [9.0, 9.0, 9.0])}
    path.write_text("\n".join(map(json.dumps, [*HITS, other])))
    with pytest.raises(InputError, match="'a' of query 'star wars' was logged twice with other features"):
        pm.read_log(path, judgments)


def test_several_logs(tmp_path, judgments):
    hit = plugin_hit("a", [1.0, 2.0, 3.0])
    hit["fields"]["_ltrlog"].append({"other": [{"name": "title", "value": 5}]})
    path = tmp_path / "hits.json"
    path.write_text(json.dumps({"star wars": {"hits": {"hits": [hit]}}}))
    with pytest.raises(InputError, match="found several logs, main, other: name one"):
        log_of_file(path)
    assert log_of_file(path, log_name="other").X.tolist() == [[5.0]]
    with pytest.raises(InputError, match="hit a has no log 'third', only main, other"):
        log_of_file(path, log_name="third")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{}", "found no logged feature"),
        ("[3]", "found 3 in place of a response"),
        ('{"hits": {"hits": 7}}', "found 7 as hits.hits, expected a list of objects"),
        ('{"hits": {"hits": [{"_id": "a"}]}}', "found None as fields._ltrlog of hit a"),
        ('{"hits": {"hits": [{"_id": "a", "fields": null}]}}', "found None as fields._ltrlog of hit a"),
        ('{"hits": {"hits": [{"_id": "a", "fields": [1]}]}}', "found None as fields._ltrlog of hit a"),
        ('{"_id": 1, "fields": {"_ltrlog": [{"m": [{"value": 1}]}]}}', "hit 1 has a feature without `name`"),
        ('{"hits": {"hits": [{"fields": {}}]}}', "a hit has no `_id`"),
        (json.dumps({"hits": {"hits": [plugin_hit("a", ["x", 1, 2])]}}), "'title' has the value 'x'"),
        ('{"response": {"docs": [{"id": 1}]}}', "document 1 has no `[features]`"),
        ('{"response": {"docs": [{"[features]": "a=1"}]}}', "a document has no `id`"),
        ('{"response": {"docs": [{"id": 1, "[features]": "a=x"}]}}', "could not convert"),
        (
            '{"_id": 1, "fields": {"_ltrlog": [{"m": [{"name": "a", "value": 1}, {"name": "a"}]}]}}',
            "document 1 has the feature 'a' twice",
        ),
        ('{"response": {"docs": [{"id": 1, "[features]": "a=1,a=2"}]}}', "has the feature 'a' twice"),
        (
            '{"_id": 1, "fields": {"_ltrlog": [{"m": []}, {"m": [{"name": "a", "value": 1}]}]}}',
            "hit 1 has the log 'm' twice",
        ),
        ('{"hits": {"hits": [', "cannot be read as a log"),
        ("[" * 100_000, "cannot be read as a log"),
        ("id,score\n1,2\n", "document '1' has no `[features]`"),
    ],
)
def test_what_is_refused(content, said, tmp_path):
    path = tmp_path / "log.json"
    path.write_text(content)
    with pytest.raises(InputError) as caught:
        log_of_file(path)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_lists_that_do_not_belong_together(tmp_path):
    path, qrels = tmp_path / "hits.json", tmp_path / "qrels"
    path.write_text(LOGS["by query"])
    qrels.write_text("7 0 z 1\n")
    with pytest.raises(
        InputError, match=r"the log has 'a' of query 'star wars', .* the judgments 'z' of query '7'"
    ):
        pm.read_log(path, qrels)
    with pytest.raises(InputError, match="found no column called qid or"):
        read_log(pl.DataFrame({"a": [1]}), qrels)
    with pytest.raises(InputError, match="'Grade' looks like a judgment, and would become a feature"):
        read_log(pl.DataFrame({"qid": [7], "doc_id": ["z"], "Grade": [1]}), qrels)
