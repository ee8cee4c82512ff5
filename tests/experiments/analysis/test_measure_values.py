import itertools

import numpy as np
import polars as pl
import pytest
from scipy import stats

import pomona as pm
from golden import thesis
from pomona.errors import InputError
from pomona.experiments.analysis.measure_values import all_orders, compare_measures_of

GRADED, BINARY = ["ndcg", "err", "sr4(clip=false)"], ["wta", "rbp(p=0.5)", "ap"]


@pytest.fixture(scope="module")
def graded():
    return pm.compare_measures(all_orders([1, 2, 3, 4]), GRADED)


@pytest.fixture(scope="module")
def binary():
    return pm.compare_measures(all_orders([0, 0, 1, 1, 1]), BINARY)


def test_orders_are_descending_and_distinct():
    for labels in ([4, 3, 2, 1], [0, 1, 1, 0], [2, 2]):
        expected = sorted(set(itertools.permutations(labels)), reverse=True)
        assert all_orders(labels) == expected
    with pytest.raises(InputError, match=r"8 labels have 40,320 distinct orders, at most 5,040"):
        all_orders(range(8))
    assert len(all_orders([0] * 18 + [1] * 2)) == 190


def test_thesis_tables_3_2_and_3_3(graded, binary):
    # The thesis prints its lists in two columns; ours come in descending order.
    for compared, table, n_lists in ((graded, thesis.GRADED, 24), (binary, thesis.BINARY, 10)):
        printed = {" ".join(map(str, labels)): values for labels, values in thesis.rows(table, 3)}
        assert len(compared.values) == len(printed) == n_lists
        for name, *values in compared.values.iter_rows():
            assert [f"{value:.5f}" for value in values] == printed[name]


def test_thesis_table_3_4(graded, binary):
    for (first, second), printed in thesis.CORRELATIONS.items():
        names = [f"{one}(clip=false)" if one == "sr4" else one for one in (first, second)]
        compared = graded if names[0] in GRADED else binary
        (row,) = compared.correlations.filter(first=names[0], second=names[1]).to_dicts()
        # The thesis correlated its rounded table.
        assert row["pearson"] == pytest.approx(float(printed), abs=2e-5)


def test_thesis_table_3_5():
    lists = {f"π{i}": labels for i, (labels, _, _) in enumerate(thesis.LONG, 1)}
    compared = pm.compare_measures(lists, [*GRADED, "nerr"])
    for i, (name, ndcg, err, sr4, nerr) in enumerate(compared.values.iter_rows()):
        assert name == f"π{i + 1}"
        assert (f"{ndcg:.6f}", f"{err:.6f}") == thesis.LONG[i][1:]
        assert f"{sr4:.6f}" == thesis.LONG_SR4[i]
        assert i not in (0, 1, 3, 7) or nerr == pytest.approx(1.0)
    # π8 is in its best order and π6 in its worst, yet ERR and SR4 prefer π6.
    two = pm.compare_measures({name: lists[name] for name in ("π6", "π8")}, [*GRADED, "nerr"])
    preferred = {(row["first"], row["second"]): row["above"] for row in two.examples.iter_rows(named=True)}
    assert preferred[("ndcg", "err")] == preferred[("ndcg", "sr4(clip=false)")] == "π8"
    assert preferred[("err", "nerr")] == "π6"
    assert ("ndcg", "nerr") not in preferred


def test_two_lists_that_no_measure_orders_for_certain():
    # Modrý 2014, 3.3.4: (0,1,1,0) against (1,0,0,1).
    compared = pm.compare_measures([[0, 1, 1, 0], [1, 0, 0, 1]], ["wta", "rbp(p=0.5)", "ap", "p@3"])
    (first, second) = compared.values.drop("list").to_numpy()
    assert (second > first).tolist() == [True, True, True, False]
    assert set(compared.examples["second"]) == {"p@3"}


def test_coefficients_are_scipys_and_pairs_are_counted():
    random = np.random.default_rng(0)
    lists = random.integers(0, 3, (60, 4))
    compared = pm.compare_measures(list(lists), ["ndcg@2", "ap", "p@3"])
    values = compared.values
    for row, counts in zip(compared.correlations.to_dicts(), compared.disagreements.to_dicts(), strict=True):
        x, y = (np.round(values[row[one]].to_numpy(), 12) for one in ("first", "second"))
        assert row["pearson"] == pytest.approx(stats.pearsonr(x, y).statistic)
        assert row["spearman"] == pytest.approx(stats.spearmanr(x, y).statistic)
        assert row["kendall"] == pytest.approx(stats.kendalltau(x, y).statistic)
        signs = [
            np.sign(x[a] - x[b]) * np.sign(y[a] - y[b]) for a, b in itertools.combinations(range(len(x)), 2)
        ]
        assert (counts["n_pairs"], counts["n_different"]) == (np.count_nonzero(signs), signs.count(-1))


def test_the_clearest_example_is_the_clearest():
    random = np.random.default_rng(1)
    compared = pm.compare_measures(list(random.integers(0, 5, (40, 5))), ["ndcg", "err"])
    x, y = (np.round(compared.values[one].to_numpy(), 12) for one in ("ndcg", "err"))
    clearness = np.minimum((x[:, None] - x) / x.std(), (y - y[:, None]) / y.std())
    above, below = np.unravel_index(clearness.argmax(), clearness.shape)
    best = compared.examples.row(0, named=True)
    names = compared.values["list"].to_list()
    assert (best["above"], best["below"]) == (names[above], names[below])
    assert best["first_above"] == pytest.approx(compared.values["ndcg"][int(above)])


def test_measures_that_tell_nothing_have_no_correlation():
    compared = pm.compare_measures([[1, 0], [0, 1]], ["p@2", "ap"])
    assert compared.correlations.row(0)[2:] == (None, None, None)
    assert compared.disagreements.row(0)[2:] == (0, 0, None)


def test_refusals():
    with pytest.raises(InputError, match="at least two"):
        pm.compare_measures([[1, 0], [1, 0]], ["ap"])
    with pytest.raises(InputError, match="no measure"):
        pm.compare_measures([[1, 0], [0, 1]], [])


def test_a_comparisons_lists(finished):
    kept = compare_measures_of(finished)
    assert kept.measures == ["ndcg@5", "ap", "lightgbm:ndcg@5", "lightgbm:ap"]
    n_empty = finished.queries.filter(n_relevant=0).height
    n_lists = (24 - n_empty) * 2 * 2  # queries × rankers × seeds
    assert n_empty > 0
    assert not kept.is_ordered
    assert kept.n_left_out == n_empty * 2 * 2  # all measures value them alike
    assert len(kept.values) == kept.values["list"].n_unique() == n_lists
    other = compare_measures_of(finished, ["ap", "err(max_grade=4)@5"])
    assert other.values["ap"].equals(kept.values["ap"])
    data = finished.test_data("toy", 2)
    scores = finished.scores("toy", 2, "short", 1)
    expected = pm.evaluate(data, scores, "err@5", per_query=True)["err@5"]
    expected = expected[np.maximum.reduceat(data.y, data.query_ptr[:-1]) > 0]
    names = [f"short on query {qid}, fold 2, seed 1" for qid in data.qids]
    found = other.values.filter(pl.col("list").is_in(names))
    assert sorted(found["err(max_grade=4)@5"]) == pytest.approx(sorted(expected))
