"""RankLib's printed lines, digit for digit."""

import json
from pathlib import Path

import pytest

from pomona.errors import InputError, UnknownNameError
from pomona.tools.ranklib import java_text, ranklib

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "ranklib.json").read_text())
MEASURES = (
    "NDCG@1 NDCG@3 NDCG@5 NDCG@10 NDCG@20 DCG@5 DCG@10 ERR@5 ERR@10 MAP P@1 P@5 P@10 RR@10 BEST@5".split()
)
DEFAULTS = "RR NDCG DCG ERR P BEST NDCG@0 DCG@0 ERR@0 P@0 RR@1000 RR@1 MAP@5 NDCG@1000".split()


def text(lines):
    return "".join(f"{line}\n" for line in lines)


@pytest.mark.parametrize("case", GOLDEN)
def test_golden(case, tmp_path):
    golden = GOLDEN[case]
    (tmp_path / "f").write_text(golden["features"])
    (tmp_path / "p").write_text(golden["predictions"])
    assert text(ranklib(tmp_path / "f", tmp_path / "p", MEASURES)) == golden["output.mean.txt"]
    assert text(ranklib(tmp_path / "f", tmp_path / "p", MEASURES, per_query=True)) == golden["output.idv.txt"]


def test_oracles(oracles):
    variants = {
        "": (MEASURES, 4),
        ".defaults": (DEFAULTS, 4),
        ".gmax2": (["ERR@10", "ERR@5"], 2),
        ".gmax5": (["ERR@10", "ERR@5"], 5),
    }
    compared = 0
    for case in sorted((oracles / "ranklib").iterdir()):
        files = case / "features.txt", case / "predictions.txt"
        for key, (measures, gmax) in variants.items():
            for kind, per_query in (("mean", False), ("idv", True)):
                printed = case / f"output.{kind}{key}.txt"
                if printed.exists():
                    ours = text(ranklib(*files, measures, per_query=per_query, max_grade=gmax))
                    assert ours == printed.read_text(), (case.name, printed.name)
                    compared += 1
    assert compared >= 35


def in_file_order(path, out):
    """RankLib without -score keeps the order of the file."""
    out.write_text("\n".join(str(-i) for i, _ in enumerate(path.read_text().splitlines())))
    return out


def test_oddities(oracles, tmp_path):
    case = oracles / "ranklib" / "q11_same_qid_twice"
    scores = in_file_order(case / "features.txt", tmp_path / "p")
    assert (
        text(ranklib(case / "features.txt", scores, ["NDCG@10"], per_query=True))
        == (case / "idv.txt").read_text()
    )
    case = oracles / "ranklib" / "q09_label_above_31"
    scores = in_file_order(case / "features.txt", tmp_path / "p")
    for number, name in enumerate(("NDCG@10", "DCG@10", "ERR@10"), 1):
        (line,) = ranklib(case / "features.txt", scores, [name])
        assert line in (case / f"stdout.{number}.txt").read_text().splitlines()
    case = oracles / "ranklib" / "q01_external_qrel"
    scores = in_file_order(case / "features.txt", tmp_path / "p")
    for name in ("MAP", "NDCG@5", "NDCG@10", "ERR@10"):
        for kind in ("same", "extra"):
            ours = text(
                ranklib(
                    case / "features.txt", scores, [name], per_query=True, qrels=case / f"qrels_{kind}.txt"
                )
            )
            assert ours == (case / f"idv.{name}.{kind}.txt").read_text()


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("-1 qid:1 1:0", "takes labels from 0 to 31"),
        ("32 qid:1 1:0", "takes labels from 0 to 31"),
        ("x qid:1 1:0", "expected a number"),
        ("1 1:0", "expected 'LABEL qid:QUERY features'"),
    ],
)
def test_refusals(line, why, tmp_path):
    (tmp_path / "f").write_text(f"# a comment\n\n{line}\n")
    (tmp_path / "p").write_text("1\n")
    with pytest.raises(InputError, match=f"f:3: .*{why}"):
        list(ranklib(tmp_path / "f", tmp_path / "p"))


def test_unknown_measures_are_refused(tmp_path):
    with pytest.raises(UnknownNameError, match="unknown RankLib measure 'XYZ@3'"):
        list(ranklib(tmp_path / "f", tmp_path / "p", ["XYZ@3"]))


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        (0.0, "0.0"),
        (0.001, "0.001"),
        (9.99e-4, "9.99E-4"),
        (1e7, "1.0E7"),
        (9999999.5, "9999999.5"),
        (1 / 3, "0.3333333333333333"),
    ],
)
def test_numbers_as_java_prints_them(value, printed):
    assert java_text(value) == printed
