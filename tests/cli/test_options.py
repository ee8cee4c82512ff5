from pomona.cli.options import named_columns, split_measures


def test_only_named_columns_count():
    assert named_columns(None, "query", None) == {"qid": "query"}


def test_measures_may_share_an_option():
    assert split_measures(["ap, rbp(p=0.5,relevant=2)", "p@3"]) == ["ap", "rbp(p=0.5,relevant=2)", "p@3"]
    assert split_measures(None) == []
