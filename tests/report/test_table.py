import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pomona.report.digits import signed
from pomona.report.table import (
    Cell,
    Column,
    Row,
    Table,
    bodies,
    in_units,
    make_table,
    measured,
    number,
    p_values,
    rounded,
    text,
    to_csv,
    to_html,
    to_latex,
    to_markdown,
    verdict,
    with_interval,
)

BEST = Cell(0.123456, "0.1235", 0.1, 0.2, "▲", is_best=True)
TABLE = Table(
    "results",
    "Results on 50% & more",
    (Column("Ranker", is_number=False), Column("NDCG@10", has_interval=True), Column("Train (s)")),
    (
        Row((Cell("A_1", "A_1"), BEST, Cell(2.0, "2.00")), "", "baseline"),
        Row((Cell("Ideal", "Ideal"), Cell(1.0, "1.0000"), Cell(None, "–")), "bound"),
        Row((Cell("B", "B"), Cell(None, "–"), Cell(None, "–")), "failed", "failed: no memory"),
    ),
)


def test_csv_keeps_every_digit_and_the_interval_apart():
    assert to_csv(TABLE) == (
        "Ranker,NDCG@10,NDCG@10 low,NDCG@10 high,NDCG@10 mark,Train (s),remark\n"
        "A_1,0.123456,0.1,0.2,▲,2.0,baseline\n"
        "Ideal,1.0,,,,,\n"
        "B,,,,,,failed: no memory\n"
    )


def test_markdown():
    assert to_markdown(TABLE) == (
        "**Results on 50% & more**\n"
        "\n"
        "| Ranker | NDCG@10 | Train (s) |\n"
        "| :--- | ---: | ---: |\n"
        "| A\\_1 (baseline) | **0.1235** ▲ [0.100, 0.200] | 2.00 |\n"
        "| Ideal | 1.0000 | – |\n"
        "| B (failed: no memory) | – | – |\n"
    )


def test_latex():
    assert to_latex(TABLE).splitlines() == [
        r"% \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        r"\caption{Results on 50\% \& more}",
        r"\begin{tabular}{lrr}",
        r"\toprule",
        r"Ranker & NDCG@10 & Train (s) \\",
        r"\midrule",
        r"A\_1 & \textbf{0.1235}$\uparrow$ {\scriptsize [0.100, 0.200]} & 2.00 \\",
        r"\midrule",
        r"Ideal & 1.0000 & -- \\",
        r"\midrule",
        r"B & \multicolumn{2}{l}{failed: no memory} \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]


def of_names(names):
    return Table("names", "Names", (Column("Name", False),), tuple(Row((Cell(n, n),)) for n in names))


NAMES = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r"), min_size=1), min_size=1)


FORMULA = tuple("=+-@\t\r\n")


@given(NAMES)
def test_csv_reads_back_whatever_the_names_are(names):
    rows = list(csv.reader(io.StringIO(to_csv(of_names(names)), newline="")))
    assert rows == [["Name"], *([f"'{name}" if name[:1] in FORMULA else name] for name in names)]


@pytest.mark.parametrize(
    "text", ["=cmd|' /C calc'!A0", "+1", "-2+3", "@SUM(1)", "\t=1", "\r=1", "\n=1", "+a\r=1"]
)
def test_no_text_of_a_csv_is_a_formula(text):
    """What a spreadsheet would compute gets an apostrophe, in titles and remarks as well; numbers do not."""
    columns = (Column(text, is_number=False), Column("Δ", has_interval=True))
    row = Row((Cell(text, text), Cell(-0.5, "−0.5", -1.0, -0.1)), remark=text)
    rows = list(csv.reader(io.StringIO(to_csv(Table("t", "T", columns, (row,))), newline="")))
    assert [rows[0][0], rows[1][0], rows[1][-1]] == ["'" + text.replace("\r", " ")] * 3
    assert rows[1][1:4] == ["-0.5", "-1.0", "-0.1"]


@given(NAMES)
def test_markdown_has_a_line_a_row_whatever_the_names_are(names):
    lines = to_markdown(of_names(names)).split("\n")[2:-1]
    assert len(lines) == len(names) + 2
    for line in lines:
        assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == 2


@given(NAMES)
def test_latex_escapes_whatever_the_names_are(names):
    body = to_latex(of_names(names)).split("\\midrule\n")[1].split("\\bottomrule")[0]
    known = r"\\[a-z]+(\{\})?|\\[&%$#_{}]|\\\\|\$[^$]*\$"
    assert not set("\\&%$#_{}~^") & set(re.sub(known, "", body))
    assert body.count("\\\\\n") == len(names)


def test_rows_of_a_kind_are_sorted_among_themselves():
    assert [(kind, len(rows)) for kind, rows in bodies(TABLE.rows)] == [("", 1), ("bound", 1), ("failed", 1)]


def test_columns_take_their_cells_from_rows():
    table = make_table(
        "sizes",
        "Sizes",
        [text("Name", "name"), number("Size", in_units("bytes", 1e3)), with_interval("Mean", "mean")],
        [
            {"name": "a", "bytes": 1500, "mean": 0.5, "low": 0.4, "high": 0.6, "remark": "large"},
            {"name": None, "mean": 0.5, "low": None, "high": None, "kind": "bound"},
        ],
    )
    assert [column.is_number for column in table.columns] == [False, True, True]
    first, second = table.rows
    assert [cell.text for cell in first.cells] == ["a", "1.5000", "0.5000"]
    assert (first.cells[2].interval, first.remark) == ("0.400, 0.600", "large")
    assert [cell.text for cell in second.cells] == ["–", "–", "0.5000"]
    assert (second.cells[1].value, second.kind, second.cells[2].interval) == (None, "bound", "")


def test_html_has_the_best_in_bold_and_no_tag_of_a_name():
    told = to_html(TABLE).splitlines()
    assert told[1] == "<caption>Results on 50% &amp; more</caption>"
    assert told[6].startswith('<tr><td style="text-align: left">A_1 (baseline)</td>')
    assert "<strong>0.1235</strong> ▲ [0.100, 0.200]" in told[6]
    nasty = Table("t", "", (Column("<b>", is_number=False),), (Row((Cell("<script>", "<script>"),)),))
    assert "<script>" not in to_html(nasty)
    assert "<caption>" not in to_html(nasty)
    assert to_markdown(nasty).startswith("| ")


def test_columns_that_many_tables_have():
    row = {"measure": "ndcg@10", "t_p": 0.2, "wilcoxon_p": 0.0004, "sign_p": None, "randomization_p": 0.01}
    row |= {"holm_p": 0.02, "bh_p": 0.015, "agree": True, "is_significant": False}
    row |= {"wins": 5, "ties": 0, "losses": 2, "effect": -0.1234}
    columns = [measured(), rounded("Effect d_z", "effect", 2, signed), *verdict(is_full=True)]
    table = make_table("tests", "", columns, [row])
    shown = dict(zip((c.title for c in table.columns), (c.text for c in table.rows[0].cells), strict=True))
    assert shown == {
        "Measure": "NDCG@10",
        "Effect d_z": "−0.12",
        **{"p (t)": "0.200", "p (Wilcoxon)": "< 0.001", "p (sign)": "–", "p (randomization)": "0.010"},
        **{"p (Holm)": "0.020", "p (BH)": "0.015", "Tests agree": "yes", "Significant": "no"},
        **{"Wins": "5", "Ties": "0", "Losses": "2"},
    }
    few = [column.title for column, _ in verdict("holm_p")]
    assert few == ["p (Holm)", "Significant", "Wins", "Ties", "Losses"]
    assert [column.title for column, _ in p_values()] == list(shown)[2:7]
