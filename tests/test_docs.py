"""The site: what its first page prints is what its code prints, and every page can be reached."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def test_the_first_page_prints_what_it_says(tmp_path, monkeypatch, capsys):
    page = (DOCS / "index.md").read_text(encoding="utf-8")
    code, printed = re.findall(r"^```(?:python|text)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    assert capsys.readouterr().out == printed


def test_every_page_stands_in_the_navigation():
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    named = set(re.findall(r"[\w/-]+\.md", (DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8")))
    made_by_hook = {page for page in named if page.startswith("reference/")} | {"changelog.md"}
    assert pages == named - made_by_hook
