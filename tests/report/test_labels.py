import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from pomona.report.labels import CHARACTER_WIDTH, LINE_HEIGHT, Place, around, rising, spread

POSITIONS = st.lists(st.floats(0, 300), min_size=1, max_size=25)


@given(POSITIONS)
def test_spread_labels_stand_apart_inside_and_in_order(positions):
    placed = spread(positions, 13.0, 0.0, 340.0)
    pairs = sorted(zip(positions, placed, strict=True))
    ordered = [place for _, place in sorted(pairs, key=lambda pair: (pair[0], pair[1]))]
    assert ordered == sorted(ordered)
    gaps = [after - before for before, after in itertools.pairwise(ordered)]
    assert all(gap > 13.0 - 1e-6 for gap in gaps)
    assert min(placed) > -1e-6
    assert max(placed) < 340.0 + 1e-6


@given(POSITIONS)
def test_what_falls_is_levelled_as_by_scipy(values):
    np.testing.assert_allclose(rising(np.array(values)), isotonic_regression(values).x, atol=1e-9)


def test_labels_that_have_room_do_not_move():
    assert spread([50.0, 10.0, 30.0], 13.0, 0.0, 100.0) == [50.0, 10.0, 30.0]


def test_too_many_labels_share_the_room():
    assert spread([5.0] * 5, 13.0, 0.0, 8.0) == [0.0, 2.0, 4.0, 6.0, 8.0]


def test_blocks_that_meet_are_joined():
    # 10, 10 want 8 and 12; 13 is too near, so all three stand around their mean 11.
    assert spread([10.0, 10.0, 13.0], 4.0, 0.0, 100.0) == [7.0, 11.0, 15.0]


def boxes(points, texts, places):
    for (x, y), text, place in zip(points, texts, places, strict=True):
        if place.align:
            width = CHARACTER_WIDTH * len(text)
            left = x + place.dx - {"left": 0, "center": width / 2, "right": width}[place.align]
            yield left, y + place.dy - LINE_HEIGHT / 2, left + width, y + place.dy + LINE_HEIGHT / 2


@given(st.lists(st.tuples(st.floats(0, 400), st.floats(0, 300)), max_size=20))
def test_labels_around_points_never_meet_and_stay_inside(points):
    texts = [f"ranker {i}" for i in range(len(points))]
    found = list(boxes(points, texts, around(points, texts, 400, 300)))
    for i, a in enumerate(found):
        assert a[0] >= 0
        assert a[2] <= 400
        for b in found[:i]:
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]


def test_the_first_point_is_served_first():
    places = around([(100, 100)] * 12, ["a long name"] * 12, 220, 220)
    assert places[0].align
    assert not places[-1].align


def test_a_label_that_is_needed_has_a_place_where_it_covers_least():
    crowd = [(x, y) for x in range(0, 200, 8) for y in range(0, 100, 8)]
    assert not around(crowd, ["long name"] * len(crowd), 200, 100)[0].align
    needed = around(crowd, ["long name"] * len(crowd), 200, 100, n_needed=2)
    assert [bool(place.align) for place in needed[:3]] == [True, True, False]
    assert around([(50, 50)], [""], 200, 100, n_needed=1) == [Place()]
