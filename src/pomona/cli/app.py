"""The command-line application: gathers the verbs, and turns every refusal into one clear line."""

from __future__ import annotations

import codecs
import contextlib
import errno
import importlib
import io
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from pomona._extras import naming_extras
from pomona.errors import PomonaError

# Some releases of Typer carry their own copy of click, so its exceptions are found through Typer's.
_ClickException: type[Exception] = typer.BadParameter.__mro__[2]

_PLAIN = str.maketrans(
    {"─": "-", "–": "-", "−": "-", "▲": "^", "▼": "v", "…": "...", "’": "'", "‖": "||", "·": "*", "→": "->"}
    | {"×": "x", "µ": "u", "ε": "epsilon", "≥": ">=", "≤": "<="}
)
"""What stands for a sign that the encoding of the output lacks."""

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


EXIT_CODES = (
    "Exit codes: 0 done; 1 the verb found what it looks for (audit an error, parity a loss); "
    "2 wrong usage or a failure; 130 interrupted by Ctrl-C."
)

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
        """Refuse an output that is an input, under whatever name, and columns of what has none."""
        _refuse_columns_of_no_table(ctx)
        out = ctx.params.get("out")
        for name, value in ctx.params.items():
            for source in value if isinstance(value, list | tuple) else [value]:
                is_path = name != "out" and isinstance(source, str | Path)
                with contextlib.suppress(OSError, ValueError):  # no such file
                    if is_path and out and Path(out).is_file() and Path(out).samefile(source):
                        raise typer.BadParameter(f"{source} is an input, --out would write over it")
        return super().invoke(ctx)


def _refuse_columns_of_no_table(ctx: Any) -> None:
    """Refuse --label, --qid and --doc-id where nothing that is read has columns."""
    given = [option for option in ("label", "qid", "doc_id") if ctx.params.get(option) is not None]
    if not given:
        return
    values = [ctx.params[name] for name in _READ if ctx.params.get(name)]
    sources = [one for value in values for one in (value if isinstance(value, list | tuple) else [value])]
    if sources and not any(map(_may_be_table, map(Path, sources))):
        option = f"--{given[0].replace('_', '-')}"
        raise typer.BadParameter(
            f"{option} names a column of a table, and {sources[0]} is none: leave it out"
        )


_READ = ("data", "files", "source", "path", "valid", "test", "background", "queries")
"""The parameters of verbs by which data are read."""


def _may_be_table(path: Path) -> bool:
    from pomona.data.catalog import COLLECTIONS
    from pomona.data.table import is_table

    if path.is_file():
        return is_table(path) or path.suffix in (".json", ".toml")
    if path.is_dir():
        return any(is_table(file) for pattern in ("*", "*/*") for file in path.glob(pattern))
    return str(path).lower() not in COLLECTIONS and not str(path).startswith("simulate(")


class _Verbs(TyperGroup):
    """The verbs, by what a person wants."""

    def make_context(self, *args: Any, **more: Any) -> Any:
        """End quietly where help is cut short by `| head`."""
        with _until_closed():
            return super().make_context(*args, **more)

    def invoke(self, ctx: Any) -> Any:
        """End quietly where a verb is cut short by `| head`."""
        with _until_closed():
            return super().invoke(ctx)

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
        f"Example:  pomona demo\n\n{EXIT_CODES}",
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
    """Run the command line, and end with the exit code that `EXIT_CODES` tells."""
    warnings.showwarning = _note  # type: ignore[assignment]
    _print_what_can_be_printed()
    try:
        with naming_extras():
            code = build()(args=sys.argv[1:] or ["--help"], standalone_mode=False) or 0
        try:
            sys.stdout.flush()
        except BrokenPipeError:
            _close_output()
    except _ClickException as error:
        message: str = error.format_message()  # type: ignore[attr-defined]
        code = _complain(message)
    except (typer.Abort, KeyboardInterrupt):
        code = _complain("interrupted", 130)
    except PomonaError as error:
        code = _complain(str(error))
    except typer.Exit as stop:
        code = stop.exit_code
    except MemoryError as error:
        code = _complain(f"out of memory{f': {error}' if str(error) else ''}")
    except OSError as error:
        code = _complain(_of_the_system(error))
    except UnicodeEncodeError as error:
        code = _complain(f"found {error.object[:60]!a}, which is no text: give the file another name")
    except Exception as error:
        if os.environ.get("POMONA_DEBUG"):
            raise
        if isinstance(error, OverflowError) or "Maximum allowed" in str(error):  # NumPy's words for a size
            sys.exit(_complain(f"a number that was given is too large ({error})"))
        code = _complain(f"internal error: {type(error).__name__}: {error} (POMONA_DEBUG=1 shows where)")
    sys.exit(code if isinstance(code, int) else 0)


@contextlib.contextmanager
def _until_closed() -> Iterator[None]:
    """End with 0 when nobody reads the output any more (`pomona … | head`).

    Click, which would end with 1, must not see the error.
    """
    try:
        yield
    except BrokenPipeError:
        _close_output()
        raise typer.Exit from None


def _print_what_can_be_printed() -> None:
    """Print signs that the encoding of the output lacks as others, instead of failing in mid-table."""
    codecs.register_error("pomona", _in_plain_signs)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="pomona")


def _in_plain_signs(error: UnicodeError) -> tuple[str | bytes, int]:
    """A sign that looks alike; bytes of a name that is no text as they came; else `\\u5317`."""
    assert isinstance(error, UnicodeEncodeError)
    sign = error.object[error.start]
    if "\udc80" <= sign <= "\udcff":
        return sign.encode("utf-8", "surrogateescape"), error.start + 1
    return sign.translate(_PLAIN).encode("ascii", "backslashreplace"), error.start + 1


def _of_the_system(error: OSError) -> str:
    """What the operating system refused, and of which file."""
    reason = error.strerror or str(error)
    if error.filename is not None:
        return f"{error.filename}: {reason}"
    if error.errno in _FULL:
        _close_output()
        return f"standard output cannot be written: {reason}"
    return reason


def _complain(message: str, code: int = 2) -> int:
    with contextlib.suppress(OSError):
        typer.echo(f"pomona: {' '.join(message.split())}", err=True)
    return code


def _note(message: Warning | str, *_: Any) -> None:
    typer.echo(f"note: {' '.join(str(message).split())}", err=True)


def _close_output() -> None:
    """Point standard output to nowhere, so that the last flush, as Python ends, is quiet."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
