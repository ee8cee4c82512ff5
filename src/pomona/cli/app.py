"""The command-line application: gathers the verbs, and turns every refusal into one clear line."""

from __future__ import annotations

import contextlib
import errno
import importlib
import os
import sys
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from pomona._extras import naming_extras
from pomona.errors import PomonaError

# Some releases of Typer carry their own copy of click, so its exceptions are found through Typer's.
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]
_ClickException: type[Exception] = typer.BadParameter.__mro__[2]

_FULL = (errno.ENOSPC, errno.EFBIG, errno.EIO, getattr(errno, "EDQUOT", errno.ENOSPC))
_NOT_VERBS = {"__init__", "app", "inputs", "options", "output", "progress"}
_PURPOSES = {
    "Judge": ("evaluate", "duel", "power", "why", "measures", "informative"),
    "Train": ("train", "best", "score", "explain", "trace", "optimality"),
    "Compare": ("compare", "study", "report", "winning", "table", "demo"),
    "Look after data": ("inspect", "stats", "audit", "features", "cache"),
    "Carry models": ("export", "convert", "parity"),
}
"""What a person wants, and the verbs for it; one that is not named here stands under `More`."""


OLD_SPELLINGS = {
    "best": {"--folds": "--n-folds"},
    "compare": {"--measures": "--measure"},
    "convert": {"--from": "--from-format", "--to": "--format"},
    "demo": {"--queries": "--n-queries"},
    "power": {"--values": "--columns"},
    "study": {"--measures": "--measure"},
}
"""What options were once called, by verb: still understood, and in no help text."""


class _Verb(TyperCommand):
    """A verb that takes each option once, and does not write over what it reads."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse an option that is repeated though only one value of it would be used."""
        for place, word in enumerate(args):
            name, *value = word.split("=", 1)
            args[place] = "=".join([OLD_SPELLINGS.get(str(self.name), {}).get(name, name), *value])
        given: list[Any] = self.make_parser(ctx).parse_args(list(args))[2]
        for option in given:
            is_single = option.param_type_name == "option" and not (option.multiple or option.is_flag)
            if is_single and given.count(option) > 1:
                raise typer.BadParameter(
                    f"{option.opts[0]} was given {given.count(option)} times, expected once"
                )
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Refuse an output that is an input, under whatever name."""
        out = ctx.params.get("out")
        for name, value in ctx.params.items():
            for source in value if isinstance(value, list | tuple) else [value]:
                is_path = name != "out" and isinstance(source, str | Path)
                with contextlib.suppress(OSError, ValueError):  # no such file
                    if is_path and out and Path(out).is_file() and Path(out).samefile(source):
                        raise typer.BadParameter(f"{source} is an input, --out would write over it")
        return super().invoke(ctx)


class _Verbs(TyperGroup):
    """The verbs, by what a person wants."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the verbs of each purpose."""
        left = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        for purpose, names in (*_PURPOSES.items(), ("More", sorted(set(left) - _named()))):
            verbs = ((name, left[name]) for name in names if name in left)
            rows = [(name, verb.get_short_help_str(200)) for name, verb in verbs if verb]
            if rows:
                with formatter.section(purpose):
                    formatter.write_dl(rows)


def _named() -> set[str]:
    return {name for names in _PURPOSES.values() for name in names}


def _version(asked: bool) -> None:
    if asked:
        from pomona import __version__

        typer.echo(f"pomona {__version__}")
        raise typer.Exit


def build() -> typer.Typer:
    """The application: every file of this folder but the named few is a verb."""
    app = typer.Typer(
        cls=_Verbs,
        help="Learning to rank: train towards any measure, judge exactly as any published tool would.\n\n"
        "Example:  pomona demo",
        no_args_is_help=True,
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
            short_help = (module.__doc__ or "").partition("\n")[0]
            app.command(name, cls=_Verb, short_help=short_help)(getattr(module, name))
    return app


def run() -> None:
    """Run the command line; the exit code is 0 (done), 1 (refused or failed) or 2 (wrong usage)."""
    warnings.showwarning = _note  # type: ignore[assignment]
    try:
        with naming_extras():
            code = build()(args=sys.argv[1:] or ["--help"], standalone_mode=False) or 0
        sys.stdout.flush()
    except _ClickException as error:
        message: str = error.format_message()  # type: ignore[attr-defined]
        code = _complain(message, 2 if isinstance(error, _UsageError) else 1)
    except (typer.Abort, KeyboardInterrupt):
        code = _complain("interrupted", 130)
    except PomonaError as error:
        code = _complain(str(error), 1)
    except BrokenPipeError:  # `pomona … | head`
        _close_output()
        code = 0
    except typer.Exit as stop:
        code = stop.exit_code
    except MemoryError as error:
        code = _complain(f"out of memory{f': {error}' if str(error) else ''}", 1)
    except Exception as error:
        if isinstance(error, OSError) and error.filename is None and error.errno in _FULL:
            _close_output()
            sys.exit(_complain(f"standard output cannot be written: {error.strerror}", 1))
        if os.environ.get("POMONA_DEBUG"):
            raise
        code = _complain(f"internal error: {type(error).__name__}: {error} (POMONA_DEBUG=1 shows where)", 1)
    sys.exit(code if isinstance(code, int) else 0)


def _complain(message: str, code: int) -> int:
    with contextlib.suppress(OSError):
        typer.echo(f"pomona: {' '.join(message.split())}", err=True)
    return code


def _note(message: Warning | str, *_: Any) -> None:
    typer.echo(f"note: {' '.join(str(message).split())}", err=True)


def _close_output() -> None:
    """Point standard output to nowhere, so that the last flush, as Python ends, is quiet."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
