import json
import re

import altair as alt
import pytest

from pomona.report import encoding
from pomona.report.theme import LIGHT, SLOTS
from report.invented import invented


def rows_of(data):
    return json.loads(data.to_dict()["values"])


def test_data_have_the_digits_a_screen_can_show():
    rows = [{"ranker": "a", "mean": 0.123456789, "k": 3, "is_real": True, "low": None}]
    assert rows_of(encoding.data_of(rows)) == [
        {"ranker": "a", "mean": 0.123457, "k": 3, "is_real": True, "low": None}
    ]


def test_the_leaders_are_drawn_last():
    rows = encoding.with_slots(invented(9), [{"ranker": name} for name in ("LambdaMART", "AdaRank", "MART")])
    assert [row["slot"] for row in rows][1] == "other"
    assert [row["ranker"] for row in encoding.paint_order(rows)] == ["AdaRank", "MART", "LambdaMART"]


def test_the_legend_names_rankers_and_keeps_texts_texts():
    findings = invented(9, names={"MART": '"] + alert(1) + ["</script>'})
    expression = encoding.color(findings).to_dict()["legend"]["labelExpr"]
    names = json.loads(re.fullmatch(r"(\{.*\})\[datum\.label\]", expression).group(1))
    assert set(names) == set(SLOTS)
    assert names["other"] == "others"
    assert '"] + alert(1) + ["</script>' in names.values()


def test_scales_have_room_at_both_ends():
    assert encoding.with_room([1.0, 2.0]) == pytest.approx((0.94, 2.06))
    assert encoding.with_room([0.5, 0.5]) == pytest.approx((0.47, 0.53))
    assert encoding.with_room([0.0]) == pytest.approx((-0.01, 0.01))
    low, high = encoding.scale_of([1.0, 100.0], log=True).to_dict()["domain"]
    assert (low, high) == pytest.approx((10**-0.2, 10**2.2))


def test_points_get_labels_for_wide_and_for_narrow_plots():
    rows = [{"ranker": f"ranker {i}", "slot": "other", "x": 1.0 + i, "y": 37 * i % 90} for i in range(90)]
    x = alt.X("x:Q", scale=encoding.scale_of([row["x"] for row in rows]))
    y = alt.Y("y:Q", scale=encoding.scale_of([row["y"] for row in rows]))
    chart = encoding.labelled_points(rows, rows[:2], x, y, [], "linear").to_dict()
    datasets = {name: json.loads(text) for name, text in chart["datasets"].items()}
    _, _, halo, wide, _, narrow = (datasets[layer["data"]["name"]] for layer in chart["layer"])
    assert halo == wide
    assert 0 < len(narrow) < len(wide) < len(rows)
    assert wide[0]["ranker"] == "ranker 0"
    opacities = [layer["mark"]["opacity"]["expr"] for layer in chart["layer"][2:]]
    assert opacities == ["width >= 400 ? 1 : 0"] * 2 + ["width < 400 ? 1 : 0"] * 2


def test_panels_tell_the_page_how_to_lay_them_out():
    layers = alt.layer(alt.Chart().mark_point())
    rows = [{"ranker": "a"}, {"ranker": "b"}]
    chart = encoding.panels(layers, rows, "ranker", ["b", "a"], "two", columns=4, is_apart=True).to_dict()
    assert chart["usermeta"] == {"columns": 4, "panels": 2, "least": 110, "apart": True}
    assert json.loads(*chart["datasets"].values()) == [
        {"ranker": "a", "place": 1},
        {"ranker": "b", "place": 0},
    ]
    assert chart["resolve"] == {"scale": {"x": "independent", "y": "independent"}}


def test_tooltips():
    text, number = (tip.to_dict() for tip in encoding.tips(ranker="who", mean=("NDCG", ".4f")))
    assert (text["title"], text["type"]) == ("who", "nominal")
    assert (number["title"], number["type"], number["format"]) == ("NDCG", "quantitative", ".4f")


def test_an_order_is_a_domain():
    assert encoding.in_order(("b", "a")).to_dict() == {"domain": ["b", "a"]}


def test_a_file_has_the_light_theme_and_a_font_of_its_own():
    chart = alt.Chart(encoding.data_of([{"x": 1}])).mark_point().encode(x="x:Q")
    spec = encoding.vega_lite(chart)
    assert list(spec["datasets"].values()) == [[{"x": 1}]]
    assert not {"config", "$schema"} & spec.keys()
    drawn = json.loads(encoding.for_file(spec))
    assert drawn["background"] == LIGHT["paper"]
    assert drawn["config"]["font"] == "Liberation Sans"
    assert "var(--" not in json.dumps(drawn)


def test_series_are_told_apart_by_more_than_colour():
    names = [f"s{i}" for i in range(9)]
    looks = [look.to_dict() for look in encoding.series_of("of", names, None)]
    assert [look["field"] for look in looks] == ["of"] * 3
    assert all(look["scale"]["domain"] == names for look in looks)
    assert len(looks[1]["scale"]["range"]) == len(looks[2]["scale"]["range"]) == 9
    assert len({str(dash) for dash in looks[1]["scale"]["range"][:6]}) == 6


def test_names_stand_in_the_order_given():
    down = encoding.names_down("ranker", ["b", "a"], 90).to_dict()
    across = encoding.names_across("x", ["b", "a"]).to_dict()
    assert down["scale"]["domain"] == across["scale"]["domain"] == ["b", "a"]
    assert (down["axis"]["labelLimit"], across["axis"]["orient"]) == (90, "top")
    zero = encoding.zero_line("y").to_dict()["encoding"]
    assert zero == {"y": {"field": "zero", "type": "quantitative"}}


@pytest.mark.parametrize("n", [1, 7, 8, 100])
def test_a_thinned_curve_keeps_its_ends(n):
    rows = [{"x": x} for x in range(n)]
    kept = encoding.thinned(rows, 7)
    assert len(kept) == min(n, 7)
    assert (kept[0], kept[-1]) == (rows[0], rows[-1])
