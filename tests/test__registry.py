import sys

import pytest

from pomona import _registry
from pomona.errors import UnknownNameError


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
