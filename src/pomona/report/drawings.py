"""Which charts a comparison gets, in the order of the page, each with the sentence that stands below it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from altair.utils.schemapi import debug_mode

from pomona.report import figures
from pomona.report.answer import headline_of
from pomona.report.encoding import Chart
from pomona.report.names import datasets_of, file_names, measure_title, rankers_of
from pomona.report.theme import LIGHT, vega_config

if TYPE_CHECKING:
    from pomona.experiments.findings import Findings


class Drawing(NamedTuple):
    """A chart as Vega-Lite (without config), what it is called, whose it is, and its caption."""

    name: str
    dataset: str | None
    spec: dict[str, Any]
    caption: str


@debug_mode(False)  # the tests check the charts against Vega-Lite's schema; here it would double the time
def drawings_of(findings: Findings) -> list[Drawing]:
    """Every chart that these findings have numbers for."""
    found: list[tuple[str, str | None, Chart | None, str]] = [
        (name, dataset, chart, caption)
        for dataset in datasets_of(findings)
        if rankers_of(findings, dataset)
        for name, chart, caption in _of_dataset(findings, dataset)
    ]
    winning = "Up: the share of comparisons won. Right: the number of comparisons, so how sure that share is."
    found.append(("winning-numbers", None, figures.winning_numbers(findings), winning))
    return [
        Drawing(name, dataset, _spec(chart), caption)
        for name, dataset, chart, caption in found
        if chart is not None
    ]


def _of_dataset(findings: Findings, dataset: str) -> Iterator[tuple[str, Chart | None, str]]:
    main, level = measure_title(findings.main), f"{1 - findings.alpha:.0%}"
    front = "No ranker is both better and faster than those on the dashed line."
    yield (
        "intervals",
        figures.intervals(findings, dataset),
        f"Mean {main} with its {level} bootstrap interval over queries. The dashed line is the baseline, "
        f"{findings.baseline}.",
    )
    yield (
        "cutoff-curves",
        figures.cutoff_curves(findings, dataset),
        f"NDCG by cut-off, judged by the {findings.results.spec.conventions[0]} convention; labels stand in "
        "the order of the last value.",
    )
    yield (
        "convention-curves",
        figures.convention_curves(findings, dataset),
        "The same models and the same test queries, judged by each tool’s rules on one scale.",
    )
    yield (
        "convention-ranks",
        figures.convention_ranks(findings, dataset),
        f"Ranks by {measure_title(findings.main.rpartition(':')[2])}: where lines cross, the tools disagree.",
    )
    yield (
        "trained-judged",
        figures.trained_judged(findings, dataset),
        "The same method trained with one tool’s measure and judged by another’s.",
    )
    for measure in findings.measures:
        yield (
            significance_name(findings, measure),
            figures.significance_matrix(findings, dataset, measure),
            f"{measure_title(measure)} of the row minus the column, in hundredths. Strong colours: the t, "
            "Wilcoxon and sign tests agree, and the randomization test rejects at "
            f"{findings.alpha:g} after Holm’s correction.",
        )
    yield (
        "training-front",
        figures.training_front(findings, dataset),
        f"Mean training time of a run. {front}",
    )
    yield "scoring-front", figures.scoring_front(findings, dataset), f"Scoring time of a document. {front}"
    yield (
        "learning-curves",
        figures.learning_curves(findings, dataset),
        "Mean over folds and seeds, with its interval, of the measure that each ranker was trained for.",
    )
    yield (
        "variance",
        figures.variance_shares(findings, dataset),
        f"Where the variance of {main} comes from. A large share of folds or seeds asks for more of them.",
    )
    if (pair := chosen_pair(findings, dataset)) is not None:
        yield "query-differences", figures.query_differences(findings, dataset, *pair), ""


def significance_name(findings: Findings, measure: str) -> str:
    """What the significance matrix of a measure is called: that of the main measure has the short name."""
    return "significance" if measure == findings.main else f"significance-{measure}"


def _spec(chart: Chart) -> dict[str, Any]:
    """The chart as Vega-Lite, its data as rows, without Altair's own config and schema version."""
    spec: dict[str, Any] = chart.to_dict(validate=False)
    rows = {name: json.loads(text) for name, text in spec["datasets"].items()}
    return {key: of for key, of in spec.items() if key not in ("$schema", "config")} | {"datasets": rows}


def stems_of(drawings: Iterable[Drawing]) -> dict[str, Drawing]:
    """The drawings under the names of their files, without ending."""
    drawn = list(drawings)
    datasets = file_names(list(dict.fromkeys(of.dataset for of in drawn if of.dataset is not None)))
    titles = [of.name if of.dataset is None else f"{datasets[of.dataset]} {of.name}" for of in drawn]
    return dict(zip(file_names(titles).values(), drawn, strict=True))


def chosen_pair(findings: Findings, dataset: str) -> tuple[str, str] | None:
    """The pair whose queries are shown first: the winner and the runner-up."""
    headline = headline_of(findings, dataset)
    if headline is None or headline["runner_up"] is None:
        return None
    return headline["winner"], headline["runner_up"]


def for_file(spec: Mapping[str, Any]) -> str:
    """The chart as JSON with the light theme, to be drawn outside of the page, the same on every machine.

    Its font is not the reader's but one that vl-convert carries, in one weight only: of two fonts in a PDF,
    chance decides which comes first.
    """
    config = vega_config(LIGHT, font="Liberation Sans", strong=400)
    return json.dumps({**spec, "config": config, "background": LIGHT["paper"]}, ensure_ascii=False)
