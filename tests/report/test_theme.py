import itertools
import re

import numpy as np
import pytest

from pomona.report.theme import (
    DARK,
    GRADES,
    LIGHT,
    SHAPES,
    SLOTS,
    VARIABLES,
    css_variables,
    slots_of,
    vega_config,
)

THEMES = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
# Machado, Oliveira, Fernandes 2009: full protanopia, deuteranopia, tritanopia, in linear RGB.
VISIONS = {
    "any": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def linear(color):
    channels = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    """WCAG 2's contrast ratio."""
    light, dark = sorted((linear(c) @ [0.2126, 0.7152, 0.0722] for c in (one, other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def oklab(rgb):
    """Ottosson's perceptual coordinates, in which distances are about what one sees."""
    lms = np.cbrt(
        np.clip(rgb, 0, 1)
        @ np.array(
            [
                [0.4122214708, 0.5363325363, 0.0514459929],
                [0.2119034982, 0.6806995451, 0.1073969566],
                [0.0883024619, 0.2817188376, 0.6299787005],
            ]
        ).T
    )
    return (
        lms
        @ np.array(
            [
                [0.2104542553, 0.7936177850, -0.0040720468],
                [1.9779984951, -2.4285922050, 0.4505937099],
                [0.0259040371, 0.7827717662, -0.8086757660],
            ]
        ).T
    )


def test_contrast_by_hand():
    assert contrast("#000000", "#ffffff") == pytest.approx(1.05 / 0.05)


@THEMES
def test_text_can_be_read(theme):
    for text, ground in [
        *itertools.product(["ink", "soft", "link", "alert"], ["paper", "wash"]),
        ("ink", "alert-wash"),
        ("alert", "alert-wash"),
        ("ink", "better-wash"),
        ("ink", "worse-wash"),
        ("better", "paper"),
        ("worse", "paper"),
        ("paper", "better"),
        ("paper", "worse"),
    ]:
        assert contrast(theme[text], theme[ground]) >= 4.5, (text, ground)


@THEMES
def test_what_is_drawn_stands_out_from_the_paper(theme):
    for name in [f"slot{slot}" for slot in SLOTS[:-1]] + ["other", "better", "worse"]:
        assert contrast(theme[name], theme["paper"]) >= 3, name


@THEMES
@pytest.mark.parametrize("vision", VISIONS)
def test_rankers_are_told_apart_by_any_eyes(theme, vision):
    colors = [linear(theme[f"slot{slot}"]) @ np.array(VISIONS[vision]).T for slot in SLOTS[:-1]]
    for one, other in itertools.combinations(colors, 2):
        assert np.linalg.norm(oklab(one) - oklab(other)) >= 0.08
    better, worse = (oklab(linear(theme[name]) @ np.array(VISIONS[vision]).T) for name in ("better", "worse"))
    assert np.linalg.norm(better - worse) >= 0.15


@THEMES
@pytest.mark.parametrize("vision", VISIONS)
def test_labels_are_ordered_for_any_eyes(theme, vision):
    """Each step leads further from the paper, so that lightness alone tells the order."""
    paper = contrast(theme[GRADES[0]], theme["paper"])
    assert paper >= 3  # digits of the colour of paper stand on them
    seen = [oklab(linear(theme[name]) @ np.array(VISIONS[vision]).T) for name in ("paper", *GRADES)]
    lightness = [color[0] for color in seen]
    assert lightness == sorted(lightness, reverse=theme is LIGHT)
    for one, other in itertools.pairwise(seen):
        assert np.linalg.norm(one - other) >= 0.08


def test_both_themes_name_the_same_colors():
    assert list(LIGHT) == list(DARK) == list(VARIABLES)
    assert len(SHAPES) == len(SLOTS)
    assert len(set(SHAPES[:-1])) == len(SLOTS) - 1


def test_config_has_no_color_but_the_given_ones():
    found = set(re.findall(r"#[0-9a-fA-F]{3,8}|rgba?\([^)]*\)", str(vega_config(LIGHT))))
    assert found <= set(LIGHT.values())
    assert not re.findall(r"#[0-9a-fA-F]{3,8}", str(vega_config(VARIABLES)))


def test_slots():
    rankers = [f"r{i}" for i in range(20)]
    slots = slots_of(rankers, "r12")
    assert [slots[r] for r in ("r0", "r4", "r12", "r5", "r19")] == ["1", "5", "6", "other", "other"]
    assert list(slots) == rankers
    assert slots_of([], "none") == {}


def test_css():
    assert css_variables({"ink": "#000", "paper": "#fff"}) == "--ink:#000;--paper:#fff;"
