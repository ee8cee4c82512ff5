"""How much a measure tells: relevance inferred from its value alone, against what it is."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pomona.cli import options as option

if TYPE_CHECKING:
    from pomona.experiments.analysis.informative import Informativeness
    from pomona.measures.lists import RankedLists

    Datasets = Mapping[str, Mapping[str, RankedLists]]


def informative(
    context: typer.Context,
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="DIR|DATA",
            show_default=False,
            help="The directory of a comparison (every ranker is a system), or data: a file, a directory "
            "with folds or a collection, of which every feature is a system.",
        ),
    ] = None,
    scores: Annotated[
        list[Path] | None, typer.Option(help="A system’s scores of DATA, one a line; repeat for more.")
    ] = None,
    qrels: option.Qrels = None,
    run: Annotated[list[Path] | None, option.RUN] = None,
    measure: option.Measures = None,
    k: Annotated[
        int,
        typer.Option("-k", max=1_000_000_000, help="The cut-off of PC, precision after so many documents."),
    ] = 10,
    out: option.ReportDirectory = None,
    label: option.Label = None,
    qid: option.Qid = None,
    doc_id: option.DocId = None,
    as_json: option.Json = False,
) -> None:
    """Infer from the value of a measure where the relevant documents of a list are, by the principle of
    maximum entropy, and compare with where they are (Yilmaz & Robertson 2009). Measures are average precision
    and sums over ranks: ndcg, p@10, rbp … Labels from 1 on are relevant. RMS and MAE are errors of the
    inferred precision–recall curves; PC is the precision of the first k.

    \b
    Example:  pomona informative results/mq2008 -o informative
              pomona informative mq2007 -m ap,ndcg,ndcg@10,p@10
              pomona informative test.txt --scores bm25.txt \\
                  --scores lambdamart.txt
              pomona informative --qrels qrels.txt --run one.run --run two.run
    """
    from pomona.cli.output import finish_analysis, progress_bars, report_for
    from pomona.experiments.analysis.informative import MEASURES, informativeness

    columns = option.named_columns(label, qid, doc_id)
    used = "source measure k out as_json"
    if qrels is not None or run:
        option.refuse_unused(context, "with --qrels and --run", f"{used} qrels run")
    elif source is not None and (Path(source) / "spec.toml").is_file():
        option.refuse_unused(context, "with a comparison", used)
    datasets = _datasets(source, scores or [], qrels, run or [], columns)
    measures = option.split_measures(measure) or MEASURES
    total = len(measures) * sum(map(len, datasets.values()))
    with progress_bars("informative", ["systems"], is_quiet=as_json) as bar:
        n_seen = count(1)
        found = informativeness(
            datasets, measures, n_top=k, watch=lambda _: bar("systems", next(n_seen) / total)
        )
    if not as_json:
        _print(found)
    n_systems = found.systems["system"].n_unique()
    report = report_for(
        out,
        "informative",
        found,
        title="Informative measures",
        question="how much a measure tells about a list",
        summary=f"{', '.join(found.datasets)} · {n_systems} systems · {len(found.measures)} measures",
        datasets=found.datasets,
    )
    finish_analysis(found.tables, report, out, as_json=as_json)


def _datasets(
    source: str | None, scores: list[Path], qrels: Path | None, runs: list[Path], columns: dict[str, Any]
) -> Datasets:
    """The lists of every system, by dataset."""
    from pomona.experiments.analysis.ranked_system import (
        systems_of_features,
        systems_of_results,
        systems_of_runs,
        systems_of_scores,
    )

    if qrels is not None or runs:
        from pomona.cli.inputs import named_files

        if qrels is None or not runs or source or scores:
            raise typer.BadParameter("give --qrels FILE and --run FILE, and no other source")
        return {qrels.name: systems_of_runs(qrels, named_files(runs))}
    if source is None:
        raise typer.BadParameter("give the directory of a comparison, data, or --qrels and --run")
    if scores:
        from pomona.cli.inputs import named_files, read_scores
        from pomona.data.read import read

        data = read(source, **columns)
        return {
            source: systems_of_scores(
                data, {name: read_scores(path, data.n_docs) for name, path in named_files(scores).items()}
            )
        }
    if (Path(source) / "spec.toml").is_file():
        from pomona.experiments.results import read_results

        return systems_of_results(read_results(source))
    from pomona.data.read import read_parts

    parts = read_parts(source, **columns)
    return {source: systems_of_features(list(parts.values()))}


def _print(found: Informativeness) -> None:
    from pomona.cli.output import print_frame

    names = ["measure", *(["dataset"] if len(found.datasets) > 1 else []), "rms", "mae"]
    errors = ("rms_of_inferred_pc", "tau_of_inferred_pc", "rms_to_pc", "tau_to_pc", "n_lists")
    print_frame(found.summary.select(*names, *errors))
    first = found.summary.unique("dataset", maintain_order=True)
    if n_left_out := int(first["n_left_out"].sum()):
        typer.echo(
            f"{n_left_out} lists have no curve (none or all of their documents are relevant); "
            "means of measures and of PC count them"
        )
    if n_unsolved := int(found.summary["n_unsolved"].sum()):
        typer.echo(
            f"of {n_unsolved} lists nothing could be inferred: their value is too near the least possible"
        )
    if n_incomplete := int(first["n_incomplete"].sum()):
        typer.echo(f"{n_incomplete} lists miss relevant documents: measures count these as not retrieved")
