from pathlib import Path

import pytest

from pomona._control_group import control_groups

CGROUPS = "5:cpuset:/\n4:cpu,cpuacct:/kubepods/pod1\n0::/system.slice/job\n"


@pytest.mark.parametrize(
    ("controller", "found"),
    [
        ("", ["system.slice/job", "system.slice", "."]),
        ("cpu", ["kubepods/pod1", "kubepods", "."]),
        ("cpuset", ["."]),
        ("memory", ["."]),
    ],
)
def test_a_group_and_those_around_it(monkeypatch, controller, found):
    monkeypatch.setattr(Path, "read_text", lambda path: CGROUPS)
    mount = Path("/sys/fs/cgroup")
    assert [str(folder.relative_to(mount)) for folder in control_groups(controller, mount)] == found


def test_a_system_without_groups(monkeypatch):
    def fail(path):
        raise FileNotFoundError(path)

    monkeypatch.setattr(Path, "read_text", fail)
    assert control_groups("cpu", Path("/groups")) == [Path("/groups")]
