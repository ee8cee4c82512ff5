import pytest

import pomona as pm
from pomona.experiments.analysis.trace import watched
from pomona.report.page import page
from pomona.report.section import Figure, Numbers, compose, report_of
from pomona.report.sections.watch import WatchedSection, WatchSection, caption
from report.invented import changed, invented

DATA = pm.simulate(20, docs_per_query=60, n_features=6, seed=2)
NASTY = "</script><b onclick=alert(1)>{{7*7}}'\""


def traced(n_trees=4, data=DATA, queries=None):
    trace = pm.Trace(queries)
    pm.LambdaMART(n_trees=n_trees, n_leaves=4).fit(data, trace=trace)
    return trace


def test_a_picture_of_every_query_and_what_became_of_its_documents():
    found = watched(traced(queries=[DATA.qids[0], DATA.qids[1]]))
    (one,) = compose([WatchSection()], found, ())
    figures = [part for part in one.overall if isinstance(part, Figure)]
    assert [figure.title for figure in figures] == [f"Query {DATA.qids[0]}", f"Query {DATA.qids[1]}"]
    gains, journeys = (part.table for part in one.overall if isinstance(part, Numbers))
    assert len(gains.rows) == 3
    assert len(journeys.rows) == DATA.query_ptr[2]


def test_what_is_left_out_is_said():
    short, long = (watched(traced(n, queries=[DATA.qids[0]])) for n in (4, 150))
    assert "are drawn" not in caption(short.facts, changed(short.queries[0], n_documents=12)).replace(
        "places are drawn", ""
    )
    said = caption(long.facts, changed(long.queries[0], n_documents=300))
    assert "Of 300 documents, the first" in said
    assert "Of 151 iterations, 100 are drawn." in said


def test_a_comparison_shows_a_trace_if_it_has_one(tmp_path):
    findings = invented()
    assert list(WatchedSection().overall(findings)) == []
    trace = traced()
    trace.facts["comparison"] = findings.results.spec.name
    trace.write(tmp_path)
    with_trace = changed(findings, results=changed(findings.results, directory=tmp_path))
    first, *_ = WatchedSection().overall(with_trace)
    assert "a small LambdaMART, apart from the comparison, learns from 20 of its queries" in first.text


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pointing_at_a_document_shows_it_in_all_plots(browser, tmp_path, scheme):
    data = pm.Dataset(
        DATA.X,
        DATA.y,
        [NASTY if qid == DATA.qids[0] else str(qid) for qid in DATA.qid],
        doc_ids=[f"{NASTY}{i}" for i in range(DATA.n_docs)],
    )
    found = watched(traced(data=data, queries=[NASTY]))
    report = report_of("trace", found, title=NASTY, question="how", summary=NASTY)
    (tmp_path / "report.html").write_text(page(report), encoding="utf-8")
    tab = browser.new_page(viewport={"width": 1000, "height": 1600}, color_scheme=scheme)
    errors = []
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    tab.goto((tmp_path / "report.html").as_uri())
    tab.wait_for_selector("#watch .chart svg")
    bars = tab.locator("#watch .mark-rect.role-mark path")
    assert bars.count() == len(found.queries[0].bars)

    def faded():
        return sum(float(bars.nth(i).get_attribute("opacity") or 1) < 1 for i in range(bars.count()))

    assert faded() == 0
    bars.nth(0).hover(force=True)
    bars.nth(bars.count() // 2).hover(force=True)
    tab.locator("#vg-tooltip-element.visible").wait_for()
    tip = tab.locator("#vg-tooltip-element").inner_text()
    assert NASTY in tip
    assert "undefined" not in tip
    assert 0 < faded() < bars.count()
    assert errors == []
    tab.close()
