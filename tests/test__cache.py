import os
from pathlib import Path

import pytest

from pomona._cache import cache_directory, is_private


def test_the_environment_decides(monkeypatch):
    monkeypatch.setenv("POMONA_CACHE", "/somewhere")
    assert cache_directory() == Path("/somewhere")
    monkeypatch.delenv("POMONA_CACHE")
    assert cache_directory().name == "pomona"


@pytest.mark.parametrize(("mode", "private"), [(0o700, True), (0o755, True), (0o775, False), (0o1777, False)])
def test_a_directory_that_others_can_write_to_is_not_private(tmp_path, mode, private):
    directory = tmp_path / "cache"
    directory.mkdir()
    directory.chmod(mode)
    assert is_private(directory) == private


def test_a_directory_below_an_open_one_is_private_only_if_nobody_can_rename_it(tmp_path):
    below = tmp_path / "open" / "below"
    below.mkdir(parents=True, mode=0o700)
    for mode, private in ((0o777, False), (0o1777, True)):
        below.parent.chmod(mode)
        assert is_private(below) == private
    link = tmp_path / "link"
    link.symlink_to(below.parent)
    assert not is_private(link)


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give files away")
def test_another_users_directory_is_not_private(tmp_path):
    os.chown(tmp_path, 65534, -1)
    assert not is_private(tmp_path)
