"""What is kept of a comparison: one directory that survives being killed at any moment.

    store.sqlite             the runs: what each is, its state, why it failed, and its record
    values/<run>.parquet     the value of every query by every measure
    scores/<run>.parquet     the test scores, one a document
    models/<run>.pomona      the fitted ranker
    spec.toml                what was asked for last

A run's files are written whole (`whole_file`), and only then does its row become `done`, in one transaction:
so a run is either finished or will be done again, and one that is finished is never touched. Only one process
works on a directory: it holds a lock that the operating system takes back when the process ends, however it
ends. What it left `running` is then queued again.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import time
from collections.abc import Iterable
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
    attempts INTEGER DEFAULT 0, started REAL, finished REAL, record TEXT DEFAULT '{}'
);
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT);
"""


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
        self._requeue_running()
        self.remember(process=os.getpid())
        for place in _PLACES.values():
            for half_written in (self.directory / place).parent.glob(".*.part"):
                half_written.unlink()

    def _requeue_running(self) -> None:
        self._ask("UPDATE runs SET state = 'queued' WHERE state = 'running'")

    def _ask(self, statement: str, *values: Any) -> list[sqlite3.Row]:
        return self.database.execute(statement, values).fetchall()

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
        return {row["run"]: {**row, "record": json.loads(row["record"])} for row in map(dict, rows)}

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
            with whole_file(self.path(result.run, kind)) as file:
                file.write(content)
        self._ask(
            "UPDATE runs SET state = ?, reason = ?, finished = ?, record = ?"
            " WHERE run = ? AND state = 'running'",
            *(result.state, result.reason, time.time(), json.dumps(result.record), result.run),
        )

    def path(self, run: str, kind: str) -> Path:
        """Where a file of a run lies: its `values`, its `scores` or its `model`."""
        return self.directory / _PLACES[kind].format(run)

    def is_whole(self, run: str) -> bool:
        """Whether all files of a run are here."""
        return all(self.path(run, kind).is_file() for kind in _PLACES)

    def write_text(self, name: str, text: str) -> None:
        """Write a text file beside the store, whole."""
        with whole_file(self.directory / name) as file:
            file.write(text.encode())
