import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pomona.data.dataset import Dataset
from pomona.data.noise import with_label_noise
from pomona.errors import InputError


def labelled(labels) -> Dataset:
    return Dataset(np.zeros((len(labels), 1)), labels, np.arange(len(labels)) // 3)


@given(st.lists(st.integers(0, 4), min_size=2, max_size=60), st.integers(0, 100), st.integers(0, 5))
def test_exactly_the_share_is_changed_and_each_to_a_valid_grade(labels, percent, seed):
    data = labelled(labels)
    noisy = with_label_noise(data, percent / 100, seed, grades=range(5))
    assert int((noisy.y != data.y).sum()) == percent * len(labels) // 100
    assert set(noisy.y) <= {0, 1, 2, 3, 4}


def test_no_noise_is_the_identity_and_the_data_given_are_left_alone():
    data = labelled([0, 1, 2, 0])
    assert with_label_noise(data, 0.0).y.tolist() == [0, 1, 2, 0]
    with_label_noise(data, 1.0)
    assert data.y.tolist() == [0, 1, 2, 0]


def test_the_noise_of_a_smaller_rate_is_part_of_the_larger():
    data = labelled(np.arange(300) % 5)
    small, large = with_label_noise(data, 0.1, seed=7).y, with_label_noise(data, 0.5, seed=7).y
    changed = small != data.y
    assert (small[changed] == large[changed]).all()
    assert changed.sum() == 30


def test_the_other_grades_are_equally_likely():
    data = labelled(np.full(4000, 2))
    noisy = with_label_noise(data, 1.0, seed=1, grades=[0, 1, 2, 3, 4])
    counts = np.bincount(noisy.y.astype(int), minlength=5)
    assert counts[2] == 0
    # 4000 draws of probability 1/4: five standard deviations are 5·sqrt(4000·1/4·3/4) = 137.
    assert np.abs(np.delete(counts, 2) - 4000 / 4).max() < 137


def test_grades_may_be_any_numbers():
    noisy = with_label_noise(labelled([0.25, 0.5, 10.0]), 1.0, seed=2)
    assert all(
        new != old and new in (0.25, 0.5, 10) for new, old in zip(noisy.y, [0.25, 0.5, 10], strict=True)
    )


def test_what_is_not_judged_stays_so_and_counts_in_no_share():
    labels = [np.nan, 0, 1, 2, np.nan, 1, np.nan, 0]
    data = labelled(labels)
    for seed in range(5):
        noisy = with_label_noise(data, 0.4, seed=seed)  # of five judged documents two
        assert np.isnan(noisy.y).tolist() == np.isnan(labels).tolist()
        assert np.nansum(noisy.y != data.y) - 3 == 2  # NaN is unlike itself


@pytest.mark.parametrize(
    ("labels", "arguments", "message"),
    [
        ([0, 1], {"rate": 1.5}, "rate must be in"),
        ([1, 1], {"rate": 0.5}, "two grades at least"),
        ([0, 7], {"rate": 0.5, "grades": [0, 1]}, "none of the grades"),
    ],
)
def test_impossible_noise_is_refused(labels, arguments, message):
    with pytest.raises(InputError, match=message):
        with_label_noise(labelled(labels), **arguments)
