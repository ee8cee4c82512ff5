import re
import xml.etree.ElementTree as ET

import pytest

from pomona.errors import InputError
from pomona.report.file import MARK
from pomona.report.html import write_report
from report.invented import changed, invented

NASTY = "</script><b>bold & $x_1$"


@pytest.fixture(scope="module")
def findings():
    """As few charts as there can be: they take the time."""
    small = invented(3, 20, measures=("ndcg@10",), conventions=("definition",), names={"MART": NASTY})
    return changed(small, learning=small.learning.clear())


@pytest.fixture(scope="module")
def report(findings, tmp_path_factory):
    return write_report(findings, tmp_path_factory.mktemp("report") / "new" / "folder")


def files(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != MARK
    }


def test_the_same_findings_give_the_same_bytes(findings, report, tmp_path):
    write_report(findings, tmp_path)
    assert files(tmp_path) == files(report.parent)


def test_every_table_comes_in_three_formats(report):
    stems = {path.stem for path in (report.parent / "tables").iterdir()}
    assert {"mq2008-results", "mq2008-pairs", "mq2008-costs", "mq2008-slices", "datasets"} <= stems
    for stem in stems:
        assert {path.suffix for path in (report.parent / "tables").glob(f"{stem}.*")} == {
            ".csv",
            ".md",
            ".tex",
        }


def test_every_figure_is_an_svg_and_a_pdf(report):
    stems = {path.stem for path in (report.parent / "figures").iterdir()}
    assert {"mq2008-intervals", "mq2008-cutoff-curves", "mq2008-significance", "mq2008-importance"} <= stems
    for stem in stems:
        root = ET.fromstring((report.parent / "figures" / f"{stem}.svg").read_text(encoding="utf-8"))
        assert root.tag.endswith("svg")
        assert (report.parent / "figures" / f"{stem}.pdf").read_bytes().startswith(b"%PDF-")


def test_names_in_figures_are_text(report):
    svg = (report.parent / "figures" / "mq2008-intervals.svg").read_text(encoding="utf-8")
    assert "<b>" not in svg
    assert NASTY in "".join(ET.fromstring(svg).itertext())


def test_every_file_that_the_page_links_to_is_there(report):
    page = report.read_text(encoding="utf-8")
    links = set(re.findall(r'href="((?:tables|figures)/[^"]*)"', page))
    assert links
    assert links == {name for name in files(report.parent) if name != "report.html"}


def test_links_are_not_followed_out_of_the_directory(findings, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    folder = tmp_path / "report"
    (folder / "tables").mkdir(parents=True)
    (folder / "figures").mkdir()
    for name in ("report.html", "tables/datasets.csv", "figures/mq2008-intervals.svg"):
        (folder / name).symlink_to(outside / "kept")
        with pytest.raises(InputError, match=r"is a link|is not of Pomona's making"):
            write_report(findings, folder)
        assert files(outside) == {"kept": b"kept"}
        assert [path for path in folder.rglob("*") if path.is_symlink()] == [folder / name]
        (folder / name).unlink()
    write_report(findings, folder)
    (folder / "tables").rename(tmp_path / "tables")
    (folder / "tables").symlink_to(outside)
    with pytest.raises(InputError, match="tables: is a link"):
        write_report(findings, folder)
    assert files(outside) == {"kept": b"kept"}
