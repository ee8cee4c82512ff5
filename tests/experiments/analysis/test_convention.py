import polars as pl
import pytest

from experiments.invented_results import Ranker, but, invent
from pomona.experiments.analysis.convention import differences_from_definition, plain
from pomona.experiments.findings import Findings
from pomona.measures.parse import measure

RANKERS = [Ranker("a", 0.1, trained_for="yahoo:ndcg@10"), Ranker("b", 0.05), Ranker("c", trained_for=None)]
CONVENTIONS = ("definition", "yahoo", "letor4")


def judged(results):
    return Findings(results).conventions


def test_every_ranker_under_every_convention():
    results = invent(RANKERS, conventions=CONVENTIONS, measures=("ndcg@10", "ndcg@5"))
    table = judged(results)
    assert len(table) == 2 * 3 * 3
    assert dict(table.select("ranker", "trained_with").iter_rows()) == {
        "a": "yahoo",
        "b": "definition",
        "c": None,
    }
    row = table.filter(ranker="b", judged_with="letor4", measure="ndcg@5").row(0, named=True)
    assert row["mean"] == pytest.approx(Findings(results).pooled[0].mean("b", "letor4:ndcg@5"))
    assert table.filter(judged_with="yahoo", measure="ndcg@5")["rank"].to_list() == [1, 2, 3]


def test_who_changes_places():
    results = invent(RANKERS, conventions=CONVENTIONS, measures=("ndcg@10",))
    assert Findings(results).order_changes.is_empty()
    # Yahoo's rules shall lift c above b, but not above a.
    lifted = pl.when(pl.col("ranker") == "c").then(0.06).otherwise(0.0)
    values = results.values.with_columns(pl.col("yahoo:ndcg@10") + lifted)
    findings = Findings(but(results, values=values))
    table = findings.conventions
    assert table.filter(judged_with="yahoo")["rank"].to_list() == [1, 3, 2]
    changes = findings.order_changes
    assert changes.select("convention_1", "convention_2", "better", "worse").rows() == [
        ("definition", "yahoo", "b", "c"),
        ("yahoo", "letor4", "c", "b"),
    ]
    first = changes.row(0, named=True)
    assert first["difference_1"] > 0 > first["difference_2"]
    means = {(j, r): m for r, j, m in table.select("ranker", "judged_with", "mean").iter_rows()}
    assert first["difference_1"] == pytest.approx(means["definition", "b"] - means["definition", "c"])


def test_equals_share_a_rank():
    results = invent(
        [Ranker("a", noise=0.0), Ranker("b", noise=0.0), Ranker("c", -0.1)],
        conventions=CONVENTIONS,
        measures=("ndcg@10",),
    )
    findings = Findings(results)
    table = findings.conventions
    assert table.filter(judged_with="definition")["rank"].to_list() == [1, 1, 3]
    assert findings.order_changes.is_empty()


def test_fewer_queries_have_no_rank():
    results = invent(RANKERS, conventions=CONVENTIONS, measures=("ndcg@10",), failed=[("one", 1, "a", 0)])
    table = judged(results)
    assert table.filter(judged_with="yahoo")["rank"].to_list() == [None, 1, 2]


def test_a_measure_with_its_own_convention_has_one_judge():
    results = invent(RANKERS, conventions=CONVENTIONS, measures=("yahoo:err",))
    table = judged(results)
    assert table["judged_with"].unique().to_list() == ["yahoo"]
    assert table["measure"].unique().to_list() == ["err"]


def test_plain():
    assert plain("ndcg@10") == plain("letor4:ndcg@10") == "ndcg@10"


@pytest.mark.parametrize(
    ("judge", "max_label", "expected"),
    [
        ("ndcg@10", 4, []),
        ("ranklib:ndcg@10", 4, []),
        ("yahoo:ndcg@10", 4, ["empty queries"]),
        ("letor4:ndcg@10", 2, ["gain or discount", "short queries"]),
        ("trec_eval:ndcg@10", 2, ["gain or discount"]),
        ("trec_eval:ndcg@10", 1, []),
        ("letor4:ap", 2, []),
        ("gdeval:ndcg@10", 2, ["empty queries"]),
        ("mslr:ap", 4, ["gain or discount"]),
    ],
)
def test_where_a_tool_leaves_the_definition(judge, max_label, expected):
    found = differences_from_definition(measure(judge), max_label, has_empty=True, has_short=True)
    assert found == expected
    without = differences_from_definition(measure(judge), max_label, has_empty=False, has_short=False)
    assert without == [what for what in expected if what == "gain or discount"]
