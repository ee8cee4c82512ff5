"""The README as PyPI shows it: nothing in it leads nowhere."""

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from pomona._registry import entries

ROOT = Path(__file__).parents[1]


@pytest.fixture
def hook(monkeypatch):
    """The hook of the build, without what builds."""
    interface = ModuleType("hatchling.metadata.plugin.interface")
    interface.MetadataHookInterface = object
    for name in ("hatchling", "hatchling.metadata", "hatchling.metadata.plugin"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, interface.__name__, interface)
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pictures_and_links_of_the_repository_are_left_out(hook):
    made = hook.ReadmeHook()
    made.root = str(ROOT)
    metadata = {}
    made.update(metadata)
    text = metadata["readme"]["text"]
    assert metadata["readme"]["content-type"] == "text/markdown"
    assert not re.search(r"\]\((?!https:|#)|<img|src=", text)
    assert "Start in five minutes" in text  # the words of a link stay
    assert "pip install" in text


def test_links_elsewhere_stay(hook):
    text = 'See [a](docs/a.md), [b](https://b.org).\n<img src="docs/p.png" width="6">\n\nEnd'
    assert hook.for_pypi(text) == "See a, [b](https://b.org).\nEnd"


def test_in_the_repository_every_link_leads_somewhere():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!https:)([^)#]+)|src=\"([^\"]+)", text)
    assert len(links) > 15
    missing = [a or b for a, b in links if not (ROOT / (a or b)).exists()]
    assert not missing


def test_the_readme_counts_the_methods():
    names = entries("rankers").keys() - {"imported"}
    bounds = {"ideal", "worst", "random"}
    assert names > bounds
    assert len(names - bounds) == 30
    assert "Thirty methods and three bounds" in (ROOT / "README.md").read_text()
