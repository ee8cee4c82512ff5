import pytest

from pomona.errors import InputError
from pomona.experiments.best.duration import in_words, seconds_of


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("10m", 600), ("1h30m", 5400), ("1 h 30 min", 5400), ("90", 90), ("0.5s", 0.5), (7, 7), ("20µs", 2e-5)],
)
def test_times(text, seconds):
    assert seconds_of(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "m", "10x", "1h30", "-5s", 0, "0s", True, "ten", float("nan")])
def test_what_is_no_time(text):
    with pytest.raises(InputError, match="expected a time above 0, such as 10m"):
        seconds_of(text)


def test_in_words():
    assert [in_words(x) for x in (0.2, 59.6, 61, 3600, 3661)] == [
        "0 s",
        "1 min",
        "1 min 1 s",
        "1 h",
        "1 h 1 min",
    ]
