"""What happens to the documents of a query while a ranker learns?"""

from __future__ import annotations

from pomona.experiments.analysis.trace import Drawn, Watched, watched_in
from pomona.experiments.findings import Findings
from pomona.report.digits import count, signed
from pomona.report.names import measure_title
from pomona.report.section import Figure, Html, Numbers, Parts, Section
from pomona.report.table import Table, make_table, number, text
from pomona.report.watch_picture import Facts, has_forces, picture


class WatchSection(Section):
    """The linked picture of every query that was traced, and the journeys of its documents."""

    name = "watch"
    title = "Watching it learn"
    order = 10
    report = "trace"

    def overall(self, findings: Watched) -> Parts:
        yield from _parts(findings)


class WatchedSection(Section):
    """The same of a trace that was made for a comparison, where there is one."""

    name = "watched"
    title = "Watching one learn"
    order = 66

    def overall(self, findings: Findings) -> Parts:
        results = findings.results
        found = watched_in(results.directory, results.spec.name)
        if found is not None:
            yield Html(
                "<p>How a ranking comes about: a small {{ ranker }}, apart from the comparison, learns from "
                "{{ n }} of its queries.</p>",
                ranker=found.facts["ranker"],
                n=found.facts["n_queries"],
            )
            yield from _parts(found)


def _parts(watched: Watched) -> Parts:
    """The pictures of a trace, and its tables."""
    yield Html(
        "<p>Each picture is of one training query. Point at a document to see it in all plots; in the first, "
        "its way through the places of the ranking.</p>"
    )
    for part in watched.queries:
        chart, paper = (picture(watched.facts, part, is_paper=is_paper) for is_paper in (False, True))
        about = caption(watched.facts, part)
        yield Figure(f"watch-{part.qid}", chart, about, f"Query {part.qid}", paper=paper)
    yield Numbers(gains_table(watched), "What the queries gained")
    yield Numbers(journeys_table(watched), "Where every document began and ended")


def caption(facts: Facts, part: Drawn) -> str:
    """What is to be seen, and what was left out."""
    force = "the force on it at these scores (plus pushes up) and " if has_forces(part) else ""
    said = (
        "From above: the label of the document at each place of the ranking, a bar for as long as it is the "
        f"same document; of each document, {force}its score; and {measure_title(facts['measure'])} of this "
        f"query and of all {facts['n_queries']} training queries."
    )
    n_lines, n_columns = part.documents["row"].n_unique(), part.documents["iteration"].n_unique()
    if n_lines < part.n_documents:
        said += (
            f" Of {part.n_documents} documents, the first {max(part.places['rank'])} places are drawn, and "
            f"the lines of {n_lines}: those that end highest, and as many that have the best labels."
        )
    if n_columns < part.n_iterations:
        said += f" Of {part.n_iterations} iterations, {n_columns} are drawn."
    return said


def gains_table(watched: Watched) -> Table:
    """The measure of each query, from the first iteration to the last."""
    columns = [
        text("Query", "qid"),
        number("First", "first"),
        number("Best", "best"),
        number("at", "best_iteration", count),
        number("Last", "last"),
        number("Gained", lambda row: row["last"] - row["first"], signed),
    ]
    title = f"{measure_title(watched.facts['measure'])} while {watched.facts['ranker']} learns"
    return make_table("gains", title, columns, watched.gains.to_dicts())


def journeys_table(watched: Watched) -> Table:
    """Every document: its places, scores and forces at the first and the last iteration."""
    columns = [
        text("Document", "doc"),
        text("Query", "qid"),
        number("Label", "label", lambda label: f"{label:g}"),
        number("First place", "rank_first", count),
        number("Last place", "rank_last", count),
        number("Climbed", "climbed", lambda places: signed(places, 0)),
        number("Best place", "rank_best", count),
        number("Moves", "moves", count),
        number("Last score", "score_last"),
        number("First force", "lambda_first", signed),
        number("Last force", "lambda_last", signed),
    ]
    rows = watched.journeys.to_dicts()
    return make_table("journeys", "Every document, as the last iteration ranks them", columns, rows)
