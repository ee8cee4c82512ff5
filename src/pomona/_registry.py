"""A folder is a registry: drop a file in and its class is found, listed and documented.

An entry is a public class whose body says `name = "..."` (and perhaps `aliases = (...)`, and a ranker its
`family`, `optimizes` and `paper`, a measure its `user_model`, a section its `report`). Files are read with
`ast`, not imported, so that listing what there is loads no torch and compiles no kernel.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pomona._docstring import section
from pomona.errors import InputError, UnknownNameError

_NAMED = re.compile(rb"^\s+name\b.*=", re.MULTILINE)
_DESCRIBING = ("family", "paper", "optimizes", "user_model", "report")


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that can be asked for by name."""

    name: str
    summary: str
    module: str
    class_name: str
    aliases: tuple[str, ...] = ()
    family: str = ""
    paper: str = ""
    optimizes: str = ""
    user_model: str = ""
    report: str = ""
    departures: str = ""
    """What a ranker does differently from its paper: the section `Departures` of its docstring."""

    def load(self) -> Any:
        """Import the file and return the class."""
        return getattr(importlib.import_module(self.module), self.class_name)


@cache
def entries(folder: str) -> dict[str, Entry]:
    """Every entry below `pomona/<folder>`, by name, in the order of the names.

    >>> sorted(entries("measures"))[:3]
    ['ap', 'best', 'dcg']
    """
    root = Path(__file__).parent
    found: dict[str, Entry] = {}
    for path in sorted((root / folder).rglob("*.py")):
        module = ".".join(("pomona", *path.relative_to(root).with_suffix("").parts))
        source = path.read_bytes()
        for node in ast.parse(source).body if _NAMED.search(source) else ():  # to parse all takes 0.1 s more
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                constants = _constants(node)
                if "name" in constants:
                    docstring = ast.get_docstring(node) or ""
                    more = {key: constants[key] for key in _DESCRIBING if key in constants}
                    name, aliases = constants["name"], tuple(constants.get("aliases", ()))
                    more |= {"departures": section(docstring, "Departures")}
                    summary = docstring.partition("\n")[0]
                    found[name] = Entry(name, summary, module, node.name, aliases, **more)
    return dict(sorted(found.items()))


def _constants(node: ast.ClassDef) -> dict[str, Any]:
    """The class attributes that describe an entry, where they are literals."""
    found: dict[str, Any] = {}
    for statement in node.body:
        if isinstance(statement, ast.AnnAssign | ast.Assign) and statement.value is not None:
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            for target in targets:
                if isinstance(target, ast.Name) and target.id in ("name", "aliases", *_DESCRIBING):
                    found[target.id] = ast.literal_eval(statement.value)
    return found


def find(folder: str, name: str, kind: str) -> Entry:
    """The entry of that name, alias or class name, in any case; an unknown one is told the nearest."""
    asked = name.lower()
    for entry in entries(folder).values():
        if asked in (entry.name, entry.class_name.lower(), *entry.aliases):
            return entry
    raise UnknownNameError(kind, name, entries(folder))


def class_in_file(path: Path, class_name: str, base: type, kind: str) -> Any:
    """A class of a user's own file, which runs the file; no name of the registry can mean it."""
    if not path.is_file():
        raise InputError(f"no such file, expected a Python file with a {kind} class", path)
    spec = importlib.util.spec_from_file_location(str(path), path)
    assert spec is not None
    module = sys.modules[str(path)] = importlib.util.module_from_spec(spec)  # dataclasses look there
    try:
        # Not by the loader: its cache takes a file of the same size and second for the same file.
        exec(compile(path.read_bytes(), str(path), "exec"), vars(module))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path) from None
    except SyntaxError as error:
        raise InputError(f"is not Python: {error.msg}", path, error.lineno) from None
    except ImportError:  # who asked knows what to say of a package that is missing
        raise
    except Exception as error:
        raise InputError(f"cannot be loaded: {type(error).__name__}: {error}", path) from None
    found = getattr(module, class_name, None)
    if not (isinstance(found, type) and issubclass(found, base)):
        known = [name for name, of in vars(module).items() if isinstance(of, type) and issubclass(of, base)]
        raise UnknownNameError(f"{kind} class in {path}", class_name, known)
    return found
