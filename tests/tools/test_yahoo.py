"""The Yahoo challenge's evaluate.py, to the last bit."""

import json
from pathlib import Path

import pytest

from pomona.errors import InputError, PomonaError
from pomona.tools.yahoo import yahoo

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "yahoo.json").read_text())


def text(lines):
    return "".join(f"{line}\n" for line in lines)


def check(labels, ranks, printed):
    assert text(yahoo(labels, ranks)) == printed("output.txt")
    assert text(yahoo(labels, ranks, per_query=True, cutoffs=(10, 5))) == printed("output.per_query.txt")
    half = {"cutoffs": (10,), "empty": 0.5}
    assert text(yahoo(labels, ranks, **half)) == printed("output.half.txt")
    assert text(yahoo(labels, ranks, per_query=True, **half)) == printed("output.half.per_query.txt")


@pytest.mark.parametrize("case", GOLDEN)
def test_golden(case, tmp_path):
    for name in ("features", "predictions", "labels", "ranks"):
        (tmp_path / name).write_text(GOLDEN[case][name])
    check(tmp_path / "features", tmp_path / "predictions", GOLDEN[case].__getitem__)
    assert text(yahoo(tmp_path / "labels", tmp_path / "ranks")) == GOLDEN[case]["output.txt"]


def test_oracles(oracles):
    compared = 0
    for case in sorted((oracles / "yahoo").iterdir()):
        if case.name.startswith("q"):
            printed = (case / "output.txt").read_text()
            if not printed.startswith("returned"):
                with pytest.raises(PomonaError):
                    list(yahoo(case / "labels.txt", case / "ranks.txt"))
            else:
                err, ndcg = printed.removeprefix("returned (").rstrip(")\n").split(", ")
                assert list(yahoo(case / "labels.txt", case / "ranks.txt"))[1] == f"10\t{err}\t{ndcg}"
        else:
            assert text(yahoo(case / "labels.txt", case / "ranks.txt")) == (case / "output.txt").read_text()
            check(
                case / "features.txt",
                case / "predictions.txt",
                lambda name, case=case: (case / name).read_text(),
            )
        compared += 1
    assert compared >= 20


@pytest.mark.parametrize(
    ("ranks", "why"),
    [
        ("1 2\n", "expected each of the ranks 1 to 3 once"),
        ("0 1 2\n", "expected each of the ranks"),
        ("1 2 x\n", "not an integer"),
        ("", "found 0 lines of ranks for 1"),
    ],
)
def test_refusals(ranks, why, tmp_path):
    (tmp_path / "l").write_text("0 1 2\n")
    (tmp_path / "r").write_text(ranks)
    with pytest.raises(InputError, match=why):
        list(yahoo(tmp_path / "l", tmp_path / "r"))
