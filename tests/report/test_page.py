"""The page as text, and as it behaves in a real browser."""

import base64
import hashlib
import html
import itertools
import json
import os
import re
from html.parser import HTMLParser

import polars as pl
import pytest

from pomona.report import page as page_module
from pomona.report.comparison import comparison_report
from pomona.report.section import sections_of
from pomona.report.theme import DARK, LIGHT
from report.invented import METHODS, changed, invented

NASTY = "</script><b onclick=alert(1)>&amp;{{7*7}}\u2028'\"-->"
VOID = {"meta", "link", "input", "br", "img"}


def page(findings):
    return page_module.page(comparison_report(findings))


def hostile():
    """Findings in which everything that has a name has a bad one."""
    names = {"LambdaMART": NASTY, "MART": "<img src=x onerror=alert(2)>", "SVMmap": NASTY}
    findings = invented(4, 30, datasets=(NASTY, "b" * 80), names=names)
    bad = pl.lit(NASTY) + pl.col("qid")
    features = pl.lit(json.dumps({NASTY: 1.5, "x": None}))
    return changed(
        findings,
        queries=findings.queries.with_columns(qid=bad),
        documents=findings.documents.with_columns(qid=bad, doc=pl.lit(NASTY), features=features),
        warnings=[NASTY],
        results=changed(
            findings.results,
            facts={"command": NASTY, NASTY: NASTY},
            warnings=pl.DataFrame({"dataset": [NASTY], "check": [NASTY], "text": [NASTY]}),
        ),
    )


INHERITED = (
    "constructor",
    "__proto__",
    "toString",
    "hasOwnProperty",
    "valueOf",
    "undefined",
    "null",
    "length",
)


def inherited():
    """Findings whose rankers, datasets and queries are called what every object of JavaScript has."""
    labels = [label for label, *_ in METHODS[: len(INHERITED)]]
    names = dict(zip(labels, INHERITED, strict=True))
    findings = invented(len(INHERITED), 30, datasets=("constructor", "__proto__"), names=names)
    qid = pl.when(pl.col("qid") == findings.queries["qid"][0]).then(pl.lit("__proto__")).otherwise("qid")
    return changed(findings, queries=findings.queries.with_columns(qid=qid))


class Outline(HTMLParser):
    """Tags in order, with attributes; complains about tags that do not match."""

    def __init__(self, text):
        super().__init__()
        self.tags, self._open = [], []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def of(self, *names):
        return [attributes for tag, attributes in self.tags if tag in names]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Pages by name, on disk."""
    folder = tmp_path_factory.mktemp("pages")
    findings = {"one": invented(), "two": invented(datasets=("first", "second")), "hostile": hostile()}
    findings["inherited"] = inherited()
    for name, of in findings.items():
        (folder / f"{name}.html").write_text(page(of), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def outline(pages):
    return Outline((pages / "one.html").read_text(encoding="utf-8"))


def test_the_page_asks_nobody_for_anything(outline):
    for attributes in (attributes for _, attributes in outline.tags):
        for name in ("src", "href", "action", "poster", "data", "srcset"):
            assert not re.match(r"(?i)\s*(https?:|//|ftp:|javascript:)", attributes.get(name) or "")


def test_the_policy_names_every_script(pages):
    text = (pages / "one.html").read_text(encoding="utf-8")
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', text).group(1))
    assert policy.startswith("default-src 'none';")
    assert "unsafe-eval" not in policy
    for script in re.findall(r"<script>(.*?)</script>", text, re.DOTALL):
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


def test_no_name_can_end_a_script(pages):
    text = (pages / "hostile.html").read_text(encoding="utf-8")
    assert "<b onclick" not in text
    assert "<img" not in text.split("</style>")[1].split("<script")[0]
    assert Outline(text).of("b", "img") == []
    for data in re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.DOTALL):
        json.loads(data)


def test_landmarks_headings_and_anchors(outline):
    for landmark in ("header", "nav", "main", "footer"):
        assert len(outline.of(landmark)) == 1
    levels = [int(tag[1]) for tag, _ in outline.tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    ids = [attributes["id"] for _, attributes in outline.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    anchors = [a["href"][1:] for a in outline.of("a") if a["href"].startswith("#")]
    assert set(anchors) <= set(ids)
    assert {s["id"] for s in outline.of("section")} <= set(anchors)
    assert {s["aria-labelledby"] for s in outline.of("section")} <= set(ids)


def test_tables_and_charts_speak_to_those_who_do_not_see_them(outline):
    assert len(outline.of("table")) == len(outline.of("caption")) > 8
    assert all(th.get("scope") in ("col", "row") for th in outline.of("th"))
    charts = [a for a in outline.of("div") if a.get("class") == "chart"]
    assert len(charts) == len(comparison_report(invented()).figures) >= 17
    assert all(a["role"] == "img" and len(a["aria-label"]) > 60 for a in charts)
    assert all(a.get("aria-label") for a in outline.of("div") if a.get("role") == "region")


def test_the_order_of_the_page(outline):
    ids = [s["id"] for s in outline.of("section")]
    expected = [
        "headline", "results", "curves", "conventions", "pairs", "slices", "cost", "learning", "importance",
        "variance", "queries", "data", "repeat",
    ]  # fmt: skip
    assert ids == expected  # those of studies, searches and traces have nothing to say of this comparison
    assert [section.name for section in sections_of("comparison") if section.name in ids] == ids


def test_the_libraries_come_with_their_licenses(pages):
    text = (pages / "one.html").read_text(encoding="utf-8")
    assert "University of Washington Interactive Data Lab" in text
    assert text.count("BSD 3-Clause: Redistribution and use") == 1


def test_the_bundle_is_made_once(tmp_path, monkeypatch):
    monkeypatch.setenv("POMONA_CACHE", str(tmp_path))
    page_module.vega.cache_clear()
    made = page_module.vega()
    assert [path.suffix for path in (tmp_path / "pomona-vega").iterdir()] == [".js"]
    monkeypatch.setattr(page_module.vl_convert, "javascript_bundle", None)
    page_module.vega.cache_clear()
    assert page_module.vega() == made
    assert "</script" not in made
    assert "<!--" not in made


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="Windows has other rights")
def test_a_bundle_that_others_could_have_written_is_not_used(tmp_path, monkeypatch):
    """It is a script of every report that is made."""
    shared = tmp_path / "pomona-vega"
    shared.mkdir()
    monkeypatch.setenv("POMONA_CACHE", str(tmp_path))
    monkeypatch.setattr(page_module.vl_convert, "javascript_bundle", lambda snippet: "ours")
    name = f"vega-{page_module.version('vl-convert-python')}.js"
    for mode, used in ((0o777, "ours"), (0o775, "ours"), (0o1777, "ours"), (0o755, "theirs")):
        (shared / name).write_text("theirs")
        shared.chmod(mode)
        page_module.vega.cache_clear()
        assert page_module.vega().endswith(f"\n{used}")
        assert (shared / name).read_text() == "theirs"
    page_module.vega.cache_clear()


def test_a_cache_that_cannot_be_written_does_no_harm(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("POMONA_CACHE", str(tmp_path / "file" / "cache"))
    monkeypatch.setattr(page_module.vl_convert, "javascript_bundle", lambda snippet: "bundle")
    page_module.vega.cache_clear()
    assert page_module.vega().endswith("\nbundle")
    page_module.vega.cache_clear()


def test_twenty_rankers_on_four_thousand_queries_fit_in_eight_megabytes():
    large = invented(20, 800, 5, n_iterations=1000, n_documents=20)
    assert len(page(large).encode()) < 8_000_000


def test_odd_findings_still_make_a_page():
    few = invented(1, 5, 1, conventions=("definition",), failed=False)
    assert "there is no other ranker" in page(few)
    nothing = {name: table.clear() for name, table in few.tables.items() if name != "costs"}
    costs = few.costs.with_columns(reason=pl.lit("no memory"), n_done=0)
    text = page(changed(few, **nothing, costs=costs))
    assert "No ranker finished" in text
    assert "failed: no memory" in text


# ---- In a browser


class Opened:
    """A page in a browser, with all that it said and asked for."""

    def __init__(self, browser, path, width=1400, theme="light"):
        self.context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=theme,
            offline=True,
            reduced_motion="reduce",
        )
        self.page = self.context.new_page()
        self.said, self.asked = [], []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.said.append(dialog.message), dialog.dismiss()))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.as_uri())
        self.drawn()

    def until(self, script, argument=None):
        """Wait until a script says true. (Playwright's own waiting needs eval, which the page forbids.)"""
        for _ in range(400):
            if self.page.evaluate(script, argument):
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"it never came true: {script}")

    def drawn(self):
        """Wait until every chart that can be seen is drawn."""
        self.until(
            "() => [...document.querySelectorAll('.chart')]"
            ".every(chart => !chart.clientWidth || chart.querySelector('svg'))"
        )

    def texts(self, selector):
        return self.page.locator(selector).all_inner_texts()

    def width(self):
        return self.page.evaluate("document.documentElement.scrollWidth")


@pytest.fixture
def opened(browser, pages):
    """Open a page by name; at the end it must have said nothing and asked for nothing but itself."""
    open_pages = []

    def open_page(name, **options):
        open_pages.append((name, Opened(browser, pages / f"{name}.html", **options)))
        return open_pages[-1][1]

    yield open_page
    for name, one in open_pages:
        one.context.close()
        assert one.said == []
        assert one.asked == [(pages / f"{name}.html").as_uri()]


@pytest.mark.parametrize("name", ["one", "hostile", "inherited"])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1400])
def test_it_opens_quietly_and_fits(opened, name, theme, width):
    one = opened(name, width=width, theme=theme)
    assert one.width() == width
    for details in one.page.locator("details:visible").all():
        details.evaluate("element => { element.open = true; }")
    one.drawn()
    assert one.width() == width


@pytest.mark.parametrize(("theme", "colors"), [("light", LIGHT), ("dark", DARK)])
def test_page_and_charts_follow_the_theme(opened, theme, colors):
    one = opened("one", theme=theme)

    def rgb(color):
        return "rgb({}, {}, {})".format(*(int(color[i : i + 2], 16) for i in (1, 3, 5)))

    assert one.page.evaluate("getComputedStyle(document.body).backgroundColor") == rgb(colors["paper"])
    label = one.page.locator("#curves .chart text", has_text="LambdaMART").first
    assert label.evaluate("element => getComputedStyle(element).fill") == rgb(colors["ink"])
    one.page.emulate_media(color_scheme="dark" if theme == "light" else "light")
    other = DARK if theme == "light" else LIGHT
    assert label.evaluate("element => getComputedStyle(element).fill") == rgb(other["ink"])


def test_the_policy_stops_what_would_ask(browser, pages):
    one = Opened(browser, pages / "one.html")
    blocked = one.page.evaluate(
        """() => new Promise(resolve => {
             addEventListener("securitypolicyviolation", event => resolve(event.effectiveDirective));
             fetch("https://example.org/").catch(() => {});
           })"""
    )
    assert blocked == "connect-src"
    assert one.asked == [(pages / "one.html").as_uri()]
    one.context.close()


def test_tables_sort(opened):
    one = opened("one")
    table = "#results table"
    names = f"{table} tbody:first-of-type th"
    before = one.texts(names)
    title = one.page.locator(f"{table} thead th").nth(8)
    assert "Train" in title.inner_text()
    title.locator("button").click()
    assert title.get_attribute("aria-sort") == "descending"
    times = [float(text) for text in one.texts(f"{table} tbody:first-of-type tr td:nth-child(9)")]
    assert times == sorted(times, reverse=True)
    title.locator("button").press("Enter")
    assert title.get_attribute("aria-sort") == "ascending"
    times = [float(text) for text in one.texts(f"{table} tbody:first-of-type tr td:nth-child(9)")]
    assert times == sorted(times)
    assert one.texts(f"{table} tbody.bound th") == ["Ideal", "Worst"]
    one.page.locator(f"{table} thead th button").first.click()
    assert one.texts(names) == sorted(before)
    assert title.get_attribute("aria-sort") is None
    one.page.locator(f"{table} thead th button").nth(1).click()
    assert one.texts(names) == before


def test_what_is_missing_stands_last_either_way(opened):
    one = opened("one")
    title = one.page.locator("#results thead th button").nth(8)
    bounds = "#results tbody.bound tr td:nth-child(9)"
    for _ in range(2):
        title.click()
        assert one.texts(bounds) == ["–", "–"]


def test_the_chosen_pair_changes_the_view(opened):
    one = opened("one")
    rows = "#queries .list tbody tr:not(.documents)"
    verdict = one.page.locator("#queries .verdict")
    shape = one.page.locator("#queries .chart svg path[aria-roledescription='area mark']").first
    before = (verdict.inner_text(), one.texts(rows), shape.get_attribute("d"))
    one.page.locator("#queries select[name=b]").select_option(label="Linear regression")
    assert verdict.inner_text().startswith("LambdaMART minus Linear regression: +")
    assert one.texts(rows) != before[1]
    area = "document.querySelector(\"#queries .chart svg path[aria-roledescription='area mark']\")"
    one.until(f"old => {area} && {area}.getAttribute('d') !== old", before[2])
    assert "Linear regression" in one.page.locator("#queries .list thead").inner_text()
    differences = [float(t.replace("−", "-")) for t in one.texts(f"{rows} td:nth-child(2)")]
    assert differences == sorted(differences)
    assert differences[0] < 0
    one.page.locator("#queries .swap").click()
    assert verdict.inner_text().startswith("Linear regression minus LambdaMART: −")
    swapped = [float(t.replace("−", "-")) for t in one.texts(f"{rows} td:nth-child(2)")]
    assert swapped[0] < 0
    one.page.locator("#queries .list thead button").nth(1).click()
    assert [float(t.replace("−", "-")) for t in one.texts(f"{rows} td:nth-child(2)")] == [
        -d for d in differences
    ]


def test_the_list_tells_the_values_that_were_found(opened):
    one = opened("one")
    findings = invented()
    worst = (
        findings.queries.with_columns(d=pl.col("LambdaMART") - pl.col("LambdaMART yahoo"))
        .sort("d")
        .row(0, named=True)
    )
    first = one.texts("#queries .list tbody tr:first-child > *")
    assert first[0] == worst["qid"]
    assert first[1].replace("−", "-") == f"{worst['d']:.4f}"
    assert first[2] == f"{worst['LambdaMART']:.4f}"
    assert first[4] == str(worst["fold"])


def test_more_queries_can_be_shown(opened):
    one = opened("one")
    rows = one.page.locator("#queries .list tbody tr:not(.documents)")
    assert rows.count() == 20
    one.page.locator("#queries .more").click()
    assert rows.count() == 40


def test_opening_a_query_shows_its_documents(opened):
    one = opened("one")
    one.page.locator("#queries [name=only]").check()
    findings = invented()
    rows = one.page.locator("#queries .list tbody tr:not(.documents)")
    assert rows.count() == 20
    one.page.locator("#queries .more").click()
    assert rows.count() == findings.documents["qid"].n_unique() == 30
    button = one.page.locator("#queries .list button.open").first
    assert button.get_attribute("aria-expanded") == "false"
    button.press("Enter")
    assert button.get_attribute("aria-expanded") == "true"
    shown = one.page.locator("#queries tr.documents:visible table tbody tr")
    documents = findings.documents.filter(qid=button.inner_text()).sort("rank:LambdaMART")
    assert shown.count() == documents.height
    cells = shown.first.locator("th, td").all_inner_texts()
    best = documents.row(0, named=True)
    assert cells[:4] == [best["doc"], f"{best['label']:g}", "1", str(best["rank:LambdaMART yahoo"])]
    assert cells[4].replace("−", "-") == f"{best['score:LambdaMART']:.4f}"
    assert "BM25.body" in cells[6]
    button.click()
    assert one.page.locator("#queries tr.documents:visible").count() == 0


def test_bad_names_are_shown_as_they_are(opened):
    one = opened("hostile")
    assert NASTY.replace("\u2028", "") in one.texts("#headline")[0].replace("\u2028", "")
    one.page.locator("#queries .panel:visible [name=only]").check()
    one.page.locator("#queries .panel:visible .list button.open").first.click()
    inner = one.page.locator("#queries tr.documents:visible")
    assert NASTY.split("\u2028")[0] in inner.inner_text()
    assert one.page.evaluate("document.querySelectorAll('main b[onclick], main img').length") == 0


def test_names_that_objects_inherit_are_names_like_others(opened):
    one = opened("inherited")
    for i, dataset in enumerate(("constructor", "__proto__")):
        one.page.locator(f".choice input[value='{i}']").check()
        one.drawn()
        assert dataset in one.texts(".choice label")[i]
        shown = one.page.locator("#results .chart:visible text").all_text_contents()
        assert set(INHERITED) <= {text.strip() for text in shown}
        empty = one.page.evaluate(
            "() => [...document.querySelectorAll('.chart')].filter(chart => chart.clientWidth"
            " && !chart.querySelector('.role-mark path[d]')).length"
        )
        assert empty == 0


def test_a_tooltip_shows_text_only(opened):
    one = opened("hostile")
    one.page.locator("#results .chart:visible path[aria-roledescription='point']").first.hover()
    tooltip = one.page.locator("#vg-tooltip-element.visible")
    tooltip.wait_for()
    assert "NDCG@10" in tooltip.inner_text()
    assert tooltip.locator("b, img").count() == 0


def test_one_dataset_at_a_time_and_all_on_paper(opened):
    one = opened("two")
    titles = "#results .panel:visible h3"
    assert one.texts(titles) == ["first"]
    one.page.get_by_text("second", exact=True).first.click()
    one.drawn()
    assert one.texts(titles) == ["second"]
    assert one.texts("#queries .panel:visible h3") == ["second"]
    assert one.page.locator("#queries .panel:visible .chart svg").count() == 1
    folded = one.page.locator("details:not([open])").count()
    assert folded > 10
    one.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert one.texts(titles) == ["first", "second"]
    assert one.page.locator("details:not([open])").count() == 0
    one.drawn()
    widths = one.page.evaluate("[...document.querySelectorAll('.chart svg')].map((svg) => svg.clientWidth)")
    assert max(widths) <= 690  # as much as a page has
    one.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert one.texts(titles) == ["second"]
    assert one.page.locator("details:not([open])").count() == folded


def test_the_first_column_of_a_wide_table_stays(opened):
    one = opened("one", width=900)
    first = one.page.locator("#results tbody th").first
    before = first.bounding_box()["x"]
    scroll = "element => { element.scrollLeft = 1e6; return element.scrollLeft; }"
    assert one.page.locator("#results .scroll").first.evaluate(scroll) > 0
    assert first.bounding_box()["x"] == before


def test_paper_is_light_and_complete(opened):
    one = opened("two", theme="dark")
    pdf = one.page.pdf(format="A4")
    assert pdf.startswith(b"%PDF-")
    one.page.emulate_media(media="print", color_scheme="dark")
    assert one.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert one.page.locator("nav:visible").count() == 0


def test_links_lead_to_their_sections(opened):
    one = opened("one", width=390)
    for link in one.page.locator("nav a").all():
        link.click()
        target = one.page.evaluate("location.hash.slice(1)")
        top = one.page.locator(f"#{target}").evaluate("element => element.getBoundingClientRect().top")
        at_end = one.page.evaluate("innerHeight + scrollY >= document.documentElement.scrollHeight - 2")
        assert at_end or -2 <= top <= 100, target


def test_a_narrower_window_redraws_the_charts(opened):
    one = opened("one")
    chart = one.page.locator("#curves .chart svg")
    wide = chart.bounding_box()["width"]
    one.page.set_viewport_size({"width": 700, "height": 900})
    one.until("old => document.querySelector('#curves .chart svg').clientWidth < old", wide - 100)
    assert one.width() == 700


def test_without_scripts_the_tables_stand(browser, pages):
    context = browser.new_context(java_script_enabled=False)
    quiet = context.new_page()
    quiet.goto((pages / "two.html").as_uri())
    assert quiet.locator("#results table:visible").count() == 2
    assert "needs JavaScript" in quiet.locator("main").inner_text()
    context.close()


def test_a_large_report_opens(browser, tmp_path):
    path = tmp_path / "large.html"
    path.write_text(page(invented(20, 800, 5, n_iterations=1000, n_documents=20)), encoding="utf-8")
    one = Opened(browser, path, width=390)
    assert one.said == []
    assert one.width() == 390
    assert one.page.locator("#queries .list tbody tr:not(.documents)").count() == 20
    one.context.close()
