"""Every claim of docs/results names its test, or the section of a paper, or is called an opinion."""

import ast
import re

import pytest

from results.page import MARK, PART, RESULTS, ROOT, Page

PAGES = sorted(path.stem for path in RESULTS.glob("*.md") if path.stem != "README")
NAMED = re.compile(r"`(?P<file>tests/[\w/]+\.py)::(?P<name>\w+)`")
PAPERS = ("Busa-Fekete et al. 2012", "Hiemstra, Tax & Bockting 2017", "Modrý 2014", "Yilmaz & Robertson 2009")
FREE = re.compile(r"$|#|\||What [^.]+:$")
"""What needs none: titles, published tables."""


def named_in(file):
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return {
        node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


@pytest.mark.parametrize("name", PAGES)
def test_footnotes_lead_to_tests_or_papers(name):
    page = Page(name)
    assert set(MARK.findall(page.own)) == page.footnotes.keys()
    for label, text in page.footnotes.items():
        if found := NAMED.fullmatch(text):
            assert found["name"] in named_in(found["file"]), f"[^{label}] names no test"
        else:
            assert text.startswith(PAPERS), f"[^{label}] names neither a test nor a paper"


@pytest.mark.parametrize("name", PAGES)
def test_every_test_of_a_page_is_named_there(name):
    file = f"tests/results/test_{name.replace('-', '_')}.py"
    found = [NAMED.fullmatch(text) for text in Page(name).footnotes.values()]
    assert named_in(file) == {one["name"] for one in found if one and one["file"] == file}


@pytest.mark.parametrize("name", PAGES)
def test_every_paragraph_has_a_footnote_or_is_an_opinion(name):
    for paragraph in re.split(r"\n\n|\n(?=- )", Page(name).own):
        said = MARK.search(paragraph) or "we think" in paragraph.lower()
        assert said or FREE.match(paragraph.strip()), paragraph


@pytest.mark.parametrize("name", PAGES)
def test_a_page_names_the_commits_of_its_numbers(name):
    (part,) = (found["text"] for found in PART.finditer(Page(name).text) if found["name"] == "commits")
    made, _, since = part.partition("\n\n")
    commits = dict(re.findall(r"`(\w+)` at ([0-9a-f]{7,}) \(\d{4}-\d\d-\d\d\)", made))
    assert commits
    assert commits.keys() <= {path.stem for path in (ROOT / "examples" / "papers").glob("*.toml")}
    assert not since or (
        since.startswith("Since then: ") and "This page is made anew later." in " ".join(since.split())
    )
