import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pomona.errors import InputError, PomonaError, UnknownNameError
from pomona.measures.parse import measure


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("nDCG@10", "ndcg@10"),
        ("LETOR4:Ndcg@10", "letor4:ndcg@10"),
        ("map", "ap"),
        ("AP(rel=2)", "ap(relevant=2)"),
        ("nDCG(dcg='exp-log2')@5", "ndcg(gain=exp2)@5"),
        ("nDCG(dcg='log2')@5", "ndcg(gain=linear)@5"),
        ("P_10", "p@10"),
        ("ndcg_cut.20", "ndcg@20"),
        ("recall_5", "recall@5"),
        ("recip_rank", "rr"),
        ("ERR(max_rel=2)@20", "err(max_grade=2)@20"),
        ("ndcg(gain=0/1/3)@5", "ndcg(gain=0/1/3)@5"),
        ("rbp( p = 0.95 ) @ 3", "rbp(p=0.95)@3"),
        ("ndcg(ties=expected)", "ndcg(ties=expected)"),
        ("letor4:ndcg(short=whole)@10", "letor4:ndcg(short=whole)@10"),
        ("sr4(clip=false)", "sr4(clip=false)"),
    ],
)
def test_strings(text, means):
    assert str(measure(text)) == means


def test_a_convention_in_the_string_wins():
    assert measure("letor4:ndcg@10", "yahoo").convention == "letor4"
    assert measure("ndcg@10", "yahoo").convention == "yahoo"
    assert measure(measure("ndcg@10"), "yahoo").empty == 1.0
    assert measure(measure("letor4:ndcg@10"), "yahoo").convention == "letor4"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "expected \\[convention:\\]name"),
        ("ndcg@", "expected"),
        ("ndcg@ten", "expected"),
        ("ndcg@0", "at least 1"),
        ("ndcg@" + "9" * 5000, "expected"),
        ("err(max_grade=1e300)", "max_grade must be an integer of at least 1 and at most 1e\\+09"),
        ("nope@3", "unknown measure 'nope'"),
        ("letor9:ndcg", "unknown convention 'letor9'"),
        ("rbp(q=1)", "unknown parameter of RBP 'q'"),
        ("rbp(0.5)", "expected parameter=value"),
        ("ndcg(gain=1/x)", "expected a number"),
        ("rbp(p=7)", "p must be a number above 0 and below 1, found 7"),
        ("ndcg(ties=coin)", "unknown tie rule"),
        ("ndcg(ties=5)", "unknown tie rule '5'"),
        ("ndcg(empty=abc)", "found 'abc', expected a number"),
        ("ndcg(gain=5)", "found 5.0, expected a text or a list"),
        ("p(relevant=none)", "found None, expected a number or a list"),
        ("err(max_grade=2.5)", "found 2.5, expected a whole number"),
        ("rr(single=5)", "found 5.0, expected true or false"),
        ("pfound(p_relevant=abc)", "p_relevant must be several of .*, found 'abc'"),
        ("pfound(p_break=2)", "p_break must be a number of at least 0 and at most 1, found 2"),
    ],
)
def test_refusals(text, why):
    with pytest.raises(PomonaError, match=why):
        measure(text)


@pytest.mark.parametrize(
    "one",
    [
        measure("rbp").__class__(p=1 / 3),
        measure("ndcg").__class__(gain=(0.0, 1.2345678, 3.0), k=7),
        measure("ndcg").__class__(gain=(1.0,)),
        measure("p").__class__(relevant=(2.0,), k=3),
        measure("p").__class__(relevant=1e-45),
        measure("err").__class__(max_grade=10_000_000),
        measure("ap").__class__(relevant=2.0, convention="letor4"),
        measure("ndcg").__class__(gain="exp2", convention="trec_eval"),
        measure("gap").__class__(thresholds=(0.1, 0.2), empty=0.1 + 0.2),
        measure("pfound").__class__(p_relevant="label"),
    ],
    ids=str,
)
def test_the_text_of_a_measure_loses_nothing(one):
    again = measure(str(one))
    assert (again, again.given, str(again)) == (one, one.given, str(one))


def test_what_is_given_twice_is_refused():
    for text in ("ndcg(gain=exp2,gain=linear)", "ndcg(k=5)@10", "p(rel=1,relevant=2)"):
        with pytest.raises(InputError, match=r"twice|two cut-offs"):
            measure(text)


@given(st.text(max_size=30))
def test_any_text_gives_a_measure_or_a_refusal(text):
    with contextlib.suppress(PomonaError):
        measure(text)


def test_a_users_measure_from_a_file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(
        "import pomona\nclass Top(pomona.Measure):\n  def of_query(self, labels):\n    return labels[0]\n"
    )
    one = measure(f"{path}:Top@3")
    assert (one.of_query([2.0, 1.0]), one.k, str(one)) == (2, 3, "Top@3")
    other = tmp_path / "other.py"
    other.write_text(path.read_text().replace("Top", "P"))
    assert str(measure(f"{other}:P@3")) == f"{other}:P@3"  # not ours, which has this name
    with pytest.raises(UnknownNameError, match="did you mean"):
        measure(f"{path}:Topp")
    with pytest.raises(InputError, match="no such file"):
        measure(f"{tmp_path}/none.py:Top")
