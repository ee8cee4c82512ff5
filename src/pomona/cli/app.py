"""The command-line application: gathers the verbs, and turns every refusal into one clear line."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from pomona.errors import PomonaError

# Some releases of Typer carry their own copy of click, so its exceptions are found through Typer's.
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]
_ClickException: type[Exception] = typer.BadParameter.__mro__[2]

_NOT_VERBS = {"__init__", "app", "inputs", "options", "output"}


def _version(asked: bool) -> None:
    if asked:
        from pomona import __version__

        typer.echo(f"pomona {__version__}")
        raise typer.Exit


def build() -> typer.Typer:
    """The application: every file of this folder but the named few is a verb."""
    app = typer.Typer(
        help="Learning to rank: train towards any measure, judge exactly as any published tool would.\n\n"
        "Example:  pomona demo",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback()
    def options(
        version: Annotated[
            bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
        ] = False,
    ) -> None: ...

    for path in sorted(Path(__file__).parent.glob("*.py")):
        if path.stem not in _NOT_VERBS:
            module = importlib.import_module(f"pomona.cli.{path.stem}")
            name = path.stem.rstrip("_")
            app.command(name, short_help=(module.__doc__ or "").partition("\n")[0])(getattr(module, name))
    return app


def run() -> None:
    """Run the command line; the exit code is 0 (done), 1 (refused or failed) or 2 (wrong usage)."""
    try:
        code = build()(standalone_mode=False) or 0
    except _ClickException as error:
        message: str = error.format_message()  # type: ignore[attr-defined]
        code = _complain(message, 2 if isinstance(error, _UsageError) else 1)
    except (typer.Abort, KeyboardInterrupt):
        code = _complain("interrupted", 130)
    except PomonaError as error:
        code = _complain(str(error), 1)
    except BrokenPipeError:  # `pomona … | head`: point stdout elsewhere so that the final flush is quiet
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except typer.Exit as stop:
        code = stop.exit_code
    except MemoryError:
        code = _complain("out of memory", 1)
    except Exception as error:
        if os.environ.get("POMONA_DEBUG"):
            raise
        code = _complain(f"internal error: {type(error).__name__}: {error} (POMONA_DEBUG=1 shows where)", 1)
    sys.exit(code if isinstance(code, int) else 0)


def _complain(message: str, code: int) -> int:
    typer.echo(f"pomona: {' '.join(message.split())}", err=True)
    return code
