"""What every measure promises, checked for each file dropped into the folder."""

import dataclasses
import math
import pickle
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pomona._registry import entries
from pomona.errors import InputError, PomonaError, UnknownMeasureError, UnknownNameError
from pomona.measures.base import Measure
from pomona.measures.closed_form import CASCADE
from pomona.measures.dcg import DCG
from pomona.measures.judge import judge
from pomona.measures.lists import RankedLists, ScoredQueries
from pomona.measures.ndcg import NDCG
from pomona.measures.parse import measure
from pomona.testing import measure_checks
from reference import measures as reference

NAMES = sorted(entries("measures"))
GRADES = {"sr": (1, 2, 3, 4, 5)}  # SeznamRank's start at 1
labels_lists = st.lists(st.integers(0, 4), min_size=1, max_size=9)
cutoffs = st.none() | st.integers(1, 10)


def of(name, k=None):
    return replace(measure(name), k=k)


def judged(labels, scores):
    return ScoredQueries(np.array(labels, float), np.array(scores, float), np.array([0, len(labels)]))


def test_every_measure_has_a_reference():
    assert set(reference.BY_NAME) | {"sr"} == set(NAMES)


def test_user_models_are_those_of_the_formulas():
    models = {name: measure(name).user_model for name in NAMES}
    assert models == {name: entry.user_model for name, entry in entries("measures").items()}
    assert set(models.values()) == {"position", "cascade", "none"}
    for name, model in models.items():
        form = measure(name).closed_form(RankedLists.of_labels([[1, 2]]))
        assert (form is not None and form.kind == CASCADE) == (model == "cascade")


@pytest.mark.parametrize("name", [n for n in NAMES if n != "sr"])
@given(labels=labels_lists, k=cutoffs)
def test_equals_the_reference(name, labels, k):
    assert of(name, k).of_query(labels) == pytest.approx(reference.BY_NAME[name](labels, k), abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("check", measure_checks(), ids=lambda check: check.__name__)
def test_keeps_the_contract(check, name):
    check(measure(name), GRADES.get(name, (0, 1, 2, 3, 4)))


@pytest.mark.parametrize("name", NAMES)
def test_the_listing_says_what_the_class_says(name):
    entry = entries("measures")[name]
    assert entry.summary == entry.load().__doc__.strip().partition("\n")[0]
    assert type(measure(name)) is entry.load()


class Halves(Measure):
    """A user's own measure: one method."""

    def of_query(self, labels):
        return float(labels[: self.k].sum()) / 2


def test_a_users_measure_works_everywhere():
    one = Halves(k=2)
    assert one.of_query(np.array([2.0, 1.0, 4.0])) == 3 / 2
    assert one.swap_deltas([2, 1, 4]).tolist() == [[0, 0, 1], [0, 0, 1.5], [1, 1.5, 0]]
    assert judge(judged([2, 0, 4], [1, 1, 0]), [one])[0].mean == 1.0
    tied = one.of_lists(judged([2, 0, 4], [1, 1, 1]).ranked("expected"))
    assert tied[0] == pytest.approx((2 + 0 + 2 + 4 + 0 + 4) / 6)
    assert str(one) == "Halves@2"
    with pytest.raises(UnknownMeasureError, match="letor4 has no Halves: it has ap, meanndcg, ndcg, p"):
        one.under("letor4")


def test_a_measure_without_its_method_is_refused():
    with pytest.raises(TypeError, match="must define of_query"):
        type("Nothing", (Measure,), {})().of_query(np.ones(2))


def test_of_too_many_orders_some_are_drawn_and_it_is_said():
    """Labels 0 to 39 in 40! orders: the mean of the first two is 39 / 2, half their sum, too."""
    labels, one = np.arange(40.0), Halves(k=2)
    values = one.of_lists(judged(labels, np.zeros(40)).ranked("expected"))
    deviation = math.sqrt(((labels - labels.mean()) ** 2).mean() / 2)
    assert values[0] == pytest.approx(39 / 2, abs=4 * deviation / math.sqrt(1000))
    shuffled = judged(np.random.default_rng(0).permutation(labels), np.zeros(40))
    assert one.of_lists(shuffled.ranked("expected")) == values  # whatever the order of the rows
    (judgement,) = judge(judged(labels, np.zeros(40)), [one])
    assert "1 of 1 queries have more than 50000 orders" in judgement.notes[0]
    assert judge(judged(labels[:8], np.zeros(8)), [one])[0].notes == ()  # 8! = 40,320


class HalvesOfLists(Measure):
    """The same by a rule for many lists that knows nothing of ties."""

    def of_lists(self, lists):
        return np.array([lists.levels[lists.single(q)][: self.k].sum() / 2 for q in range(lists.n_queries)])


class HalvesMixin:
    of_lists = HalvesOfLists.__dict__["of_lists"]


class HalvesMixedIn(HalvesMixin, Measure):
    """A rule that stands in a class that is no measure."""


@pytest.mark.parametrize("cls", [HalvesOfLists, HalvesMixedIn])
def test_a_rule_for_lists_is_averaged_over_ties_too(cls):
    for labels, scores in (([3, 0, 1, 0], [1, 1, 1, 0]), ([2, 0, 4], [1, 1, 0]), ([1, 0], [0, 1])):
        lists = judged(labels, scores).ranked("expected")
        assert cls(k=2).of_lists(lists).tolist() == pytest.approx(Halves(k=2).of_lists(lists).tolist())
    many = judged(np.arange(40), np.zeros(40)).ranked("expected")
    assert cls(k=2).of_lists(many) == pytest.approx(Halves(k=2).of_lists(many))


@pytest.mark.parametrize("name", NAMES)
def test_a_list_without_ties_is_worth_the_same_bits_among_others_with_ties(name):
    random = np.random.default_rng(1)
    labels = random.choice(GRADES.get(name, (0, 1, 2, 3, 4)), 60).astype(float)
    scores = random.permutation(60).astype(float)
    scores[50:] = 0.0
    both = ScoredQueries(labels, scores, np.array([0, 20, 50, 60]))
    for k in (None, 3, 10):
        one = of(name, k)
        tied, plain = one.of_lists(both.ranked("expected")), one.of_lists(both.ranked("stable"))
        assert tied[:2].tolist() == plain[:2].tolist()
    same = ScoredQueries(labels, np.zeros(60), np.array([0, 20, 50, 60]))
    same = dataclasses.replace(same, labels=np.full(60, 2.0))  # ties of one label decide nothing
    assert one.of_lists(same.ranked("expected")).tolist() == one.of_lists(same.ranked("stable")).tolist()


def test_the_textbook_averages_over_ties():
    """Labels 3, 2, 1, 0 in a sorted file, all with one score."""
    data = judged([3, 2, 1, 0], [0, 0, 0, 0])
    values = {str(j.measure): j.mean for j in judge(data, [measure(text) for text in ("ndcg", "rr", "p@1")])}
    weights = [1 / math.log2(rank + 1) for rank in (1, 2, 3, 4)]
    ideal = 7 * weights[0] + 3 * weights[1] + 1 * weights[2]
    assert values["ndcg"] == pytest.approx((7 + 3 + 1 + 0) / 4 * sum(weights) / ideal)
    assert values["rr"] == pytest.approx(3 / 4 * 1 + 1 / 4 * 1 / 2)
    assert values["p@1"] == 3 / 4


@pytest.mark.parametrize("k", [0, -1, 2.5])
def test_a_wrong_cutoff_is_refused(k):
    with pytest.raises(InputError, match="cut-off k"):
        Halves(k=k)


def test_under_keeps_what_was_set_by_hand():
    one = measure("ndcg(gain=linear)@10").under("letor4")
    assert (one.gain, one.discount, one.short, one.k) == ("linear", "letor", "zero", 10)
    back = one.under("definition")
    assert (back.gain, back.discount, back.short) == ("linear", "log2", "whole")
    assert measure("ap@5").under("ranklib").k is None  # RankLib ignores MAP's cut-off


@settings(max_examples=30)
@given(labels=st.lists(st.floats(0, 4, width=32), min_size=1, max_size=8))
def test_real_valued_labels(labels):
    lists = RankedLists.of_labels([labels])
    assert lists.levels[lists.codes].tolist() == labels
    assert measure("ndcg@5").of_query(labels) == pytest.approx(reference.ndcg(labels, 5), abs=1e-9)


class TwiceOfQuery(NDCG):
    def of_query(self, labels):
        return 2 * super().of_query(labels)


class TwiceOfLists(NDCG):
    def of_lists(self, lists):
        return 2 * super().of_lists(lists)


class TwiceClosedForm(NDCG):
    def closed_form(self, lists):
        form = super().closed_form(lists)
        return replace(form, normalizer=form.normalizer / 2)


class TwiceValues(DCG):
    def values(self, levels):
        return 2 * super().values(levels)


class TwiceMixin:
    def of_query(self, labels):
        return 2 * super().of_query(labels)


class TwiceMixedIn(TwiceMixin, NDCG):
    """A rule that stands in a class that is no measure."""


TWICE = [TwiceOfQuery, TwiceOfLists, TwiceClosedForm, TwiceValues, TwiceMixedIn]


def four_times(cls):
    """The measure of `cls` doubled once more, by each of the methods."""

    class ByQuery(cls):
        def of_query(self, labels):
            return 2 * super().of_query(labels)

    class ByLists(cls):
        def of_lists(self, lists):
            return 2 * super().of_lists(lists)

    class BySwaps(cls):
        def swap_deltas(self, labels):
            return 2 * super().swap_deltas(labels)

    return ByQuery, ByLists, BySwaps


@pytest.mark.parametrize("cls", TWICE)
def test_one_method_defines_the_measure_everywhere(cls):
    once = DCG(k=3) if cls is TwiceValues else NDCG(k=3)
    labels, scores = [0, 2, 1, 1, 3], [3, 3, 2, 1, 0]
    ways = [(cls(k=3), 2, 2)]
    by_query, by_lists, by_swaps = four_times(cls)
    ways += [(by_query(k=3), 4, 4), (by_lists(k=3), 4, 4), (by_swaps(k=3), 2, 4)]
    for one, factor, delta_factor in ways:
        lists = judged(labels, scores).ranked()
        assert one.of_query(labels) == pytest.approx(factor * once.of_query(labels))
        assert one.of_lists(lists) == pytest.approx(factor * once.of_lists(lists))
        tied = judged(labels, scores).ranked("expected")
        assert one.of_lists(tied) == pytest.approx(factor * once.of_lists(tied))
        np.testing.assert_allclose(one.swap_deltas(labels), delta_factor * once.swap_deltas(labels))
        form = one.closed_form(lists)
        assert (form is None) == (cls not in (TwiceClosedForm, TwiceValues) or factor + delta_factor > 4)
        assert form is None or form.evaluate() == pytest.approx(factor * once.of_lists(lists))


def test_only_a_formula_needs_to_try_no_orders_of_ties():
    assert Halves.enumerates_ties
    assert TwiceOfQuery.enumerates_ties
    assert TwiceOfLists.enumerates_ties
    assert not type("Same", (type(measure("best")),), {}).enumerates_ties
    assert not type("Said", (NDCG,), {"of_lists": NDCG.of_lists, "enumerates_ties": False}).enumerates_ties
    assert not TwiceClosedForm.enumerates_ties
    by_query, by_lists, by_swaps = four_times(TwiceOfQuery)
    assert by_query.enumerates_ties
    assert by_lists.enumerates_ties
    assert by_swaps.enumerates_ties


def test_a_closed_form_that_is_switched_off_needs_another_rule():
    class Off(NDCG):
        def closed_form(self, lists):
            return None

    with pytest.raises(InputError, match="Off has no closed form here"):
        Off().of_query([1, 0])


def test_a_parameter_that_was_set_survives_every_convention():
    by_hand = NDCG(gain="exp2", k=10)
    assert by_hand.given == {"gain", "k"}
    assert (by_hand.under("trec_eval").gain, str(by_hand.under("trec_eval"))) == (
        "exp2",
        "trec_eval:ndcg(gain=exp2)@10",
    )
    assert measure(by_hand, "sklearn").gain == measure(str(by_hand), "sklearn").gain == "exp2"
    assert measure(replace(by_hand, k=3), "trec_eval").gain == "exp2"  # a changed copy knows it, too
    assert measure("ndcg@10", "trec_eval").under("definition").gain == "exp2"
    assert measure("xgboost:ndcg@32").under("definition").k == 32
    assert measure("xgboost:ndcg").under("definition").k is None
    assert measure("ap@5").under("letor4").under("definition").k is None
    assert NDCG(convention="letor4").gain == (0.0, 1.0, 3.0)
    assert pickle.loads(pickle.dumps(by_hand)).under("trec_eval").gain == "exp2"
    whole = NDCG(k=None, convention="xgboost")
    assert (whole.k, str(whole), measure(str(whole)).k) == (None, "xgboost:ndcg(k=none)", None)


@pytest.mark.parametrize(
    "text",
    [
        "letor4:err@10",
        "yahoo:ap",
        "sklearn:p@1",
        "mslr:recall@2",
        "letor3:meanndcg",
        "gdeval:ap",
        "xgboost:err",
    ],
)
def test_a_tool_has_no_number_for_a_measure_that_it_does_not_have(text):
    tool, name = text.split(":")
    with pytest.raises(
        UnknownMeasureError, match=f"{tool} has no .*ndcg.*For the textbook's: {name}"
    ) as refused:
        measure(text)
    assert isinstance(refused.value, UnknownNameError)
    assert isinstance(refused.value, InputError)
    for refuse in (
        lambda: measure(name, tool),
        lambda: measure(name).under(tool),
        lambda: replace(measure(name), convention=tool),
        lambda: type(measure(name))(convention=tool),
    ):
        with pytest.raises(UnknownMeasureError):
            refuse()


@pytest.mark.parametrize(
    ("parameters", "why"),
    [
        ({"k": True}, "cut-off k must be an integer"),
        ({"gain": "exp"}, "gain must be 'exp2'"),
        ({"gain": (0.0, float("nan"))}, "gain must be"),
        ({"gain": (0.0, -1.0)}, "gain must be"),
        ({"gain": ()}, "gain must be"),
        ({"empty": 7}, "empty must be a number of at least 0 and at most 1, found 7"),
        ({"empty": "1"}, "empty must be a number"),
        ({"discount": "log3"}, "discount must be"),
        ({"convention": "letor5"}, "did you mean 'letor4'"),
        ({"gains": 1}, "unknown parameter of NDCG 'gains': did you mean 'gain'"),
    ],
)
def test_parameters_are_checked_when_they_are_given(parameters, why):
    with pytest.raises(PomonaError, match=why) as refused:
        NDCG(**parameters)
    assert "\n" not in str(refused.value)
    with pytest.raises(PomonaError, match=why):
        replace(NDCG(), **parameters)


def test_numbers_of_numpy_are_numbers():
    one = NDCG(k=np.int64(10), empty=np.float32(0.5), gain=np.array([0, 1, 3]))
    assert (type(one.k), type(one.empty), one.gain, str(one)) == (
        int,
        float,
        (0.0, 1.0, 3.0),
        "ndcg(gain=0/1/3,empty=0.5)@10",
    )
    assert hash(NDCG(gain=[0, 1])) == hash(NDCG(gain=(0.0, 1.0)))


@dataclass(frozen=True, kw_only=True)
class Patient(Measure):
    patience: float = 0.9
    word: str = "a"

    def of_query(self, labels):
        return self.patience


def test_parameters_of_a_users_measure_are_checked_by_their_types():
    assert str(Patient(patience=1 / 3, word="Ab", k=2)) == "Patient(patience=0.3333333333333333,word=Ab)@2"
    with pytest.raises(InputError, match="Patient: patience must be a number, found 'x'"):
        Patient(patience="x")
    plain = type("Plain", (Measure,), {"__annotations__": {"weight": float}, "weight": 1.0})
    with pytest.raises(PomonaError, match=r"put @dataclass\(frozen=True, kw_only=True\) above the class"):
        plain(weight=3.0)


class P(Measure):
    """A user's own class with the name of one of ours."""

    def of_query(self, labels):
        return 0.123


def test_a_users_class_is_never_read_as_one_of_ours():
    assert not P().is_registered
    assert measure("p").is_registered
    with pytest.raises(PomonaError):
        measure(str(P(k=3)))
    assert str(P(k=3)) == f"{__name__}.P@3"


def test_labels_that_are_not_judged():
    """NaN is worth what a label below 0 is worth, in the list and in the pool of judgments."""
    for name in NAMES:
        top = GRADES.get(name, (0, 1, 2, 3, 4))[-1]
        one, scores, ptr = of(name, 3), np.array([5.0, 5.0, 3.0, 2.0, 2.0]), np.array([0, 2, 5])
        nan, negative = (np.array([x, top, 1.0, x, x]) for x in (np.nan, -1.0))
        for ties in ("stable", "expected", "worst", "best"):
            values = [
                one.of_lists(ScoredQueries(y, scores, ptr).ranked(ties)).tolist() for y in (nan, negative)
            ]
            assert values[0] == values[1], (name, ties)
        assert one.of_query([np.nan, np.nan]) == one.of_query([-1.0, -2.0])
        np.testing.assert_array_equal(one.swap_deltas(nan), one.swap_deltas(negative))
    with pytest.raises(
        InputError, match=r"query number 1, which has documents that are not judged \(label NaN\)"
    ):
        judge(judged([np.nan, 1], [2, 1]), [Halves()])
    lists = judged([np.nan, 1, np.nan], [2, 1, 0]).ranked()
    assert lists.pool_count(lists.levels > 0).tolist() == [1]


def test_labels_and_thresholds_are_compared_in_one_precision():
    labels = np.array([0.7, 0.1], np.float32)
    for text in ("p(relevant=0.7)@1", "ap(relevant=0.7)", "rr(relevant=0.7)", "recall(relevant=0.7)@1"):
        assert measure(text).of_query(labels) == 1.0, text
        assert measure(text.replace("0.7", "0.7/0.9")).of_query(labels) == 1.0, text
    assert measure("ap(relevant=0.1)").relevant_levels(np.array([0.1, 0.7])).all()


def test_empty_queries_are_those_in_which_nothing_is_worth_anything_to_the_measure():
    texts = ("p(relevant=2)", "ap", "ndcg", "ndcg(gain=0/0/1)", "rr(relevant=3)", "gap", "meanndcg", "best")
    counts = {text: judge(judged([1, 0], [2, 1]), [measure(text)])[0].n_empty for text in texts}
    assert [text for text, n in counts.items() if n] == [
        "p(relevant=2)",
        "ndcg(gain=0/0/1)",
        "rr(relevant=3)",
    ]
    assert judge(judged([0, 0], [2, 1]), [Halves()])[0].n_empty == 1
