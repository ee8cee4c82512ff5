import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from pomona.cli.evaluate import evaluate
from pomona.data.convert import convert
from pomona.errors import PomonaError

GOLDEN = Path(__file__).parents[1] / "golden"
LETOR = """2 qid:b 1:0 # d1
0 qid:b 1:0 # d2
0 qid:a 1:0 # d3
1 qid:b 1:0 # d4
0 qid:a 1:0 # d5
"""
SCORES = "1\n3\n1\n2\n0\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "data.txt").write_text(LETOR)
    (tmp_path / "scores.txt").write_text(SCORES)
    return str(tmp_path / "data.txt"), str(tmp_path / "scores.txt")


def run(*words):
    app = typer.Typer()
    app.command()(evaluate)
    result = CliRunner().invoke(app, list(words))
    if isinstance(result.exception, PomonaError):
        raise result.exception
    return result


def test_means_with_the_counts_beside_them(files):
    shown = run(*files, "-m", "ap,p@3", "-m", "rbp(p=0.5,relevant=2)").stdout.splitlines()
    assert shown[0].split() == ["measure", "mean", "queries", "empty", "short"]
    assert shown[2].split() == ["ap", f"{(1 / 2 + 2 / 3) / 2 / 2:.4f}", "2", "1", "–"]
    assert shown[3].split() == ["p@3", f"{2 / 3 / 2:.4f}", "2", "1", "1"]
    assert shown[4].split()[0] == "rbp(p=0.5,relevant=2)"


def test_scattered_queries_get_their_own_scores(files):
    answer = json.loads(run(*files, "-m", "rr", "--per-query", "--json").stdout)
    assert answer["qids"] == ["b", "a"]
    assert answer["per_query"]["rr"] == [1 / 2, 0]
    assert answer["n_empty"] == 1


def test_per_query_table(files):
    shown = run(*files, "-m", "rr", "-q").stdout.splitlines()
    assert [line.split() for line in shown[2:]] == [["b", "0.5000"], ["a", "0.0000"], ["mean", "0.2500"]]


def test_all_conventions(files):
    answer = json.loads(run(*files, "-m", "ndcg@3", "-m", "err", "--all-conventions", "--json").stdout)
    table = answer["conventions"]
    assert table["letor4"]["err"] is None
    assert table["yahoo"]["ndcg@3"] - table["ranklib"]["ndcg@3"] == pytest.approx(1 / 2)
    shown = run(*files, "-m", "ndcg@3", "--all-conventions").stdout
    assert "trec_eval" in shown
    assert "2 queries, 1 of them empty" in shown


def test_a_tool_without_the_measure_is_refused(files):
    for asked in (("-m", "letor4:err"), ("-m", "err", "--convention", "letor4")):
        with pytest.raises(PomonaError, match="letor4 has no ERR: it has ap, meanndcg, ndcg, p"):
            run(*files, *asked)


def test_what_is_to_be_known_of_a_number_is_said(files):
    asked = (*files, "-m", "letor4:ap@1,err@3,p(relevant=2)@1")
    answer = json.loads(run(*asked, "--json").stdout)
    assert list(answer["measures"]) == ["letor4:ap", "err@3", "p(relevant=2)@1"]
    assert answer["notes"][0] == "letor4:ap: letor4 has no cut-off here, @1 changes nothing"
    assert answer["notes"][1].startswith("err@3: the largest label is")
    assert all(f"note: {note}" in run(*asked).stdout for note in answer["notes"])
    assert "n_empty" in answer["measures"]["err@3"]


def test_ties(files):
    assert (
        json.loads(run(*files, "-m", "rr", "--ties", "best", "--json").stdout)["measures"]["rr"]["mean"]
        == 1 / 4
    )


@pytest.mark.parametrize("tool", ["letor3", "letor4", "mslr"])
def test_as_the_perl_scripts(tool, tmp_path):
    golden = json.loads((GOLDEN / f"{tool}.json").read_text())["07_short_queries"]
    files = [tmp_path / "f", tmp_path / "p"]
    files[0].write_text(golden["features"])
    files[1].write_text(golden["predictions"])
    assert run(*map(str, files), "--as", tool).stdout == golden["output.flag0.txt"]
    assert run(*map(str, files), "--as", tool, "--per-query").stdout == golden["output.flag1.txt"]
    assert run(*map(str, files), "--as", tool, "-m", "ndcg").exit_code == 2


def test_as_ranklib_and_yahoo(tmp_path):
    files = [str(tmp_path / "f"), str(tmp_path / "p")]

    def write(tool):
        golden = json.loads((GOLDEN / f"{tool}.json").read_text())["05_some_no_relevant"]
        Path(files[0]).write_text(golden["features"])
        Path(files[1]).write_text(golden["predictions"])
        return golden

    golden = write("ranklib")
    lines = run(*files, "--as", "ranklib", "-m", "NDCG@10,MAP").stdout.splitlines()
    assert set(lines) < set(golden["output.mean.txt"].splitlines())
    lines = run(*files, "--as", "ranklib", "-m", "ERR@5", "-q").stdout.splitlines()
    assert set(lines) < set(golden["output.idv.txt"].splitlines())
    golden = write("yahoo")
    assert run(*files, "--as", "yahoo").stdout == golden["output.txt"]
    assert run(*files, "--as", "yahoo", "-q").stdout == golden["output.per_query.txt"]
    assert run(*files, "--as", "yahoo-half").stdout == golden["output.half.txt"]
    assert (
        run(*files, "--as", "yahoo", "-m", "ndcg@5").stdout.splitlines()[1:]
        == golden["output.txt"].splitlines()[2:3]
    )


TREC = {
    "qrels": "1 0 a 1\n1 0 b 0\n2 0 c 2\n2 0 d 1\n",
    "run": "1 Q0 a 1 2.0 t\n1 Q0 b 2 1.0 t\n2 Q0 x 1 3 t\n2 Q0 d 2 2 t\n",
}


@pytest.fixture
def trec(tmp_path):
    for name, text in TREC.items():
        (tmp_path / name).write_text(text)
    return "--qrels", str(tmp_path / "qrels"), "--run", str(tmp_path / "run")


def test_as_trec_eval(trec):
    shown = run(*trec, "--as", "trec_eval", "-q", "-m", "map").stdout
    rows = [("1", "1.0000"), ("2", "0.2500"), ("all", "0.6250")]
    assert shown == "".join(f"{'map':<22}\t{query}\t{value}\n" for query, value in rows)
    assert run(*trec, "--as", "trec_eval-10", "-m", "map").stdout == "map                   \tall\t0.6250\n"


def test_trec_files_under_our_own_measures(trec):
    answer = json.loads(run(*trec, "-m", "ap", "-m", "trec_eval:ndcg", "--json").stdout)
    assert answer["measures"]["ap"]["mean"] == (1 + (1 / 2) / 2) / 2  # c is relevant and was not retrieved


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--as", "excel"], "unknown tool 'excel'"),
        (["-m", "nothing"], "unknown measure 'nothing'"),
        (["--convention", "letor9"], "unknown convention 'letor9'"),
        (["--as", "ranklib", "-m", "XX@3"], "unknown RankLib measure"),
    ],
)
def test_refusals(files, words, why):
    with pytest.raises(PomonaError, match=why):
        run(*files, *words)


def test_usage(files):
    assert run("--as", "trec_eval").exit_code == 2
    assert run("--as", "letor4").exit_code == 2
    assert run(files[0]).exit_code == 2


@pytest.mark.parametrize("option", [("-c",), ("-l", "2"), ("-M", "5"), ("-J",), ("--gmax", "2")])
def test_options_of_a_tool_that_is_not_asked(trec, files, option):
    """Ignored, they would leave a number that is not the one that is meant."""
    for words in ((*trec, "-m", "ap"), (*files, "--as", "letor4")):
        result = run(*words, *option)
        assert result.exit_code == 2
        assert f"{option[0]} is an option of" in " ".join(result.output.split())


@pytest.mark.parametrize("name", ["run.csv", "run.parquet"])
@pytest.mark.parametrize("ties", [None, "worst"])
def test_a_table_of_a_run_has_the_values_of_the_run(tmp_path, name, ties):
    """Documents that were judged and not retrieved count, and so do the queries that are left out."""
    qrels = "".join(f"{q} 0 d{d} {(q * d) % 4 - (d % 5 == 0)}\n" for q in range(6) for d in range(q, 12))
    lines = [(q, d, (q * d * 7) % 5 / 3) for q in range(2, 9) for d in range(0, 20, 3)]
    (tmp_path / "qrels").write_text(qrels + "9 0 d1 -1\n")
    (tmp_path / "run").write_text("".join(f"{q} Q0 d{d} 1 {s!r} t\n" for q, d, s in [*lines, (9, 1, 1.0)]))
    convert(tmp_path / "run", tmp_path / name, qrels=tmp_path / "qrels")
    wanted = ["-m", "ap,ndcg@5,rr,recall@3,err@4", "--json", *(["--ties", ties] if ties else [])]
    expected = json.loads(
        run("--qrels", str(tmp_path / "qrels"), "--run", str(tmp_path / "run"), *wanted).stdout
    )
    with pytest.warns(UserWarning, match="below 0"):
        found = json.loads(run(str(tmp_path / name), *wanted).stdout)
    assert found == expected
    assert (found["n_judged_queries_without_run"], found["n_queries_without_judgments"]) == (2, 3)


def test_a_table_without_scores_needs_some(tmp_path):
    (tmp_path / "a.csv").write_text("label,qid,x\n1,1,2\n")
    assert "a table with a column score" in " ".join(run(str(tmp_path / "a.csv")).output.split())


def test_judgments_first_as_trec_eval_has_them(tmp_path, trec):
    _, qrels, _, named_run = trec
    for words in (("-m", "map"), ("-m", "ap,ndcg@2", "-q", "--json"), ("--as", "trec_eval", "-m", "map")):
        assert run(qrels, named_run, *words).stdout == run(*trec, *words).stdout
    with pytest.raises(PomonaError, match=r"run is a TREC run; .*qrels is TREC judgments"):
        run(named_run, qrels)


def test_queries_that_only_one_of_the_files_has(trec, tmp_path):
    (tmp_path / "qrels").write_text(TREC["qrels"] + "3 0 c 1\n4 0 c 1\n")
    (tmp_path / "run").write_text(TREC["run"] + "9 Q0 x 1 1 t\n")
    told = json.loads(run(*trec, "-m", "ap", "--json").stdout)
    counts = ("n_queries", "n_judged_queries_without_run", "n_queries_without_judgments")
    assert [told[name] for name in counts] == [2, 2, 1]
    for words in ((), ("--all-conventions",), ("-q",)):
        shown = run(*trec, "-m", "ap", *words).stdout
        assert "2 judged queries are not in the run, and in no mean" in shown
        assert "1 query of the run has no judgments, and is in no mean" in shown
    (tmp_path / "qrels").write_text(TREC["qrels"])
    (tmp_path / "run").write_text(TREC["run"])
    shown = run(*trec, "-m", "ap").stdout  # of the run, x has no judgment
    assert shown.count("note: ") == shown.count("note: 1 document is not judged, and not relevant") == 1


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("--as mslr --convention yahoo", "--convention"),
        ("--as mslr --ties worst", "--ties"),
        ("--as mslr --all-conventions", "--all-conventions"),
        ("--as letor3 --label grade", "--label"),
        ("--as yahoo --qid q", "--qid"),
        ("--as yahoo -m ndcg", "--measure ndcg"),
        ("--as ranklib --qrels {qrels}", "--qrels"),
        ("--as ranklib -m NDCG@5 --gmax 3", "--gmax"),
        ("--all-conventions --convention yahoo", "--convention"),
        ("--all-conventions -q", "--per-query"),
        ("--qrels {qrels} --run {run}", "DATA"),
        ("--qrels {qrels}", "--qrels"),
        ("--run {run}", "--run"),
        ("--convention yahoo -m letor4:ap -m mslr:rr", "--convention"),
    ],
)
def test_options_without_effect_are_refused(words, named, files, trec):
    given = words.format(qrels=trec[1], run=trec[3]).split()
    result = run(*files, *given)
    assert result.exit_code == 2
    assert named in result.output
    assert result.stdout == ""
