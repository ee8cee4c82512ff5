import numpy as np
import pytest

from pomona.trees.formats.format import ExportOptions
from pomona.trees.formats.opensearch import OpenSearch
from reference.engine import as_rows, plugin_score


def test_the_plugin_gives_the_same_scores(forest, names, rows):
    found = plugin_score(OpenSearch().content(forest, names), as_rows(rows, names), names)
    np.testing.assert_allclose(found, forest.score(rows), rtol=0, atol=1e-5)


def test_where_undefined_always_goes_right_infinity_goes_too(forests, names):
    """x < t is false of both, whatever t: no split of 3.2 to 3.7 tells them apart, which is said."""
    asked, forest = OpenSearch(ExportOptions(engine_version="3.5")), forests["known or undefined"]
    X = np.array([[0, 0, 0], [np.inf, 0, 0], [np.nan, 0, 0], [-np.inf, np.inf, 7]], np.float32)
    X = np.concatenate([X, np.zeros((4, 3), np.float32)], axis=1)
    found = plugin_score(asked.content(forest, names), as_rows(X, names), names, "right")
    assert found == [0, 4, 4, 1]  # the third and last values: leaf ~1 is right of x1 <= inf
    assert any("infinity goes" in note for note in asked.notes(forest))
    assert not any("infinity goes" in note for note in OpenSearch().notes(forest))


@pytest.mark.parametrize(
    ("version", "missing", "note"),
    [
        ("2.18", "zero", "before 3.2"),
        ("3.1", "zero", "before 3.2"),
        ("3.5", "right", "3.2 to 3.7"),
        ("3.8", "by split", ""),
    ],
)
def test_versions_differ_in_undefined_values_and_say_so(version, missing, note, forests, names, rows):
    forest = forests["deep"]
    asked = OpenSearch(ExportOptions(engine_version=version))
    found = plugin_score(asked.content(forest, names), as_rows(rows, names), names, missing)
    is_same = np.allclose(found, forest.score(rows), rtol=0, atol=1e-5)
    assert is_same == (version == "3.8")
    assert any(note in one for one in asked.notes(forest)) if note else len(asked.notes(forest)) == 1
