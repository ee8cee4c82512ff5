import os
import signal
import subprocess
import sys
import time

import pytest

VERBS = ("audit", "compare", "demo", "evaluate", "list", "score", "stats", "train", "why", "winning")


def pomona(*words, **more):
    code = "from pomona.cli import main; main()"
    return subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, **more)


def test_help_lists_the_verbs():
    shown = pomona("--help")
    assert shown.returncode == 0
    for verb in VERBS:
        assert f"  {verb} " in shown.stdout


@pytest.mark.parametrize("verb", VERBS)
def test_every_help_text_has_an_example(verb):
    shown = pomona(verb, "--help")
    assert shown.returncode == 0
    assert "Example:" in shown.stdout
    assert f"  pomona {verb}" in shown.stdout
    assert "--json" in shown.stdout


def test_version():
    assert pomona("--version").stdout.startswith("pomona 0.")


@pytest.mark.parametrize(
    ("words", "code", "line"),
    [
        (["nosuch"], 2, "pomona: No such command 'nosuch'"),
        (["evaluate"], 2, "pomona: Invalid value: give DATA and SCORES, or --qrels and --run"),
        (["evaluate", "none.txt", "none.txt"], 1, "pomona: none.txt"),
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
    assert stop.value.code == 1
    assert "internal error: ZeroDivisionError" in capsys.readouterr().err
    monkeypatch.setenv("POMONA_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        app.run()


def test_a_closed_pipe_is_quiet():
    shown = subprocess.run(
        f"{sys.executable} -c 'from pomona.cli import main; main()' list measures | head -1",
        shell=True,
        capture_output=True,
        text=True,
    )
    assert shown.stderr == ""


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
