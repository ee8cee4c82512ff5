import os

import numpy as np
import pytest

from pomona.data.dataset import Dataset
from pomona.data.statistics import describe
from pomona.errors import InputError

nan = np.nan


def test_every_column_by_hand():
    X = [[1, nan, nan], [0, 2, nan], [0, nan, nan], [0, 0, nan], [0, 1, nan], [0, 1, nan]]
    facts = describe(Dataset(X, [0, 1, 4, 1, 0, 0], [1, 1, 1, 2, 2, 3]))
    assert (facts.n_queries, facts.n_docs) == (3, 6)
    assert facts.n_features == 2  # the third never occurs
    assert facts.mean_docs == 6 / 3
    assert (facts.mode_docs, facts.min_docs, facts.max_docs) == (1, 1, 3)  # lengths 3, 2, 1: the smallest
    assert facts.mean_label == (0 + 1 + 4 + 1 + 0 + 0) / 6 / 4
    assert facts.max_label == 4
    assert facts.n_undefined == 2 + 6
    assert facts.has_undefined
    assert facts.label_counts == {0: 3, 1: 2, 4: 1}


def test_parts_are_counted_together_but_their_queries_apart():
    one = Dataset([[1.0], [2.0]], [0, 2], [1, 1])
    other = Dataset([[nan, 1.0]], [1], [1])
    facts = describe(one, other)
    assert (facts.n_queries, facts.n_docs, facts.n_features) == (2, 3, 2)
    assert facts.mean_label == pytest.approx((0 + 2 + 1) / 3 / 2)


def test_a_negative_label_is_the_bottom_of_the_scale():
    with pytest.warns(UserWarning, match="below 0"):
        data = Dataset([[1.0], [1.0]], [-1, 1], [1, 1])
    assert describe(data).mean_label == (0 - -1) / (1 - -1)
    assert describe(Dataset([[1.0], [1.0]], [0, 0], [1, 1])).mean_label == 0


def test_documents_that_nobody_judged_count_apart():
    data = Dataset(np.ones((5, 1)), [np.nan, 0, 3, np.nan, 1.5], [1, 1, 1, 2, 2])
    facts = data.describe()
    assert (facts.n_docs, facts.n_unjudged, facts.max_label) == (5, 2, 3)
    assert facts.mean_label == (0 + 3 + 1.5) / 3 / 3
    assert facts.label_counts == {0: 1, 1.5: 1, 3: 1}
    assert facts.to_json()["not_judged"] == 2
    assert facts.row()["Not judged"] == "2"
    assert repr(data) == "Dataset(2 queries, 5 documents (2 not judged), 1 features)"
    nobody = Dataset(np.ones((2, 1)), [np.nan, np.nan], [1, 1]).describe()
    assert (nobody.n_unjudged, nobody.label_counts) == (2, {})
    assert np.isnan(nobody.mean_label)
    assert np.isnan(nobody.max_label)


def test_what_a_reader_filled_in_still_counts_as_undefined():
    data = Dataset([[0.0], [2.0]], [0, 1], [1, 1])
    data.n_undefined = 1
    assert data.describe().has_undefined


def test_no_query_is_refused():
    with pytest.raises(InputError, match="no query"):
        describe()


def test_it_prints_one_line_a_column():
    text = str(Dataset([[1.0], [2.0]], [0, 2], [1, 1]).describe())
    assert "Queries             1\n" in text
    assert text.endswith("Labels              0: 1, 2: 1")


THESIS_TABLE_3_1 = {
    "mq2007": "1692 69623 46 41.15 40 6 147 0.1569 2 No",
    "mq2008": "784 15211 46 19.40 8 5 121 0.1270 2 No",
    "ohsumed": "106 16140 45 152.26 153 35 320 0.2196 2 No",
}


@pytest.mark.skipif("POMONA_DATA" not in os.environ, reason="needs the collections under POMONA_DATA")
@pytest.mark.parametrize("name", THESIS_TABLE_3_1)
def test_the_thesis_table_is_reproduced(name):
    from pomona.data.catalog import COLLECTIONS
    from pomona.data.read import read_parts

    if COLLECTIONS[name].directory() is None:
        pytest.skip(f"{name} is not here")
    facts = describe(*read_parts(name, undefined=nan).values())
    assert " ".join(facts.row().values()) == THESIS_TABLE_3_1[name]
