"""What is kept of a comparison: one directory that survives being killed at any moment.

    store.sqlite             the runs: what each is, its state, why it failed, and its record
    values/<run>.parquet     the value of every query by every measure
    scores/<run>.parquet     the test scores, one a document
    models/<run>.pomona      the fitted ranker
    spec.toml                what was asked for last

A run's files are written whole (`whole_file`), and only then does its row become `done`, in one transaction:
so a run is either finished or will be done again, and one that is finished is never touched. Its row has the
digests of its files and of its record: what was changed, cut short, swapped or lost since is noticed, and the
run done again. Only one process works on a directory: it holds a lock that the operating system takes back
when the process ends, however it ends. What it left `running` is then queued again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

from pomona._arrays import whole_file
from pomona.errors import InputError
from pomona.experiments.execute import RunResult
from pomona.experiments.run import RunSpec

_PLACES = {"values": "values/{}.parquet", "scores": "scores/{}.parquet", "model": "models/{}.pomona"}
_TABLES = """
CREATE TABLE IF NOT EXISTS runs (
    run TEXT PRIMARY KEY, dataset TEXT, fold INTEGER, ranker TEXT, kind TEXT, parameters TEXT, seed INTEGER,
    data TEXT, state TEXT CHECK (state IN ('queued', 'running', 'done', 'failed')), reason TEXT,
    attempts INTEGER DEFAULT 0, started REAL, finished REAL, record TEXT DEFAULT '{}',
    digests TEXT DEFAULT '{}'
);
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT);
"""


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _parsed(text: Any) -> dict[str, Any]:
    """A dictionary that was kept as JSON; a damaged one is empty, as its digest then tells."""
    try:
        value = json.loads(text)
    except (TypeError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _connection(file: Path, patience: float = 5) -> contextlib.closing[sqlite3.Connection]:
    connection = sqlite3.connect(file, isolation_level=None, timeout=patience)
    connection.row_factory = sqlite3.Row
    return contextlib.closing(connection)


class Store:
    """The directory of a comparison, opened to work on it or, with `to_write=False`, to look at it."""

    def __init__(self, directory: str | Path, *, to_write: bool = True) -> None:
        self.directory = Path(directory)
        file = self.directory / "store.sqlite"
        if to_write:
            self._make_directory()
        elif not file.is_file():
            raise InputError("is no comparison, it has no store.sqlite: check the path", directory)
        with contextlib.ExitStack() as stack:
            try:
                if to_write:
                    self._lock(stack.enter_context(_connection(self.directory / "lock", patience=0)))
                self.database = stack.enter_context(_connection(file))
                if to_write:
                    self._put_in_order()
                    stack.callback(self._requeue_running)
                self._ask("SELECT state FROM runs LIMIT 1")
            except sqlite3.Error as error:
                raise InputError(f"is no store of Pomona's ({error}): use another directory", file) from None
            self._opened = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def _make_directory(self) -> None:
        try:
            for place in _PLACES.values():
                (self.directory / place).parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot be made: {error.strerror or error}", self.directory) from None

    def _lock(self, connection: sqlite3.Connection) -> None:
        try:
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            owner = "?"
            with contextlib.suppress(InputError), Store(self.directory, to_write=False) as store:
                owner = store.fact("process", owner)
            reason = f"process {owner} is comparing here: wait for it, or use another directory"
            raise InputError(reason, self.directory) from None

    def _put_in_order(self) -> None:
        """Make the tables, where there are none, and tidy up after a process that was killed."""
        self._ask("PRAGMA journal_mode = WAL")
        self._ask("PRAGMA synchronous = NORMAL")  # a row may be lost with the machine's power, never damaged
        self.database.executescript(_TABLES)
        if "digests" not in [column["name"] for column in self._ask("PRAGMA table_info(runs)")]:
            self._ask("ALTER TABLE runs ADD COLUMN digests TEXT DEFAULT '{}'")  # by an earlier version
        self._requeue_running()
        self.remember(process=os.getpid())
        for place in _PLACES.values():
            for half_written in (self.directory / place).parent.glob(".*.part"):
                half_written.unlink()

    def _requeue_running(self) -> None:
        self._ask("UPDATE runs SET state = 'queued' WHERE state = 'running'")

    def _ask(self, statement: str, *values: Any) -> list[sqlite3.Row]:
        try:
            return self.database.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            file = self.directory / "store.sqlite"
            raise InputError(f"is no store of Pomona's ({error}): use another directory", file) from None

    def remember(self, **facts: Any) -> None:
        """Keep facts of the comparison as a whole."""
        for name, value in facts.items():
            self._ask("INSERT OR REPLACE INTO facts VALUES (?, ?)", name, json.dumps(value))

    def fact(self, name: str, default: Any = None) -> Any:
        """A fact that was kept."""
        rows = self._ask("SELECT value FROM facts WHERE name = ?", name)
        return json.loads(rows[0]["value"]) if rows else default

    def enqueue(self, runs: Iterable[RunSpec]) -> None:
        """Add the runs that are not here yet; those that are get today's names."""
        self._ask("BEGIN")
        for run in runs:
            self._ask(
                "INSERT INTO runs (run, dataset, fold, ranker, kind, parameters, seed, data, state)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'queued') ON CONFLICT (run)"
                " DO UPDATE SET dataset = excluded.dataset, fold = excluded.fold, ranker = excluded.ranker",
                *(run.id, run.dataset, run.fold, run.ranker, run.kind),
                *(json.dumps(run.parameters, sort_keys=True), run.seed, run.data),
            )
        self._ask("COMMIT")

    def rows(self) -> dict[str, dict[str, Any]]:
        """Every run by its id, its record parsed."""
        rows = self._ask("SELECT * FROM runs")
        return {row["run"]: {**row, "record": _parsed(row["record"])} for row in map(dict, rows)}

    def requeue(self, run: str) -> None:
        """Have a run done again (or, if its model is here, judged again)."""
        self._ask("UPDATE runs SET state = 'queued', reason = NULL WHERE run = ?", run)

    def begin(self, run: str) -> None:
        """Note that a run is under way."""
        self._ask(
            "UPDATE runs SET state = 'running', attempts = attempts + 1, started = ? WHERE run = ?",
            *(time.time(), run),
        )

    def finish(self, result: RunResult) -> None:
        """Keep what a run left behind; from here on it is finished."""
        for kind, content in result.files.items():
            with whole_file(self.path(result.run, kind), follows_links=False) as file:
                file.write(content)
        record = json.dumps(result.record)
        contents = {**result.files, "record": record.encode()}
        digests = _parsed(self._row(result.run)["digests"]) | {
            kind: _digest(content) for kind, content in contents.items()
        }
        self._ask(
            "UPDATE runs SET state = ?, reason = ?, finished = ?, record = ?, digests = ?"
            " WHERE run = ? AND state = 'running'",
            *(result.state, result.reason, time.time(), record, json.dumps(digests), result.run),
        )

    def path(self, run: str, kind: str) -> Path:
        """Where a file of a run lies: its `values`, its `scores`, its `model`; its record in the database."""
        return self.directory / _PLACES.get(kind, "store.sqlite").format(run)

    def read(self, run: str, kind: str) -> bytes:
        """The content of a file of a run, which must be what the run left behind."""
        content, problem = self._checked(self._row(run), kind)
        if problem:
            again = "the same comparison again does this run once more"
            raise InputError(f"{problem}: {again}", self.path(run, kind))
        return content

    def damage(self, run: str) -> str | None:
        """What is wrong with what is kept of a finished run, or None."""
        row = self._row(run)
        problems = {kind: self._checked(row, kind)[1] for kind in ("record", *_PLACES)}
        return next((f"{self.path(run, kind)}: {text}" for kind, text in problems.items() if text), None)

    def _row(self, run: str) -> dict[str, Any]:
        return dict(self._ask("SELECT * FROM runs WHERE run = ?", run)[0])

    def _checked(self, row: Mapping[str, Any], kind: str) -> tuple[bytes, str]:
        """What is kept of a run, and what is wrong with it, if anything."""
        name = "{dataset} fold {fold} {ranker} seed {seed}".format(**row)
        try:
            is_record = kind == "record"
            content = str(row[kind]).encode() if is_record else self.path(row["run"], kind).read_bytes()
        except OSError as error:
            return b"", f"cannot be read ({error.strerror or error}), a part of {name}"
        # Runs of an earlier version have no digests: they, too, are done again.
        is_whole = _parsed(row.get("digests")).get(kind) == _digest(content)
        return content, "" if is_whole else f"is not as {name} left it"

    def write_text(self, name: str, text: str) -> None:
        """Write a text file beside the store, whole."""
        with whole_file(self.directory / name, follows_links=False) as file:
            file.write(text.encode())
