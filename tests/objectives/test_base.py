import numpy as np
import pytest

from pomona.errors import InputError
from pomona.objectives.base import classes_of, labels_of, offsets_of, scores_of, weights_of


def test_offsets_must_fit_the_documents():
    assert offsets_of([0, 2, 2, 3], 3).dtype == np.int64
    for wrong in ([], [1, 3], [0, 2], [[0, 3]]):
        with pytest.raises(InputError, match="from 0 to the number of documents, 3"):
            offsets_of(wrong, 3)
    with pytest.raises(InputError, match="must not fall"):
        offsets_of([0, 2, 1, 3], 3)


def test_weights_must_be_sound():
    assert weights_of([1, 0.5], 2, "queries").tolist() == [1, 0.5]
    with pytest.raises(InputError, match="found 3 weights for 2 queries"):
        weights_of([1, 1, 1], 2, "queries")
    for wrong in ([1, -1], [1, np.nan], [np.inf, 1]):
        with pytest.raises(InputError, match="finite and not below 0"):
            weights_of(wrong, 2, "queries")


def test_labels_must_be_finite():
    for wrong in ([0, np.nan], [[0, 1]]):
        with pytest.raises(InputError, match="finite numbers, one a document"):
            labels_of(wrong)


def test_only_labels_that_occur_are_classes():
    levels, codes = classes_of([4, 0.5, 0, 4])
    assert levels.tolist() == [0, 0.5, 4]
    assert codes.tolist() == [2, 1, 0, 2]
    with pytest.raises(InputError, match="all have the same label"):
        classes_of([1, 1])


def test_scores_are_copied_only_if_need_be():
    scores = np.zeros(4)
    assert scores_of(scores, 4) is scores
    assert scores_of(scores[::2], 2).flags.c_contiguous
    with pytest.raises(InputError, match="found 4 scores for 3 documents"):
        scores_of(scores, 3)
