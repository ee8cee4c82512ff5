from golden import thesis
from pomona.measures.wta import WTA


def test_thesis_table():
    for labels, (printed, _, _) in thesis.rows(thesis.BINARY, 3):
        assert f"{WTA().of_query(labels):.5f}" == printed
