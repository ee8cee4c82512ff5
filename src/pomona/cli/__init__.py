"""The command `pomona`: one file per verb."""

from __future__ import annotations


def main() -> None:
    """Run the command line."""
    from pomona.cli.app import run

    run()
