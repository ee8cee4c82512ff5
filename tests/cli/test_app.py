import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from fuzz.options import make_inputs, run
from pomona.cli import app

VERBS = sorted(
    path.stem.rstrip("_")
    for path in Path(app.__file__).parent.glob("*.py")
    if path.stem not in app._NOT_VERBS
)
WRITES_A_FILE = {"convert", "export", "table"}


def pomona(*words, **more):
    code = "from pomona.cli import main; main()"
    return subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, **more)


@pytest.fixture
def here(monkeypatch, capsys):
    """The command in this process: quicker, where a process of its own is not what a test is about."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["pomona", *words])
        with pytest.raises(SystemExit) as stop:
            app.run()
        shown = capsys.readouterr()
        return SimpleNamespace(returncode=stop.value.code, stdout=shown.out, stderr=shown.err)

    return run


def test_help_lists_the_verbs():
    shown = pomona("--help")
    assert shown.returncode == 0
    for verb in VERBS:
        assert f"  {verb} " in shown.stdout


@pytest.mark.parametrize("verb", VERBS)
def test_every_help_text_has_an_example(verb, here):
    shown = here(verb, "--help")
    assert shown.returncode == 0
    assert "Example:" in shown.stdout
    assert f"  pomona {verb}" in shown.stdout
    assert "--json" in shown.stdout or verb in WRITES_A_FILE


def test_every_verb_stands_under_what_it_is_for():
    assert app._named() | {"list"} == set(VERBS)


def test_version():
    assert pomona("--version").stdout.startswith("pomona 0.")


@pytest.mark.parametrize(
    ("words", "code", "line"),
    [
        (["nosuch"], 2, "pomona: No such command 'nosuch'"),
        (["evaluate"], 2, "pomona: Invalid value: give DATA and SCORES, or QRELS and RUN"),
        (["evaluate", "none.txt", "none.txt"], 2, "pomona: none.txt"),
        (["list", "things"], 2, "pomona: Invalid value for"),
        (["why", "--nonsense"], 2, "pomona: No such option"),
    ],
)
def test_errors_are_one_line(words, code, line, tmp_path):
    shown = pomona(*words, cwd=tmp_path)
    assert shown.returncode == code
    assert shown.stderr.startswith(line)
    assert shown.stderr.count("\n") == 1
    assert shown.stdout == ""


def test_an_internal_error_is_one_line_too(monkeypatch, capsys):
    from pomona.cli import app

    monkeypatch.setattr(app, "build", lambda: lambda **_: 1 / 0)
    with pytest.raises(SystemExit) as stop:
        app.run()
    assert stop.value.code == 2
    assert "internal error: ZeroDivisionError" in capsys.readouterr().err
    monkeypatch.setenv("POMONA_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        app.run()


@pytest.fixture
def files(tmp_path):
    (tmp_path / "d.txt").write_text("1 qid:1 1:1\n0 qid:1 1:2\n")
    (tmp_path / "s.txt").write_text("1\n2\n")
    (tmp_path / "q").write_text("1 0 a 1\n")
    (tmp_path / "r").write_text("1 Q0 a 1 1 t\n")
    (tmp_path / "m").write_text("no model")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.txt").symlink_to("d.txt")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("evaluate --qrels q --run r --run r", "Invalid value: --run was given 2 times, expected once"),
        ("evaluate d.txt s.txt --ties stable --ties=best", "Invalid value: --ties was given 2 times"),
        ("train mart d.txt -o m --out n", "Invalid value: --out was given 2 times"),
        ("score m d.txt -o d.txt", "Invalid value: d.txt is an input, --out would write over it"),
        ("score m d.txt -o link.txt", "Invalid value: d.txt is an input, --out would write over it"),
        ("score m link.txt -o ./d.txt", "Invalid value: link.txt is an input, --out would write over it"),
        ("score m d.txt -o m", "Invalid value: m is an input"),
        ("train mart d.txt -o d.txt", "Invalid value: d.txt is an input"),
        ("train mart s.txt --valid d.txt -o d.txt", "Invalid value: d.txt is an input"),
        ("export m -f lightgbm -o m", "Invalid value: m is an input"),
        ("evaluate folder s.txt", "folder: this is a directory, expected a file"),
        ("evaluate d.txt folder", "folder: found a directory, expected a file"),
        ("evaluate --qrels folder --run r", "folder: found a directory, expected a file"),
        ("evaluate --qrels q --run folder", "folder: found a directory, expected a file"),
        ("evaluate --qrels q --run folder --as trec_eval", "folder: found a directory"),
        ("evaluate folder s.txt --as letor4", "folder: found a directory"),
        ("evaluate d.txt folder --as ranklib", "folder: found a directory"),
        ("evaluate d.txt folder --as yahoo", "folder: found a directory"),
        ("why d.txt folder -m ndcg --from letor3 --to letor4", "folder: found a directory"),
        ("train mart folder -o n", "folder: this is a directory, expected a file"),
        ("train mart d.txt --valid folder -o n", "folder: this is a directory, expected a file"),
        ("score folder d.txt", "folder: there is no such model file"),
        ("export folder -f lightgbm", "folder: there is no such model file"),
        ("winning folder", "folder: found a directory"),
        ("stats folder", "folder: no train and no test file"),
        ("audit folder", "folder: no train and no test file"),
        ("train mart d.txt -o folder", "folder: found a directory, expected the name of a file"),
    ],
)
def test_wrong_files_are_refused_in_one_line(words, line, files, here, monkeypatch):
    monkeypatch.chdir(files)
    before = {path: path.read_bytes() for path in files.iterdir() if path.is_file()}
    shown = here(*words.split())
    assert shown.stderr.startswith(f"pomona: {line}"), shown.stderr
    assert (shown.returncode, shown.stderr.count("\n"), shown.stdout) == (2, 1, "")
    assert {path: path.read_bytes() for path in files.iterdir() if path.is_file()} == before


def test_a_warning_is_one_line(files):
    (files / "d.txt.query").write_text("1\n1\n")
    shown = pomona("stats", "d.txt", "--json", cwd=files)
    expected = "note: d.txt.query is not used: the data tell their queries\n"
    assert (shown.returncode, shown.stderr) == (0, expected)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
@pytest.mark.parametrize(
    "words", ["list measures", "list measures --json", "evaluate d.txt s.txt", "audit d.txt", "--help"]
)
def test_standard_output_on_a_full_device_is_one_line(words, files):
    code = "from pomona.cli import main; main()"
    with Path("/dev/full").open("w") as full:
        shown = subprocess.run(
            [sys.executable, "-c", code, *words.split()], cwd=files, stdout=full, stderr=subprocess.PIPE
        )
    assert shown.stderr == b"pomona: standard output cannot be written: No space left on device\n"
    assert shown.returncode == 2


def test_running_out_of_memory_is_one_line(monkeypatch, capsys):
    from pomona.cli import app

    def allocate(**_):
        raise MemoryError("Unable to allocate 7 TiB")

    monkeypatch.setattr(app, "build", lambda: allocate)
    with pytest.raises(SystemExit) as stop:
        app.run()
    assert stop.value.code == 2
    assert capsys.readouterr().err == "pomona: out of memory: Unable to allocate 7 TiB\n"


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Small files of every kind."""
    folder = tmp_path_factory.mktemp("inputs")
    make_inputs(folder)
    return folder


_PRINTS = (
    *(
        "list measures",
        "list rankers mart",
        "stats {in}/d.txt",
        "stats {in}/d.txt --json",
        "audit {in}/d.txt",
    ),
    *("evaluate {in}/d.txt {in}/s.txt -q", "score {in}/m.pomona {in}/d.txt", "inspect {in}/d.txt", "--help"),
    *("duel {in}/d.txt {in}/s.txt {in}/t.txt", "why {in}/d.txt {in}/s.txt", "measures 2,1,0", "duel --help"),
    *(
        "export {in}/m.pomona -f c",
        "convert {in}/d.txt",
        "table {in}/results.csv",
        "winning {in}/results.csv",
    ),
    *("power {in}/pilot.csv --columns old", "optimality {in}/l.pomona {in}/d.txt --directions 2", "cache"),
    *("explain {in}/m.pomona {in}/d.txt --query 3", "study size {in}/d.txt --dry-run", "--version"),
    *(
        "informative {in}/d.txt",
        "trace mart {in}/d.txt --iterations 1 --json",
        "features {in}/d.txt --trees 0",
    ),
    "parity {in}/m.pomona {in}/d.txt --engine solr",
)
"""Verbs that print something, whatever it is."""


@pytest.mark.parametrize("words", _PRINTS)
def test_a_closed_pipe_is_quiet_and_no_failure(words, inputs):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as closed:
        shown = run(words.replace("{in}", str(inputs)).split(), stdout=closed)
    notes = [line for line in shown.stderr.splitlines() if not line.startswith("note: ")]
    assert (shown.code, notes) == (0, [])


def test_what_was_found_is_told_where_nobody_reads_to_the_end(inputs):
    """A gate in a pipeline must not pass because `head` has seen enough."""
    leak = f"audit {inputs}/d.txt {inputs}/d4.txt"
    assert run(leak.split()).code == 1
    command = f"set -o pipefail; {sys.executable} -m pomona {leak} | head -1"
    shown = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert (shown.returncode, shown.stderr) == (1, "")
    assert shown.stdout.startswith("error ")


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1"])
@pytest.mark.parametrize("words", [words for words in _PRINTS if "help" not in words])
def test_an_encoding_without_our_signs_ends_no_table(words, encoding, inputs):
    told = words.replace("{in}", str(inputs)).split()
    shown, usual = run(told, encoding=encoding), run(told)
    assert (shown.code, shown.stderr) == (0, usual.stderr)
    assert len(shown.stdout.splitlines()) == len(usual.stdout.splitlines())
    if "--json" in words:
        assert json.loads(shown.stdout) == json.loads(usual.stdout)


def test_names_stay_different_in_an_encoding_that_lacks_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.txt").write_text("1 qid:北 1:1\n0 qid:北 1:2\n1 qid:京😀 1:1\n", "utf-8")
    (tmp_path / "s.txt").write_text("1\n2\n3\n")
    shown = run(["evaluate", "d.txt", "s.txt", "-q", "-m", "rr"], encoding="cp1252")
    assert [line.split() for line in shown.stdout.splitlines()[2:4]] == [
        ["\\u5317", "0.5000"],
        ["\\u4eac\\U0001f600", "1.0000"],
    ]
    told = json.loads(
        run(["evaluate", "d.txt", "s.txt", "-q", "-m", "rr", "--json"], encoding="cp1252").stdout
    )
    assert told["qids"] == ["北", "京😀"]
    (tmp_path / "d.txt").write_bytes(b"1 qid:\xff\xfe 1:1\n0 qid:\xff\xfe 1:2\n")
    (tmp_path / "s.txt").write_text("1\n2\n")
    assert run(["evaluate", "d.txt", "s.txt", "-q"]).code in (0, 2)


@pytest.mark.skipif(os.name != "posix", reason="signals as on Unix")
def test_ctrl_c_cannot_get_lost_in_an_import(tmp_path):
    """A package that catches everything while it loads does not catch Ctrl-C."""
    (tmp_path / "swallows.py").write_text(
        "import os, signal, time\n"
        "try:\n    os.kill(os.getpid(), signal.SIGINT)\n    time.sleep(5)\nexcept BaseException:\n    pass\n"
    )
    code = (
        "import sys, pomona.cli, pomona.cli.app as app\n"
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        "app.run = lambda: __import__('swallows') and print('went on')\n"
        "pomona.cli.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "\npomona: interrupted\n")


@pytest.mark.skipif(os.name != "posix", reason="signals as on Unix")
@pytest.mark.parametrize("seconds", [0.15, 0.4, 0.8, 1.6])
def test_ctrl_c_ends_a_command_whatever_it_does(tmp_path, seconds):
    code = "from pomona.cli import main; print(flush=True); main()"
    command = ["compare", "simulate(queries=2000)", "--rankers", "lambdamart(n_trees=100000)", "-o", "out"]
    process = subprocess.Popen(
        [sys.executable, "-c", code, *command],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdout.readline()
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "Traceback" not in said


@pytest.mark.parametrize("verb", ["", *VERBS])
def test_help_fits_80_columns(verb, here, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = here(*filter(None, [verb]), "--help").stdout
    assert "Usage:" in shown
    assert [line for line in shown.splitlines() if len(line) > 80] == []


def test_the_bare_command_is_its_help():
    bare = pomona()
    assert (bare.returncode, bare.stdout, bare.stderr) == (0, pomona("--help").stdout, "")


@pytest.mark.parametrize(
    ("shell", "words"),
    [
        ("bash", {"COMP_WORDS": "pomona ev", "COMP_CWORD": "1"}),
        ("zsh", {"_TYPER_COMPLETE_ARGS": "pomona ev"}),
        ("fish", {"_TYPER_COMPLETE_ARGS": "pomona ev", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}),
    ],
)
def test_shells_complete_verbs(shell, words):
    code = "import sys; sys.argv[0] = 'pomona'; from pomona.cli import main; main()"
    command = [sys.executable, "-c", code]
    asked = {**os.environ, **words, "_POMONA_COMPLETE": f"complete_{shell}"}
    assert "evaluate" in subprocess.run(command, capture_output=True, text=True, env=asked).stdout
    script = {**os.environ, "_POMONA_COMPLETE": f"source_{shell}"}
    shown = subprocess.run(command, capture_output=True, text=True, env=script).stdout
    assert f"_POMONA_COMPLETE=complete_{shell}" in shown


_TABLE = (
    ("list rankers", 0, ""),
    ("evaluate q r -m map", 0, ""),
    ("audit d.txt d.txt", 2, "pomona: d.txt: was given twice"),
    ("audit d.txt e.txt", 1, ""),
    ("stats nofile.txt", 2, "pomona: "),
    ("score m d.txt", 2, "pomona: m"),
    ("evaluate d.txt s.txt --as letor4 --ties best", 2, "pomona: Invalid value: --ties has no effect"),
)


@pytest.mark.parametrize(("words", "code", "line"), _TABLE)
def test_the_installed_command(words, code, line, files):
    """As a process of its own; below, every verb in this process."""
    (files / "e.txt").write_text("0 qid:9 1:2\n1 qid:9 1:1\n")
    command = Path(sys.executable).with_name("pomona")
    words = (
        [str(command), *words.split()]
        if command.exists()
        else [sys.executable, "-m", "pomona", *words.split()]
    )
    shown = subprocess.run(words, cwd=files, capture_output=True, text=True)
    assert shown.returncode == code, shown.stderr
    assert shown.stderr.startswith(line) if line else shown.stderr == ""
    assert shown.stderr.count("\n") == bool(line)


_WRONG = (
    *("", "nofile.txt", "folder", "/dev/null", "broken.txt", "broken.csv", "empty.csv", "broken.parquet"),
    *("huge.txt", "cut.txt.gz", "nul.csv", "deep.json", "deep.toml", "über 北.txt", "m", "-1"),
)


@pytest.mark.parametrize(
    "form",
    [
        *("audit {}", "stats {}", "inspect {}", "evaluate {} s.txt", "evaluate d.txt {}", "why {} s.txt"),
        *("duel {} s.txt s2.txt", "duel d.txt {} s.txt", "power {} s.txt s2.txt", "power {} --columns a,b"),
        *(
            "evaluate --qrels {} --run r",
            "evaluate --qrels q --run {}",
            "train mart {} -o o",
            "score {} d.txt",
        ),
        *("score m.pomona {}", "explain m.pomona {} --query 1", "export {} -f c", "convert {} -o o.csv"),
        *("parity m.pomona {} --engine solr", "optimality m.pomona {}", "features {}", "informative {}"),
        *(
            "informative d.txt --scores {}",
            "measures {}",
            "table {}",
            "winning {}",
            "report {}",
            "trace mart {}",
        ),
        *("compare {} --rankers bestfeature -o o", "study size {} --dry-run", "best {} -t 1s -o o"),
        *(
            "train mart d.txt --valid {} -o o",
            "train mart d.txt --base-model {} -o o",
            "convert d.txt {} -o o",
        ),
    ],
)
def test_wrong_files_are_one_line_for_every_verb(form, files, inputs, monkeypatch):
    monkeypatch.chdir(files)
    Path("m.pomona").write_bytes((inputs / "m.pomona").read_bytes())
    Path("s2.txt").write_text("2\n1\n")
    chance = np.random.default_rng(0)
    for name in ("broken.txt", "broken.csv", "broken.parquet"):
        Path(name).write_bytes(chance.bytes(2000))
    Path("empty.csv").write_bytes(b"")
    Path("huge.txt").write_text("1e300 qid:1 1:1e39\n-1e300 qid:1 9999999999999999999:nan\n")
    Path("cut.txt.gz").write_bytes(gzip.compress(b"1 qid:1 1:1\n" * 999)[:-9])
    Path("nul.csv").write_bytes(b"label,qid,f1\n1,1,\x00\n")
    Path("deep.json").write_text("[" * 100_000)
    Path("deep.toml").write_text("a = " + "[" * 100_000)
    Path("über 北.txt").write_text("1 qid:1 1:x\n")
    for name in _WRONG:
        shown = run([name if word == "{}" else word for word in form.split()])
        told = [line for line in shown.stderr.splitlines() if not line.startswith(("note: ", "#"))]
        assert "internal error" not in shown.stderr, f"{form} {name}: {shown.stderr}"
        assert shown.code in (0, 1, 2), f"{form} {name}"
        assert shown.code != 2 or (told[-1:] and told[-1].startswith("pomona: ")), f"{form} {name}: {told}"


_NO_MEASURES = (
    *(
        "",
        "ndcg@",
        "ndcg@0",
        "ndcg@-1",
        "@5",
        "(",
        "rbp(p=2)",
        "rbp(p=nan)",
        "err(max_grade=10000)@10",
        "a:b:c",
    ),
    *("letor4:", "none.py:M", "ndcg@1e3", "p(relevant=1e400)@3", "ndcg@" + "9" * 30, "ndcg@٣", "ndcg@5@5"),
    "x" * 9999,
)


@pytest.mark.parametrize("measure", _NO_MEASURES)
def test_nonsense_as_a_measure_is_one_line(measure, files, monkeypatch):
    monkeypatch.chdir(files)
    Path("s2.txt").write_text("2\n1\n")
    for form in (
        "evaluate d.txt s.txt",
        "duel d.txt s.txt s2.txt",
        "power d.txt s.txt s2.txt",
        "why d.txt s.txt",
    ):
        shown = run([*form.split(), "-m", measure])
        assert "internal error" not in shown.stderr, shown.stderr
        assert shown.code in (0, 2), form
        assert shown.code == 0 or shown.stderr.count("\n") == 1


@pytest.mark.parametrize("number", ["0", "-1", "1e400", "nan", "inf", "9" * 30, "", "x", "0.5", "٣"])
def test_nonsense_as_a_number_is_one_line(number, files, inputs, monkeypatch):
    monkeypatch.chdir(files)
    Path("m.pomona").write_bytes((inputs / "m.pomona").read_bytes())
    Path("s2.txt").write_text("2\n1\n")
    duel, power = "duel d.txt s.txt s2.txt", "power d.txt s.txt s2.txt"
    for words in (
        *(
            f"{duel} --alpha",
            f"{duel} --seed",
            f"{power} --power",
            f"{power} --simulations",
            f"{power} --difference",
        ),
        *("evaluate q r --as trec_eval -l", "evaluate q r --as trec_eval -M", "informative d.txt -k"),
        *("features d.txt --bins", "features d.txt --trees", "optimality m.pomona d.txt --epsilon"),
        *("optimality m.pomona d.txt --steps", "table d.txt --digits", "trace mart d.txt --iterations"),
        *(
            "parity m.pomona d.txt --engine solr --tolerance",
            "train mart d.txt -o o -s n_trees=1 -s seed=7 -s l2",
        ),
    ):
        given = words.split()
        given = [*given[:-1], f"l2={number}"] if given[-1] == "l2" else [*given, number]
        shown = run(given)
        assert "internal error" not in shown.stderr, f"{words} {number}: {shown.stderr}"
        assert shown.code in (0, 1, 2), words
