"""What is kept of a comparison: one directory that survives being killed at any moment.

    store.sqlite             the runs: what each is, its state, why it failed, and its record
    values/<run>.parquet     the value of every query by every measure
    scores/<run>.parquet     the test scores, one a document
    models/<run>.pomona      the fitted ranker

A run's files are written whole (`whole_file`), and only then does its row become `done`, in one transaction:
so a run is either finished or will be done again, and one that is finished is never touched. Its row has the
digests of its files and of its record: what was changed, cut short, swapped or lost since is noticed when it
is read, and the run can be done again. Only one process works on a directory: it holds a lock that the
operating system takes back when the process ends, however it ends. What it left `running` is then queued
again. To look at a store needs no permission to write.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

from pomona._arrays import whole_file
from pomona.errors import InputError
from pomona.experiments.execute import RunResult
from pomona.experiments.run import RunSpec

_PLACES = {"values": "values/{}.parquet", "scores": "scores/{}.parquet", "model": "models/{}.pomona"}
_HALF_WRITTEN = re.compile(r"\.[0-9a-f]{24}\.(parquet|pomona)\.[0-9a-f]+\.part")
"""A file of a run as `whole_file` calls it before it is whole."""

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


class DamagedRunError(InputError):
    """A file of a run that is not what the run left behind."""

    def __init__(self, problem: str, path: Path) -> None:
        super().__init__(f"{problem}: the same comparison again with --verify does this run once more", path)


def _connection(file: Path, patience: float = 5) -> contextlib.closing[sqlite3.Connection]:
    connection = sqlite3.connect(file, isolation_level=None, timeout=patience)
    connection.row_factory = sqlite3.Row
    return contextlib.closing(connection)


@contextlib.contextmanager
def _looking_at(file: Path) -> Iterator[sqlite3.Connection]:
    """A connection that changes nothing, also where nothing can be written beside the file.

    SQLite shares a database with those who write to it by files beside it. Where it cannot make them, nobody
    writes: the database is then read as it stands; a log that a killed process left is applied to a copy.
    """
    try:
        with _connection(file) as connection:
            connection.execute("PRAGMA query_only = 1")
            connection.execute("SELECT 1 FROM sqlite_master").fetchall()
            yield connection
            return
    except sqlite3.OperationalError as error:
        if _primary(error) not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
            raise
    with contextlib.ExitStack() as stack:
        beside = [file.with_name(file.name + ending) for ending in ("-wal", "-journal")]
        logs = [log for log in beside if log.is_file() and log.stat().st_size]
        if logs:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pomona-store-")))
            for one in (file, *logs):
                shutil.copyfile(one, folder / one.name)
            yield stack.enter_context(_connection(folder / file.name))
            return
        place = f"file:{quote(str(file.resolve()))}?mode=ro&immutable=1"
        connection = stack.enter_context(contextlib.closing(sqlite3.connect(place, uri=True)))
        connection.row_factory = sqlite3.Row
        yield connection


def _primary(error: sqlite3.Error) -> int:
    """The code of SQLite's error, without what it adds to some."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _refusal(error: sqlite3.Error, file: Path) -> InputError:
    """What went wrong with a database, and what to do."""
    code = _primary(error)
    if code == sqlite3.SQLITE_FULL:
        return InputError("cannot be written: the disk is full. Free some of it and go on", file)
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN):
        reason = f"cannot be written ({error}): the directory is read-only, or not yours. Use another"
        return InputError(reason, file)
    if code == sqlite3.SQLITE_IOERR:
        return InputError(f"cannot be read or written ({error}): is the disk full?", file)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return InputError("is in use by another process: wait for it, or use another directory", file)
    return InputError(f"is no store of Pomona's ({error}): use another directory", file)


class Store:
    """The directory of a comparison, opened to work on it or, with `to_write=False`, to look at it."""

    def __init__(self, directory: str | Path, *, to_write: bool = True) -> None:
        self.directory = Path(directory)
        self._file = self.directory / "store.sqlite"
        if to_write:
            self._make_directory()
        elif not self._file.is_file():
            raise InputError("is no comparison, it has no store.sqlite: check the path", directory)
        with contextlib.ExitStack() as stack:
            try:
                if to_write:
                    self._lock(stack.enter_context(_connection(self.directory / "lock", patience=0)))
                opened = _connection(self._file) if to_write else _looking_at(self._file)
                self.database = stack.enter_context(opened)
                if to_write:
                    self._put_in_order()
                    stack.callback(self._requeue_at_the_end)
                self._ask("SELECT state FROM runs LIMIT 1")
            except sqlite3.Error as error:
                raise _refusal(error, self._file) from None
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
        except sqlite3.Error as error:
            if _primary(error) not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise _refusal(error, self.directory / "lock") from None
            owner = "?"
            with contextlib.suppress(InputError), Store(self.directory, to_write=False) as store:
                owner = store.fact("process", owner)
            reason = f"process {owner} is comparing here: wait for it, or use another directory"
            raise InputError(reason, self.directory) from None

    def _put_in_order(self) -> None:
        """Make the tables, where there are none, and tidy up after a process that was killed."""
        tables = [row["name"] for row in self._ask("SELECT name FROM sqlite_master WHERE type = 'table'")]
        if tables and "runs" not in tables:
            reason = f"is no store of Pomona's (it has a table {tables[0]!r}): use another directory"
            raise InputError(reason, self._file)
        self._ask("PRAGMA journal_mode = WAL")
        self._ask("PRAGMA synchronous = NORMAL")  # a row may be lost with the machine's power, never damaged
        self.database.executescript(_TABLES)
        if "digests" not in [column["name"] for column in self._ask("PRAGMA table_info(runs)")]:
            self._ask("ALTER TABLE runs ADD COLUMN digests TEXT DEFAULT '{}'")  # by an earlier version
        self._requeue_running()
        self.remember(process=os.getpid())
        for place in _PLACES.values():
            for file in (self.directory / place).parent.glob(".*.part"):
                if _HALF_WRITTEN.fullmatch(file.name):
                    file.unlink()

    def _requeue_running(self) -> None:
        self._ask("UPDATE runs SET state = 'queued' WHERE state = 'running'")

    def _requeue_at_the_end(self) -> None:
        with contextlib.suppress(InputError):  # a full disk; who opens the store next does it, too
            self._requeue_running()

    def _ask(self, statement: str, *values: Any) -> list[sqlite3.Row]:
        try:
            return self.database.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise _refusal(error, self._file) from None

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        """All that the body changes, or nothing of it."""
        try:
            with self.database:
                self._ask("BEGIN IMMEDIATE")
                yield
        except sqlite3.Error as error:  # of the end of the transaction
            raise _refusal(error, self._file) from None

    def remember(self, **facts: Any) -> None:
        """Keep facts of the comparison as a whole."""
        with self._transaction():
            for name, value in facts.items():
                self._ask("INSERT OR REPLACE INTO facts VALUES (?, ?)", name, json.dumps(value))

    def fact(self, name: str, default: Any = None) -> Any:
        """A fact that was kept."""
        rows = self._ask("SELECT value FROM facts WHERE name = ?", name)
        return json.loads(rows[0]["value"]) if rows else default

    def enqueue(self, runs: Iterable[RunSpec]) -> None:
        """Add the runs that are not here yet; those that are get today's names."""
        with self._transaction():
            for run in runs:
                self._ask(
                    "INSERT INTO runs (run, dataset, fold, ranker, kind, parameters, seed, data, state)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'queued') ON CONFLICT (run) DO UPDATE"
                    " SET dataset = excluded.dataset, fold = excluded.fold, ranker = excluded.ranker",
                    *(run.id, run.dataset, run.fold, run.ranker, run.kind),
                    *(json.dumps(run.parameters, sort_keys=True), run.seed, run.data),
                )

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
            raise DamagedRunError(problem, self.path(run, kind))
        return content

    def damage(self, run: str) -> str | None:
        """What is wrong with what is kept of a finished run, or None; every file of it is read."""
        row = self._row(run)
        problems = {kind: self._checked(row, kind)[1] for kind in ("record", *_PLACES)}
        return next((f"{self.path(run, kind)}: {text}" for kind, text in problems.items() if text), None)

    def loss(self, run: str) -> str | None:
        """As `damage`, but of the files only whether they are there, which costs no time."""
        row = self._row(run)
        if problem := self._checked(row, "record")[1]:
            return f"{self.path(run, 'record')}: {problem}"
        lost = [kind for kind in _PLACES if not self.path(run, kind).is_file()]
        return f"{self.path(run, lost[0])}: {self._checked(row, lost[0])[1]}" if lost else None

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


def places_in(folder: Path) -> dict[str, str]:
    """Where the files of the comparison in a folder lay when it was last run, by what its spec says of them.

    Nothing, where there is no comparison.
    """
    if not (folder / "store.sqlite").is_file():
        return {}
    try:
        with Store(folder, to_write=False) as store:
            return dict(store.fact("places", {}))
    except InputError:
        return {}
