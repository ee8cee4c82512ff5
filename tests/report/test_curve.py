import pytest

from pomona.report.curve import Axis, curves
from report.drawn import panels_of, spec_of


def rows(*series):
    return [
        {"x": x, "mean": 0.1 * x, "low": 0.0, "high": 1.0, "series": name, "panel": f"of {name}"}
        for name in series
        for x in (1.0, 30.0, 400.0)
    ]


def test_a_curve_a_series_with_its_band():
    chart = curves(
        rows("a", "b"), Axis("x", "documents", scale="log"), ["a", "b"], ("AP", ".4f"), "About it."
    )
    spec, data = spec_of(chart)
    band, line, points = spec["layer"]
    assert (band["mark"]["type"], line["mark"]["type"], points["mark"]["type"]) == ("area", "line", "point")
    assert line["encoding"]["x"]["scale"] == {"type": "log", "domain": [1.0, 400.0], "nice": False}
    assert line["encoding"]["x"]["axis"]["values"] == [1, 2, 5, 10, 20, 50, 100, 200]
    assert line["encoding"]["strokeDash"]["scale"]["domain"] == ["a", "b"]
    assert len(data[0]) == 6
    assert spec["description"] == "About it."


def test_panels_and_what_is_left_out():
    axis = Axis("x", "k", ticks=(0, 10, 100, 1000))
    chart = curves(
        rows("a", "b"),
        axis,
        ["a", "b"],
        ("AP", ".4f"),
        "",
        by="panel",
        panel_order=["of b", "of a"],
        has_points=False,
    )
    spec, (data, _) = spec_of(chart)
    assert panels_of(data, "panel") == ["of b", "of a"]
    assert spec["spec"]["layer"][0]["encoding"]["x"]["axis"]["values"] == [10, 100]
    assert curves([], axis, [], ("AP", ".4f"), "") is None


@pytest.mark.parametrize("n", [1, 9])
def test_any_number_of_series(n):
    names = [f"s{i}" for i in range(n)]
    spec, _ = spec_of(curves(rows(*names), Axis("x", "k", scale="symlog"), names, ("AP", ".4f"), ""))
    assert len(spec["layer"][1]["encoding"]["strokeDash"]["scale"]["range"]) == n
