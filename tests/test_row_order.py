"""Rows belong to the caller: whatever order they come in, what is given and returned is in that order."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import pomona as pm
from pomona.cli.app import build
from pomona.data.k_fold import QueryKFold
from pomona.errors import InputError

SORTED = pm.simulate(12, docs_per_query=7, n_features=4, seed=3)
SCORES = np.random.default_rng(1).random(SORTED.n_docs)
MEASURES = ["ndcg@5", "ap", "err@3", "p@2", "rbp(p=0.8)", "seznamrank"]
permutations = st.permutations(range(SORTED.n_docs)).map(np.array)


def scattered(order):
    return pm.Dataset(SORTED.X[order], SORTED.y[order], SORTED.qid[order], feature_names=SORTED.feature_names)


@given(permutations)
def test_evaluate(order):
    expected = pm.evaluate(SORTED, SCORES, MEASURES, per_query=True)
    data = scattered(order)
    place = {qid: q for q, qid in enumerate(data.qids.tolist())}
    queries = [place[qid] for qid in SORTED.qids.tolist()]
    for given_as in (SCORES[order], list(SCORES[order]), pd.Series(SCORES[order], index=order)):
        judged = pm.evaluate(data, given_as, MEASURES, per_query=True)
        for name in MEASURES:
            np.testing.assert_allclose(judged[name][queries], expected[name])


def test_the_smallest_case():
    data = pm.Dataset([[1.0], [2.0], [3.0], [4.0]], [1, 0, 0, 1], [1, 2, 1, 2])
    assert pm.evaluate(data, [2, 3, 1, 4], "ap") == {"ap": 1.0}


@given(permutations)
def test_columns_are_as_they_came(order):
    data = scattered(order)
    for name in ("X", "y", "qid"):
        np.testing.assert_array_equal(getattr(data, name), getattr(SORTED, name)[order])


@given(permutations)
def test_a_stranger_that_scores_the_features(order):
    """Scores of another library's model of `data.X` are in the order of `data.X`."""
    data, stranger = scattered(order), np.array([0.3, -1.0, 2.0, 0.1])
    judged = pm.evaluate(data, data.X @ stranger, MEASURES)
    expected = pm.evaluate(SORTED, SORTED.X @ stranger, MEASURES)
    assert judged == pytest.approx(dict(expected))


@given(permutations)
def test_a_column_of_the_dataset_itself(order):
    data = scattered(order)
    for of_data, expected in ((data.X[:, 1], SORTED.X[:, 1]), (data.y, SORTED.y)):
        judged = pm.evaluate(data, of_data, "ap", ties="expected")
        assert judged["ap"] == pytest.approx(pm.evaluate(SORTED, expected, "ap", ties="expected")["ap"])


@pytest.mark.parametrize(
    "ranker", [pm.LinearRegression(), pm.MART(n_trees=3), pm.LinearCombination(), pm.IdealRanker()], ids=repr
)
def test_predict_and_score(ranker):
    order = np.random.default_rng(0).permutation(SORTED.n_docs)
    data = scattered(order)
    ranker.set_params(measure=pm.measure("ndcg(ties=expected)@10")).fit(SORTED)
    expected = ranker.predict(SORTED)
    np.testing.assert_array_equal(ranker.predict(data), expected[order])
    assert ranker.score(data) == pytest.approx(ranker.score(SORTED))
    assert ranker.score(data) == pytest.approx(
        pm.evaluate(data, ranker.predict(data), "ndcg@10", ties="expected")["ndcg@10"]
    )
    weights = np.where(SORTED.y > 0, 2.0, 1.0)
    assert ranker.score(data, sample_weight=weights[order]) == pytest.approx(
        ranker.score(SORTED, sample_weight=weights)
    )


@given(permutations)
def test_weights_of_documents(order):
    weights = np.random.default_rng(2).random(SORTED.n_docs)
    expected = pm.LinearRegression().fit(SORTED, sample_weight=weights).coef_
    fitted = pm.LinearRegression().fit(scattered(order), sample_weight=weights[order])
    np.testing.assert_allclose(fitted.coef_, expected, rtol=1e-6, atol=1e-9)


@given(permutations)
def test_rows_of_a_split(order):
    data, qid = scattered(order), SORTED.qid[order]
    for train, test in QueryKFold(3).split(data):
        assert not set(qid[train]) & set(qid[test])
        assert sorted([*train, *test]) == list(range(len(order)))


@given(permutations, st.lists(st.booleans(), min_size=12, max_size=12))
def test_parts(order, chosen):
    data, mask = scattered(order), np.array(chosen)
    part = data.take(mask)
    rows = np.isin(SORTED.qid[order], data.qids[mask])
    assert part.y.tolist() == SORTED.y[order][rows].tolist()
    if mask.any():
        expected = pm.evaluate(
            SORTED.take(np.isin(SORTED.qids, data.qids[mask])),
            SCORES[np.isin(SORTED.qid, data.qids[mask])],
            "ap",
        )
        assert pm.evaluate(part, SCORES[order][rows], "ap")["ap"] == pytest.approx(expected["ap"])


def test_files_and_the_command_line(tmp_path):
    order = np.random.default_rng(0).permutation(SORTED.n_docs)
    whole, mixed = tmp_path / "sorted.txt", tmp_path / "mixed.txt"
    pm.write_letor(SORTED, whole)
    lines = whole.read_text().splitlines(keepends=True)
    mixed.write_text("".join(lines[i] for i in order))
    (tmp_path / "scores").write_text("\n".join(map(repr, SCORES.tolist())))
    (tmp_path / "mixed_scores").write_text("\n".join(map(repr, SCORES[order].tolist())))
    expected = pm.evaluate(SORTED, SCORES, "ndcg@10")["ndcg@10"]
    assert pm.evaluate(pm.read(mixed), SCORES[order], "ndcg@10")["ndcg@10"] == pytest.approx(expected)
    pm.write_letor(pm.read(mixed), tmp_path / "again.txt")
    assert (tmp_path / "again.txt").read_text() == mixed.read_text()
    run = CliRunner().invoke
    answers = [
        run(build(), ["evaluate", str(data), str(tmp_path / scores), "-m", "ndcg@10", "--json"]).output
        for data, scores in ((whole, "scores"), (mixed, "mixed_scores"))
    ]
    assert f"{expected:.6f}"[:6] in answers[0]
    assert answers[0] == answers[1]
    model = tmp_path / "m.pomona"
    pm.LinearRegression().fit(SORTED).save(model)
    scored = [run(build(), ["score", str(model), str(data)]).output.split() for data in (whole, mixed)]
    assert scored[1] == [scored[0][i] for i in order]


def test_values_that_do_not_fit_are_refused():
    data = scattered(np.arange(SORTED.n_docs)[::-1])
    for wrong in (np.ones(3), np.ones(SORTED.n_docs + 1), 1.0):
        for method in (data.to_input_order, data.from_input_order):
            with pytest.raises(InputError, match=f"for {SORTED.n_docs} documents"):
                method(wrong)


def test_a_series_is_taken_by_place():
    data = scattered(np.random.default_rng(0).permutation(SORTED.n_docs))
    values = pd.Series(np.arange(float(SORTED.n_docs)), index=np.arange(SORTED.n_docs)[::-1])
    assert data.from_input_order(values).tolist() == data.input_order.tolist()


@pytest.mark.parametrize("name", ["y", "qid"])
def test_pandas_rows_of_other_names_are_refused(name):
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0]}, index=[10, 11, 12])
    columns = {"y": pd.Series([0, 1, 2], index=X.index), "qid": pd.Series([1, 1, 1], index=X.index)}
    assert pm.Dataset(X, **columns).n_docs == 3
    for index in ([12, 11, 10], [0, 1, 2]):
        with pytest.raises(InputError, match=f"the index of {name} is not that of X"):
            pm.Dataset(X, **{**columns, name: columns[name].set_axis(index)})
    assert pm.Dataset(X, **{**columns, name: columns[name].to_numpy()}).n_docs == 3


@pytest.mark.parametrize(
    "words",
    [
        *(["stats"], ["audit"], ["informative"], ["features", "--trees", "0"]),
        *(
            ["trace", "mart", "--iterations", "2", "-o", "OUT"],
            ["optimality", "MODEL"],
            ["parity", "MODEL", "--engine", "solr-9"],
        ),
    ],
    ids=lambda words: words[0],
)
def test_verbs_read_scattered_files(words, tmp_path):
    path, model = tmp_path / "mixed.txt", tmp_path / "m.pomona"
    pm.write_letor(scattered(np.random.default_rng(0).permutation(SORTED.n_docs)), path)
    pm.MART(n_trees=2).fit(SORTED).save(model)
    places = {"MODEL": str(model), "OUT": str(tmp_path / "out")}
    result = CliRunner().invoke(build(), [*(places.get(word, word) for word in words), str(path)])
    assert result.exit_code == 0, result.output + str(result.exception)


def test_duels_explanations_and_combined_rankers():
    order = np.random.default_rng(4).permutation(SORTED.n_docs)
    data, other = scattered(order), SCORES[::-1].copy()
    duels = [
        pm.duel(some, {"a": SCORES[rows], "b": other[rows]}, "ndcg@5")
        for some, rows in ((SORTED, np.arange(SORTED.n_docs)), (data, order))
    ]
    for name in ("difference", "wins", "losses"):
        assert duels[1].pairs[name].to_list() == pytest.approx(duels[0].pairs[name].to_list())
    ranker = pm.LambdaMART(n_trees=3, min_docs=3).fit(SORTED)
    explained = [ranker.explain(some, background=SORTED) for some in (SORTED, data)]
    np.testing.assert_array_equal(explained[1].values, explained[0].values[order])
    np.testing.assert_array_equal(explained[1].scores, explained[0].scores[order])
    for combined in (pm.Ensemble(pm.MART(n_trees=3), n_models=2), pm.Ensemble("mart(n_trees=3)", n_models=2)):
        expected = combined.fit(SORTED).predict(SORTED)
        np.testing.assert_array_equal(combined.fit(data).predict(data), expected[order])


def test_converted_files_have_their_rows_as_they_came(tmp_path):
    data = scattered(np.random.default_rng(5).permutation(SORTED.n_docs))
    pm.write_letor(data, tmp_path / "scattered.txt")
    for name in ("a.csv", "a.parquet", "a.txt"):
        pm.convert(tmp_path / "scattered.txt", tmp_path / name)
        back = pm.read(tmp_path / name)
        np.testing.assert_array_equal(back.qid, data.qid)
        np.testing.assert_array_equal(back.X, data.X)
