from pomona.report.tiles import MOST_WITH_NUMBERS, tile_of, tiles
from report.drawn import spec_of


def numbers(difference, *, is_significant=False):
    ends = {"low": difference - 0.01, "high": difference + 0.01}
    return {"difference": difference, **ends, "holm_p": 0.5, "is_significant": is_significant}


def test_a_tile_says_who_is_better():
    assert tile_of("r", "c", numbers(0.02))["verdict"] == "better, within chance"
    assert tile_of("r", "c", numbers(-0.02, is_significant=True))["verdict"] == "significantly worse"
    same = tile_of("r", "c", numbers(0.0))
    assert (same["verdict"], same["points"], same["difference"]) == ("the same", "0.0", "0.0000")
    assert tile_of("r", "c", numbers(0.02))["interval"] == "+0.0100 to +0.0300"


def test_numbers_stand_where_there_is_room():
    few = [tile_of("one", name, numbers(0.1)) for name in "abc"]
    spec, layers = spec_of(tiles(few, ["one"], list("abc"), "Three.", better="the column is"))
    assert len(layers) == 3  # the tiles, and numbers on strong and on weak colours
    assert spec["height"] == 90
    many = [f"n{i}" for i in range(MOST_WITH_NUMBERS + 1)]
    rows = [tile_of("one", name, numbers(0.1)) for name in many]
    _, layers = spec_of(tiles(rows, ["one"], many, "Many.", better="the column is"))
    assert len(layers) == 1
