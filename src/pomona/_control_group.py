"""The control groups of this process: what a container, or a service, may take of its machine (Linux)."""

from __future__ import annotations

import contextlib
from pathlib import Path


def control_groups(controller: str, mount: Path) -> list[Path]:
    """The control group of this process and those around it; in a container the outermost is the mount.

    controller : its name in version 1, where each has groups of its own; "" in version 2.
    """
    path = ""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, group = line.split(":", 2)
            if controller in controllers.split(","):
                path = group.strip("/")
    own = mount / path
    return [own, *(folder for folder in own.parents if folder.is_relative_to(mount))]
