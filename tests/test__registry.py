import sys

import pytest

from pomona import _registry
from pomona.errors import InputError, PomonaError, UnknownNameError


def test_entries_are_found_without_importing_them():
    sys.modules.pop("pomona.measures.pfound", None)
    _registry.entries.cache_clear()
    found = _registry.entries("measures")
    assert found["pfound"].class_name == "PFound"
    assert found["ap"].aliases[0] == "map"
    assert "pomona.measures.pfound" not in sys.modules


def test_names_aliases_and_class_names_in_any_case():
    for name in ("ndcg", "NDCG", "nDCG_cut"):
        assert _registry.find("measures", name, "measure").class_name == "NDCG"
    with pytest.raises(UnknownNameError, match="unknown measure 'ndgc': did you mean 'ndcg'"):
        _registry.find("measures", "ndgc", "measure")


def test_a_dropped_file_is_listed(tmp_path, monkeypatch):
    room = tmp_path / "measures"
    room.mkdir()
    (room / "mine.py").write_text('class Mine:\n    """Mine."""\n    name = "mine"\n    aliases = ("m",)\n')
    monkeypatch.setattr(_registry, "__file__", str(tmp_path / "_registry.py"))
    _registry.entries.cache_clear()
    assert _registry.entries("measures")["mine"].aliases == ("m",)
    _registry.entries.cache_clear()


def test_a_class_in_a_file_of_the_users(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(
        "from __future__ import annotations\nfrom dataclasses import dataclass\nfrom typing import ClassVar\n"
        "@dataclass\nclass Mine(dict):\n    kind: ClassVar[str] = 'x'\n    depth: int = 3\n"
    )
    assert _registry.class_in_file(path, "Mine", dict, "thing")().depth == 3
    with pytest.raises(UnknownNameError, match=r"unknown thing class in .*mine\.py 'dataclass'.*known: Mine"):
        _registry.class_in_file(path, "dataclass", dict, "thing")
    with pytest.raises(InputError, match="no such file, expected a Python file with a thing class"):
        _registry.class_in_file(tmp_path / "none.py", "Mine", dict, "thing")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = 1\nclass Mine(:\n", r"mine\.py:2: is not Python: "),
        ("raise ValueError('half done')\n", r"mine\.py: cannot be loaded: ValueError: half done"),
        ("", r"unknown thing class in .*mine\.py 'Mine': \(known: none\)"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(text, told, tmp_path):
    (tmp_path / "mine.py").write_text(text)
    with pytest.raises(PomonaError, match=told):
        _registry.class_in_file(tmp_path / "mine.py", "Mine", dict, "thing")
