"""The same few cases of every target each time; `make fuzz` tries others, for as long as one likes."""

import pytest

from fuzz.target import TARGETS, Tally, fuzz, n_small


@pytest.mark.parametrize("name", [name for name in TARGETS if n_small(name)])
def test_a_few_cases(name, tmp_path):
    tally = fuzz(name, tmp_path, seed=1, n_cases=n_small(name))
    assert (tally.disagreements, tally.crashes) == ([], [])
    assert n_small(name) < 10 or set(tally.outcomes) != {"refused"}


def test_disagreements_and_crashes_are_told_apart(tmp_path, monkeypatch):
    class Target:
        def case(self, random):
            drawn = random.integers(3)
            assert drawn, "one\nor other"
            return "fine" if drawn == 1 else {}["x"]

    monkeypatch.setattr("fuzz.target.new_target", lambda *_: Target())
    tally = fuzz("any", tmp_path, seed=0, n_cases=30)
    assert isinstance(tally, Tally)
    assert tally.n_cases == 30
    assert {why.partition(" assert")[0] for _, why in tally.disagreements} == {"one or other"}
    assert {why for _, why in tally.crashes} == {"KeyError: 'x'"}
    number = tally.crashes[0][0]
    assert fuzz("any", tmp_path, seed=0, n_cases=1, first=number).crashes == tally.crashes[:1]
