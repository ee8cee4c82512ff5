"""Show or clear what Pomona keeps: compiled kernels and parsed copies of data."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from pomona.cli.options import Json


class Action(StrEnum):
    """What is done with what is kept."""

    SHOW = "show"
    CLEAR = "clear"


_WHAT = {
    "kernels": "compiled kernels: made again in some 20 seconds when next needed",
    "data": "parsed copies of text files and tables: made again when next read",
    "vega": "the script of reports",
}
_PARTS = {"kernels": "kernels", "data": "parsed", "vega": "vega"}


def cache(
    action: Annotated[Action, typer.Argument(help="show or clear.")] = Action.SHOW,
    what: Annotated[
        str | None, typer.Option(help=f"Only these: {', '.join(_WHAT)}; all if left out.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show what is kept on this machine and how large it is, or remove it; all of it can be made again.

    The place is the operating system's for caches, or what POMONA_CACHE names. Only files that Pomona made
    are counted and removed; whatever else lies there stays.

    \b
    Example:  pomona cache
              pomona cache clear --what data
    """
    from pomona._cache import cache_directory, forget, own_files
    from pomona.cli.output import print_json, print_table
    from pomona.errors import UnknownNameError

    if what is not None and what not in _WHAT:
        raise UnknownNameError("part of the cache", what, _WHAT)
    home = cache_directory()
    parts = {name: list(own_files(_PARTS[name])) for name in _WHAT if what in (None, name)}
    facts: dict[str, Any] = {
        name: {"files": len(files), "bytes": sum(path.stat().st_size for path in files)}
        for name, files in parts.items()
    }
    if action is Action.CLEAR:
        for name in parts:
            forget(_PARTS[name])
    if as_json:
        print_json({"directory": str(home), "cleared": action is Action.CLEAR, **facts})
        return
    typer.echo(f"{home}{': cleared' if action is Action.CLEAR else ''}\n")
    rows = [
        [name, str(fact["files"]), f"{fact['bytes'] / 1e6:.1f} MB", _WHAT[name]]
        for name, fact in facts.items()
    ]
    print_table(["what", "files", "size", ""], rows)
