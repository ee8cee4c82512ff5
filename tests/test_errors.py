from pomona.errors import InputError, NothingToLearnError, UnknownNameError


def test_the_place_is_as_precise_as_is_known():
    assert str(InputError("bad")) == "bad"
    assert str(InputError("bad", "a.txt", 3)) == "a.txt:3: bad"
    assert str(InputError("bad", "a.txt", 3, 7)) == "a.txt:3:7: bad"


def test_the_nearest_name_is_offered():
    assert "did you mean 'letor4'" in str(
        UnknownNameError("convention", "LETOR_4", ["letor3", "letor4", "mslr"])
    )
    assert "did you mean 'MART'" in str(UnknownNameError("ranker", "mrt", ["MART", "RankSVM"]))
    assert "did you mean 'n_trees'" in str(UnknownNameError("parameter", "trees", ["n_trees", "l2"]))
    for name, known in (("zzz", "letor3"), ("bogus", "xgboost"), ("sum", "map")):
        assert "did you mean" not in str(UnknownNameError("name", name, [known]))


def test_nothing_to_learn_is_said_in_the_same_words():
    assert str(NothingToLearnError("no labels")) == "there is nothing to learn: no labels"
    assert issubclass(NothingToLearnError, InputError)
