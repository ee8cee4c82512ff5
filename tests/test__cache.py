from pathlib import Path

from pomona._cache import cache_directory


def test_the_environment_decides(monkeypatch):
    monkeypatch.setenv("POMONA_CACHE", "/somewhere")
    assert cache_directory() == Path("/somewhere")
    monkeypatch.delenv("POMONA_CACHE")
    assert cache_directory().name == "pomona"
