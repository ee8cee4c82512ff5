"""What measures do: values of lists, correlation, and which lists two measures order differently."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pomona.cli.options import Json, Measures, ReportDirectory, split_measures
from pomona.errors import InputError

if TYPE_CHECKING:
    from pomona.experiments.analysis.measure_values import MeasureComparison

_MOST_PRINTED = 40


def measures(
    lists: Annotated[
        str,
        typer.Argument(
            metavar="LABELS|FILE|DIR",
            help="Labels as 4,3,2,1 (all their orders), a file with one list a line, perhaps as "
            "`name: 4 3 2 1`, or the directory of a comparison (what every ranker made of every test query).",
        ),
    ],
    measure: Measures = None,
    out: ReportDirectory = None,
    as_json: Json = False,
) -> None:
    """Compare measures by what they say of the same lists: the values, Pearson's, Spearman's and Kendall's
    correlation, and for every two measures the pairs of lists that they order differently.

    Without --measure, labels 0 and 1 are judged by WTA, RBP(p=0.5) and AP, others by NDCG, ERR and SR4
    without its ceiling, and a comparison by the measures it was judged by.

    \b
    Example:  pomona measures 4,3,2,1
              pomona measures 0,1,1,0,0 -m wta,rr,p@3,ap -o measures
              pomona measures results/mq2008 -m ndcg@10,err@10,ap
    """
    from pomona.cli.output import finish_analysis, report_for

    compared, what = _compared(lists, split_measures(measure))
    summary = f"{what} · {len(compared.values)} lists · {len(compared.measures)} measures"
    left_out = f"{compared.n_left_out} lists of queries without a relevant document are left out"
    if not as_json:
        _print(compared)
    if compared.n_left_out:
        summary += f" · {left_out}"
        if not as_json:
            typer.echo(left_out)
    question = "what measures say of the same lists"
    report = report_for(out, "measures", compared, title="Measures", question=question, summary=summary)
    finish_analysis(compared.tables, report, out, as_json=as_json)


def _compared(given: str, wanted: list[str]) -> tuple[MeasureComparison, str]:
    """The comparison, and what of."""
    from pomona.experiments.analysis.measure_values import all_orders, compare_measures, compare_measures_of

    if Path(given).is_dir():
        from pomona.experiments.results import read_results

        return compare_measures_of(read_results(given), wanted), f"the comparison in {given}"
    if Path(given).is_file():
        named = _read_lists(Path(given))
        every = [label for labels in named.values() for label in labels]
        return compare_measures(named, wanted or _usual(every)), f"the lists of {given}"
    labels = _labels(given.replace(",", " ").split(), given)
    orders = all_orders(labels)
    return compare_measures(orders, wanted or _usual(labels)), f"all orders of {given}"


def _read_lists(path: Path) -> dict[str, list[float]]:
    """Lists by their names, or by their labels: one a line, labels apart by spaces or commas."""
    from pomona.data.compression import read_bytes

    lists: dict[str, list[float]] = {}
    lines = read_bytes(path).decode(errors="replace").splitlines()
    for number, line in enumerate(lines, 1):
        content = line.partition("#")[0]
        # By the first colon: what has more, as a line of LETOR data has, is no list.
        name, colon, written = content.partition(":") if ":" in content else ("", "", content)
        words = written.replace(",", " ").split()
        if not words and not colon:
            continue
        try:
            labels = _labels(words, line.strip())
        except InputError as error:
            raise InputError(str(error), path, number) from None
        name = name.strip() or " ".join(words)
        if lists.setdefault(name, labels) != labels:
            raise InputError(f"the name {name!r} stands for two lists: give each its own", path, number)
    if not lists:
        raise InputError("found no list, expected one a line: labels such as 4,3,2,1", path)
    return lists


def _labels(words: list[str], whole: str) -> list[float]:
    try:
        labels = [float(word) for word in words]
        if not labels or not all(abs(label) < 1e6 for label in labels):
            raise ValueError
    except ValueError:
        raise InputError(
            f"found {whole!r}, expected labels such as 4,3,2,1, or an existing file or directory"
        ) from None
    return labels


def _usual(labels: list[float]) -> list[str]:
    """The thesis' choice for labels of this kind."""
    highest = max(labels)
    if set(labels) <= {0, 1}:
        return ["wta", "rbp(p=0.5)", "ap"]
    if highest == 4 and min(labels) >= 0 and not any(label % 1 for label in labels):
        return ["ndcg", "err", "sr4(clip=false)"]
    return ["ndcg", f"err(max_grade={max(1, int(-(-highest // 1)))})"]  # SeznamRank is for labels 0 to 4


def _print(compared: MeasureComparison) -> None:
    from pomona.cli.output import print_frame

    print_frame(compared.values.head(_MOST_PRINTED), digits=5)
    if len(compared.values) > _MOST_PRINTED:
        typer.echo(f"… and {len(compared.values) - _MOST_PRINTED} more lists (--json, or --out, has more)")
    for title in ("correlations", "disagreements"):
        if not compared.tables[title].is_empty():
            typer.echo(f"\n{title}")
            print_frame(compared.tables[title], digits=5)
    if not compared.examples.is_empty():
        typer.echo("\nthe clearest disagreements")
    for row in compared.examples.iter_rows(named=True):
        typer.echo(
            f"{row['first']} prefers {row['above']} ({row['first_above']:.4f} > {row['first_below']:.4f}), "
            f"{row['second']} {row['below']} ({row['second_below']:.4f} > {row['second_above']:.4f})"
        )
