"""trec_eval's text, byte for byte, and its refusals."""

import json
import shlex
from pathlib import Path

import pytest

from pomona.errors import InputError, PomonaError, UnknownNameError
from pomona.tools.trec_eval import trec_eval
from pomona.tools.trec_eval.report import choose

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "trec_eval" / "cases.json").read_text())
SWITCHES = {"-q": "per_query", "-c": "complete", "-J": "judged_only"}
NUMBERS = {"-l": "level", "-M": "max_docs"}


def options(command):
    """The arguments of our function for the tool's command line."""
    words = shlex.split(command)[1:-2]
    out = {"measures": []}
    while words:
        word = words.pop(0)
        if word in SWITCHES:
            out[SWITCHES[word]] = True
        elif word in NUMBERS:
            out[NUMBERS[word]] = int(words.pop(0))
        else:
            assert word == "-m"
            out["measures"].append(words.pop(0))
    return out


def text(*args, **kwargs):
    return "".join(f"{line}\n" for line in trec_eval(*args, **kwargs))


def check(qrels, run, command, version, printed):
    if printed is None:
        with pytest.raises(PomonaError):
            trec_eval(qrels, run, version=version, **options(command))
    else:
        assert text(qrels, run, version=version, **options(command)) == printed


@pytest.mark.parametrize("version", [9, 10])
@pytest.mark.parametrize("case", GOLDEN)
def test_golden(case, version, tmp_path):
    golden = GOLDEN[case]
    (tmp_path / "qrels").write_text(golden["qrels"])
    (tmp_path / "run").write_text(golden["run"])
    for one in golden["runs"]:
        printed = one.get(str(version), one["9"])
        check(tmp_path / "qrels", tmp_path / "run", one["command"], version, printed)


@pytest.mark.parametrize("version", [9, 10])
def test_oracles(oracles, version):
    compared = 0
    for case in sorted((oracles / "trec_eval").iterdir()):
        for line in (case / "cmd.txt").read_text().splitlines():
            key, command = line.split(": ", 1)
            command, statuses = command.split("#")
            refused = statuses.split()[{9: 3, 10: 5}[version]] != "0"
            printed = case / f"output.{key}.v{version}.txt"
            printed = printed if printed.exists() else case / f"output.{key}.v9.txt"
            check(
                case / "qrels.txt",
                case / "run.txt",
                command,
                version,
                None if refused else printed.read_text(),
            )
            compared += 1
    assert compared >= 100


@pytest.fixture
def files(tmp_path):
    def write(qrels, run):
        (tmp_path / "qrels").write_bytes(qrels)
        (tmp_path / "run").write_bytes(run)
        return tmp_path / "qrels", tmp_path / "run"

    return write


def values(lines):
    """The third column by (name, query)."""
    return {(name.strip(), qid): value for name, qid, value in (line.split("\t") for line in lines)}


def test_the_form_of_a_line(files):
    pair = files(b"1 0 a 1\n", b"1 Q0 a 1 1 tag\n")
    assert trec_eval(*pair, measures=["map", "runid", "num_ret", "relstring"], per_query=True) == [
        "num_ret               \t1\t1",
        "map                   \t1\t1.0000",
        "relstring             \t1\t'1'",
        "runid                 \tall\ttag",
        "num_ret               \tall\t1",
        "map                   \tall\t1.0000",
    ]


def test_without_a_summary(files):
    pair = files(b"1 0 a 1\n", b"1 Q0 a 1 1 tag\n")
    assert trec_eval(*pair, measures=["map"], per_query=True, summary=False) == [
        "map                   \t1\t1.0000"
    ]


def test_ids_that_are_not_utf8_come_back_byte_for_byte(files):
    pair = files(b"\xff 0 a 1\n", b"\xff Q0 a 1 1 \xfe\n")
    lines = trec_eval(*pair, measures=["map", "runid"], per_query=True)
    assert [line.encode(errors="surrogateescape").split(b"\t")[1:] for line in lines] == [
        [b"\xff", b"1.0000"],
        [b"all", b"\xfe"],
        [b"all", b"1.0000"],
    ]


MISSING = b"1 0 a 1\n2 0 a 2\n2 0 b 1\n2 0 c -1\n", b"1 Q0 a 1 1 t\n"


def test_version_9_leaves_a_missing_query_out(files):
    found = values(trec_eval(*files(*MISSING), measures=["map", "num_q", "num_rel"], per_query=True))
    assert found == {
        ("map", "1"): "1.0000",
        ("num_rel", "1"): "1",
        ("num_q", "all"): "1",
        ("num_rel", "all"): "1",
        ("map", "all"): "1.0000",
    }


def test_version_9_complete_divides_by_all_queries(files):
    names = ["map", "gm_map", "num_q", "num_rel", "num_ret"]
    found = values(trec_eval(*files(*MISSING), measures=names, per_query=True, complete=True, level=2))
    assert found[("num_q", "all")] == "2"
    assert found[("num_rel", "all")] == "3"  # every label above 0, although the level is 2
    assert found[("num_ret", "all")] == "1"
    assert ("map", "2") not in found
    found = values(trec_eval(*files(*MISSING), measures=names, complete=True))
    assert found[("map", "all")] == "0.5000"
    assert found[("gm_map", "all")] == "0.0032"  # the root of 1 × 0.00001


def test_version_10_complete_prints_the_missing_query(files):
    names = [
        "map",
        "gm_map",
        "num_q",
        "num_rel",
        "num_ret",
        "utility",
        "relstring",
        "unj.1",
        "rbp_resid",
        "num_rel",
    ]
    found = values(trec_eval(*files(*MISSING), measures=names, per_query=True, complete=True, version=10))
    assert {name: value for (name, qid), value in found.items() if qid == "2"} == {
        "num_ret": "0",
        "num_rel": "2",
        "map": "0.0000",
        "relstring": "''",
        "utility": "0.0000",
        "rbp_resid": "0.0000",
        "unj_1": "0.0000",
    }
    assert found[("num_rel", "all")] == "3"
    assert found[("gm_map", "all")] == "0.0032"


def test_version_10_clears_by_the_printed_name(files):
    names = ["utility.2,-1,0,0", "relstring.3"]
    found = values(trec_eval(*files(*MISSING), measures=names, per_query=True, complete=True, version=10))
    assert found[("utility_2,-1,0,0", "2")] == "-1.0000"
    assert found[("relstring_3", "2")] == "'-'"


def test_version_10_stops_at_a_missing_query(files):
    qrels, run = files(*MISSING)
    with pytest.raises(InputError) as error:
        trec_eval(qrels, run, version=10)
    assert str(error.value) == (
        f"{run}: query '2' of {qrels} is missing, where trec_eval 10 stops: "
        "with -c it counts as 0, and version 9 leaves it out"
    )


def test_files_without_a_common_query(files):
    qrels, run = files(b"1 0 a 1\n", b"2 Q0 a 1 1 t\n")
    with pytest.raises(
        InputError, match=r"^no query of .*run is in .*qrels: check that they belong together$"
    ):
        trec_eval(qrels, run)


def test_nothing_retrieved_has_no_precision(files):
    # 0/0 in C, whose sign bit is set on x86, in a field of six characters.
    pair = files(b"1 0 a 1\n", b"1 Q0 b 1 1 t\n")
    lines = trec_eval(*pair, measures=["iprec_at_recall.0,1", "11pt_avg"], judged_only=True)
    assert lines == [
        "iprec_at_recall_0.00  \tall\t  -nan",
        "iprec_at_recall_1.00  \tall\t0.0000",
        "11pt_avg              \tall\t  -nan",
    ]


def test_comments_belong_to_version_10(files):
    pair = files(b"1 0 a 1\n", b"# made by hand\n1 Q0 a 1 1 t\n")
    assert trec_eval(*pair, measures=["map"], version=10) == ["map                   \tall\t1.0000"]
    with pytest.raises(InputError, match=r"run:1: found 4 fields, expected 6"):
        trec_eval(*pair, measures=["map"], version=9)


def names_of(measures, version=9):
    return [name for one in choose(measures, version) for name in one.names]


def test_the_tool_s_order_not_the_asked_one():
    assert names_of(["ndcg_cut.5", "P.10,5", "map", "runid"]) == ["runid", "map", "P_5", "P_10", "ndcg_cut_5"]


def test_of_a_measure_asked_for_twice_the_first_parameters_count():
    assert names_of(["P.5", "P.10", "P"]) == ["P_5"]
    assert names_of(["P", "P.10"]) == ["P_10"]
    assert names_of(["official", "P.7"])[-1] == "P_7"


def test_official_is_the_default():
    assert names_of([]) == names_of(["official"])
    assert names_of([])[:7] == ["runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map"]


def test_all_trec_grows_with_the_version():
    assert set(names_of(["all_trec"], 10)) - set(names_of(["all_trec"], 9)) == {
        "rbp",
        "rbp_resid",
        "unj_5",
        "unj_10",
        "unj_20",
    }


def test_unknown_measures_are_refused():
    with pytest.raises(UnknownNameError, match="unknown trec_eval 9 measure 'ndgc': did you mean 'ndcg'"):
        choose(["ndgc"], 9)
    with pytest.raises(UnknownNameError, match="unknown trec_eval 9 measure 'rbp'"):
        choose(["rbp"], 9)
    with pytest.raises(InputError, match=r"^-m P\.: found nothing after the point, expected parameters$"):
        choose(["P."], 9)


def test_measures_that_share_their_gains_in_version_10():
    with pytest.raises(
        PomonaError, match="trec_eval 10 mixes up the gains of dcg, ndcg: ask for one at a time"
    ):
        choose(["dcg", "ndcg.1=3"], 10)
    assert names_of(["dcg", "ndcg"], 10) == ["dcg", "ndcg"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"version": 8}, "found trec_eval version 8, expected 9 or 10"),
        ({"level": -1}, "found the level -1, expected 0 or more"),
        ({"max_docs": -1}, "found a maximum of -1 documents, expected 0 or more"),
    ],
)
def test_wrong_options(files, wrong, message):
    with pytest.raises(InputError) as error:
        trec_eval(*files(b"1 0 a 1\n", b"1 Q0 a 1 1 t\n"), **wrong)
    assert str(error.value) == message
