import itertools
import json
import re

import polars as pl
import pytest
import vl_convert

from pomona.report import figures
from report.invented import changed, invented

DATA = "mq2008"


@pytest.fixture(scope="module")
def findings():
    return invented()


def spec_of(chart):
    """The chart as Altair checks it against Vega-Lite's schema; its data by layer."""
    spec = chart.to_dict()
    datasets = {name: json.loads(text) for name, text in spec["datasets"].items()}
    inner = spec.get("spec", spec)
    layers = inner.get("layer", [inner])
    default = spec.get("data", inner.get("data"))
    return spec, [datasets[layer.get("data", default)["name"]] for layer in layers]


def panels_of(rows, by):
    """The panels in their order."""
    return [name for _, name in sorted({(row["place"], row[by]) for row in rows})]


def every_chart(findings):
    a, b = "LambdaMART", "MART"
    return {
        "intervals": figures.intervals(findings, DATA),
        "cutoff_curves": figures.cutoff_curves(findings, DATA),
        "convention_curves": figures.convention_curves(findings, DATA),
        "trained_judged": figures.trained_judged(findings, DATA),
        "convention_ranks": figures.convention_ranks(findings, DATA),
        "significance_matrix": figures.significance_matrix(findings, DATA, "ndcg@10"),
        "training_front": figures.training_front(findings, DATA),
        "scoring_front": figures.scoring_front(findings, DATA),
        "learning_curves": figures.learning_curves(findings, DATA),
        "winning_numbers": figures.winning_numbers(findings),
        "variance_shares": figures.variance_shares(findings, DATA),
        "query_differences": figures.query_differences(findings, DATA, a, b),
    }


def test_no_chart_names_a_color_or_a_font(findings):
    for name, chart in every_chart(findings).items():
        text = json.dumps({key: part for key, part in chart.to_dict().items() if key != "config"})
        assert not re.search(r"#[0-9a-fA-F]{6}|rgba?\(|\"font\"", text), name


def test_every_chart_describes_itself(findings):
    for name, chart in every_chart(findings).items():
        assert len(chart.to_dict()["description"]) > 60, name


def test_intervals_are_what_was_found(findings):
    chart = figures.intervals(findings, DATA)
    spec, (baseline, rows, _) = spec_of(chart)
    found = findings.table.filter(ranker="MART", measure="ndcg@10").row(0, named=True)
    row = next(row for row in rows if row["ranker"] == "MART")
    assert (row["low"], row["mean"], row["high"]) == pytest.approx(
        (found["low"], found["mean"], found["high"]), rel=1e-5
    )
    assert baseline == [{"mean": row["mean"]}]
    assert "Highest: LambdaMART" in spec["description"]
    assert "Ideal" not in {row["ranker"] for row in rows}


def test_what_is_left_out_of_a_plot_is_said(findings):
    below = 0.3 * (pl.col("ranker") == "Linear regression")
    far = changed(findings, table=findings.table.with_columns(pl.col("mean", "low", "high") - below))
    for chart in (
        figures.intervals(far, DATA),
        figures.cutoff_curves(far, DATA),
        figures.training_front(far, DATA),
        figures.scoring_front(far, DATA),
    ):
        spec, layers = spec_of(chart)
        assert spec["title"]["text"].startswith("not shown, far below: Linear regression (0.0")
        assert "Not shown, far below: Linear regression" in spec["description"]
        assert all(row.get("ranker") != "Linear regression" for rows in layers for row in rows)


def test_intervals_nobody_could_tell(findings):
    unknown = findings.table.with_columns(low=pl.lit(None, pl.Float64), high=pl.lit(None, pl.Float64))
    spec, _ = spec_of(figures.intervals(changed(findings, table=unknown), DATA))
    assert "(– to –)" in spec["description"]


def test_cutoff_curves_have_ten_points_a_ranker_and_labels_apart(findings):
    _, (tails, rows, _, _) = spec_of(figures.cutoff_curves(invented(20), DATA))
    assert len(rows) == 20 * 10
    places = sorted(row["at"] for row in tails if row["k"] > 10)
    means = [row["mean"] for row in rows]
    pixel = 1.12 * (max(means) - min(means)) / 300
    assert min(after - before for before, after in itertools.pairwise(places)) > 12.9 * pixel
    assert {row["convention"] for row in rows} == {"definition"}


def test_cutoff_curves_of_nothing(findings):
    assert figures.cutoff_curves(changed(findings, cutoffs=findings.cutoffs.clear()), DATA) is None


def test_convention_curves_have_a_panel_a_tool(findings):
    spec, (rows, _) = spec_of(figures.convention_curves(findings, DATA))
    assert panels_of(rows, "convention") == ["definition", "letor4", "yahoo"]
    assert len(rows) == 3 * 6 * 10
    assert spec["usermeta"]["panels"] == 3


def test_one_convention_needs_no_panels():
    single = invented(conventions=("definition",))
    assert figures.convention_curves(single, DATA) is None
    assert figures.convention_ranks(single, DATA) is None


def test_trained_and_judged_is_about_methods_with_variants(findings):
    _, (rows, _) = spec_of(figures.trained_judged(findings, DATA))
    assert {row["ranker"] for row in rows} == {"LambdaMART", "LambdaMART yahoo"}
    assert {row["trained"] for row in rows} == {"definition", "yahoo"}
    assert panels_of(rows, "panel") == [
        f"lambdamart judged by {tool}" for tool in ("definition", "letor4", "yahoo")
    ]
    assert figures.trained_judged(invented(1), DATA) is None


def test_a_ranker_trained_for_nothing_is_no_variant(findings):
    unknown = findings.conventions.with_columns(
        trained_with=pl.when(pl.col("ranker") == "LambdaMART").then(None).otherwise(pl.col("trained_with"))
    )
    assert figures.trained_judged(changed(findings, conventions=unknown), DATA) is None


def test_ranks_count_the_pairs_that_change_places(findings):
    spec, (rows, _, ends) = spec_of(figures.convention_ranks(findings, DATA))
    pairs = set(findings.order_changes.select("better", "worse").iter_rows())
    assert f"{len(pairs)} pairs of rankers change their order" in spec["description"]
    assert len(rows) == 3 * 6
    assert {row["judged_with"] for row in ends} == {"yahoo"}


def test_rankers_of_the_same_rank_share_a_label(findings):
    tied = findings.conventions.with_columns(
        rank=pl.when(pl.col("rank") == 2).then(1).otherwise(pl.col("rank"))
    )
    _, (_, _, ends) = spec_of(figures.convention_ranks(changed(findings, conventions=tied), DATA))
    first = next(row for row in ends if row["rank"] == 1)
    names = tied.filter(judged_with="yahoo", rank=1)["ranker"]
    assert first["names"] == ", ".join(sorted(names))


def test_a_ranker_without_rank_is_left_out(findings):
    partly = findings.conventions.with_columns(rank=pl.when(pl.col("ranker") != "MART").then(pl.col("rank")))
    _, (rows, _, _) = spec_of(figures.convention_ranks(changed(findings, conventions=partly), DATA))
    assert "MART" not in {row["ranker"] for row in rows}


def matrix_cell(rows, row, column):
    return next(cell for cell in rows if (cell["row"], cell["column"]) == (row, column))


def test_the_matrix_is_the_same_seen_from_both_sides(findings):
    pairs = findings.pairs.with_columns(
        difference=pl.lit(0.02),
        low=pl.lit(-0.01),
        high=pl.lit(0.05),
        holm_p=pl.lit(0.001),
        agree=pl.lit(True),
    )
    spec, (cells, *_) = spec_of(figures.significance_matrix(changed(findings, pairs=pairs), DATA, "ndcg@10"))
    first = findings.pairs.row(0, named=True)
    one = matrix_cell(cells, first["a"], first["b"])
    other = matrix_cell(cells, first["b"], first["a"])
    assert (one["verdict"], one["points"], one["interval"]) == (
        "significantly better",
        "+2.0",
        "−0.0100 to +0.0500",
    )
    assert (other["verdict"], other["points"], other["interval"]) == (
        "significantly worse",
        "−2.0",
        "−0.0500 to +0.0100",
    )
    assert len(cells) == 6 * 5
    assert "15 of 15 pairs differ significantly" in spec["description"]


def test_the_matrix_without_intervals_or_difference(findings):
    pairs = findings.pairs.with_columns(
        difference=0.0, low=pl.lit(None, pl.Float64), high=pl.lit(None, pl.Float64)
    )
    pairs = pairs.with_columns(agree=False)
    _, (cells, *_) = spec_of(figures.significance_matrix(changed(findings, pairs=pairs), DATA, "ndcg@10"))
    assert {(cell["verdict"], cell["points"], cell["interval"]) for cell in cells} == {
        ("the same", "0.0", "– to –")
    }


def test_a_large_matrix_has_colors_only():
    _, layers = spec_of(figures.significance_matrix(invented(20), DATA, "ndcg@10"))
    assert len(layers) == 1
    assert len(layers[0]) == 20 * 19
    assert figures.significance_matrix(invented(1), DATA, "ndcg@10") is None


@pytest.mark.parametrize(
    ("draw", "cost", "is_on"),
    [
        (figures.training_front, "train_seconds", "on_train_front"),
        (figures.scoring_front, "score_microseconds", "on_score_front"),
    ],
)
def test_a_front_joins_its_rankers_by_cost(findings, draw, cost, is_on):
    _, (front, points, *_) = spec_of(draw(findings, DATA))
    assert [row[cost] for row in front] == sorted(row[cost] for row in front)
    assert {row["ranker"] for row in front} == set(findings.fronts.filter(**{is_on: True})["ranker"])
    assert len(points) == 6
    nothing = findings.fronts.with_columns(pl.lit(None, pl.Float64).alias(cost))
    assert draw(changed(findings, fronts=nothing), DATA) is None


def test_learning_curves_of_those_that_learn_in_steps():
    _, (rows, _) = spec_of(figures.learning_curves(invented(n_iterations=1000), DATA))
    assert panels_of(rows, "ranker") == ["LambdaMART", "LambdaMART yahoo", "MART", "Random forest"]
    curve = [row for row in rows if (row["ranker"], row["part"]) == ("MART", "valid")]
    assert len(curve) == figures.N_POINTS
    assert (curve[0]["iteration"], curve[-1]["iteration"]) == (1, 1000)


def test_a_single_run_has_a_curve_without_band(findings):
    alone = findings.learning.with_columns(low=pl.lit(None, pl.Float64), high=pl.lit(None, pl.Float64))
    _, (rows, _) = spec_of(figures.learning_curves(changed(findings, learning=alone), DATA))
    assert all(row["low"] == row["mean"] == row["high"] for row in rows)
    assert figures.learning_curves(changed(findings, learning=findings.learning.clear()), DATA) is None


def test_winning_numbers_label_the_front_first(findings):
    _, (front, points, _, labelled, *_) = spec_of(figures.winning_numbers(findings))
    assert {row["ranker"] for row in front} == set(findings.winning.filter(is_pareto=True)["ranker"])
    assert {row["front"] for row in points} == {"Pareto-optimal", "rank 2", "neither"}
    assert {row["ranker"] for row in front} <= {row["ranker"] for row in labelled}
    unknown = findings.winning.with_columns(normalized=pl.lit(None, pl.Float64))
    assert figures.winning_numbers(changed(findings, winning=unknown)) is None


def test_shares_that_nobody_could_tell_are_left_out(findings):
    one_seed = findings.variance.with_columns(seeds=pl.lit(None, pl.Float64))
    _, (rows,) = spec_of(figures.variance_shares(changed(findings, variance=one_seed), DATA))
    assert {row["source"] for row in rows} == {"queries", "folds", "residual"}
    nothing = findings.variance.with_columns(
        pl.lit(None, pl.Float64).alias(s) for s in ("queries", "folds", "seeds", "residual")
    )
    assert figures.variance_shares(changed(findings, variance=nothing), DATA) is None


def test_query_differences_are_sorted_the_worst_first(findings):
    queries = pl.DataFrame(
        {
            "dataset": DATA,
            "fold": 1,
            "qid": list("abcd"),
            "A": [0.5, 0.2, 1.0, None],
            "B": [0.25, 0.7, 1.0, 0.5],
        }
    )
    chart = figures.query_differences(changed(findings, queries=queries), DATA, "A", "B")
    spec, (rows, _, _) = spec_of(chart)
    assert rows == [
        {"query": 0, "difference": -0.5},
        {"query": 1, "difference": 0.0},
        {"query": 2, "difference": 0.25},
    ]
    assert "A is better on 1 queries, B on 1, of 3" in spec["description"]


def test_no_name_becomes_code():
    """Whatever is a name is data in the compiled chart too, never a part of an expression."""
    strange = "yahoo strange"
    for name, chart in every_chart(invented(names={"LambdaMART yahoo": strange})).items():
        vega = vl_convert.vegalite_to_vega(chart.to_dict())
        expressions = " ".join(expressions_in(vega))
        # The legend's names are the exception, and JSON.
        assert strange not in expressions.replace(f'"{strange}"', ""), name
        if name != "convention_curves":
            assert strange not in expressions, name


def expressions_in(part):
    """Every text of a Vega spec that Vega parses as an expression."""
    if isinstance(part, list):
        for of in part:
            yield from expressions_in(of)
    elif isinstance(part, dict):
        for key, of in part.items():
            if key in ("expr", "signal", "test", "update", "init") and isinstance(of, str):
                yield of
            elif key != "values":
                yield from expressions_in(of)
