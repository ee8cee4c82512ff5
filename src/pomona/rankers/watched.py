"""What is judged after every iteration of a training: validation sets, by the ranker's measure and by others.

One set decides which iteration is kept, and when to stop: it is called `valid`. Others, and other measures
than the ranker's, are only looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypedDict, get_args

import numpy as np

from pomona._types import Scores
from pomona.data.dataset import Dataset
from pomona.errors import InputError, UnknownNameError, UnknownParameterError
from pomona.measures.base import Measure
from pomona.measures.judge import asked_for, refuse_one_name
from pomona.rankers.callback import Callback, Callbacks
from pomona.rankers.evaluator import RankingEvaluator, labels_to_judge
from pomona.rankers.inputs import aligned, as_dataset, weighted

Validation = Dataset | tuple[Any, Any, Any]
"""A dataset, or (X, y, qid)."""

_TAKEN = ("train", "valid")
_MEANT = {
    "eval_metric": "eval_measures",
    "feval": "eval_measures",
    "evals": "eval_set",
    "valid_sets": "eval_set",
    "valid_names": "eval_names",
    "eval_at": "the cut-off is part of a measure: measure='ndcg@10', eval_measures=['ndcg@5']",
    "early_stopping_rounds": "early_stopping is a parameter of the ranker: LambdaMART(early_stopping=50)",
    "verbose": "verbose is a parameter of the ranker; or give callbacks=PrintProgress(10)",
    "eval_sample_weight": "the weights of a set come with it: eval_set=[pm.Dataset(X, y, qid, weight=…)]",
    "eval_weight": "the weights of a set come with it: eval_set=[pm.Dataset(X, y, qid, weight=…)]",
    "sample_weight_eval_set": "the weights of a set come with it: eval_set=[pm.Dataset(X, y, qid, weight=…)]",
    "weight": "sample_weight",
    "weights": "sample_weight",
    "init_score": "base",
    "init_model": "the parameter warm_start=True goes on from the model that the ranker has",
    "xgb_model": "the parameter warm_start=True goes on from the model that the ranker has",
}


Unjudged = Literal["ignored", "irrelevant"]
"""What documents without a label teach."""


class FitOptions(TypedDict, total=False):
    """What `fit` can be told of labels, validation sets and callbacks beyond `valid`."""

    unjudged: Unjudged | None
    valid_weight: Any

    eval_set: Sequence[Dataset | tuple[Any, ...]] | Dataset | tuple[Any, ...] | None
    eval_qid: Any
    eval_group: Any
    eval_names: Sequence[str] | None
    eval_measures: Sequence[str | Measure] | str | Measure | None
    callbacks: Sequence[Callback] | Callback | None


def check_options(ranker: str, given: Mapping[str, Any]) -> None:
    """Refuse an option that there is not, in words that help who knows another library."""
    for name in given:
        if name not in FitOptions.__annotations__:
            known = [*("X", "y", "qid", "group", "valid", "sample_weight"), *FitOptions.__annotations__]
            ours = _MEANT.get(name)
            advice = f"{name} is called {ours} here" if ours is not None and " " not in ours else ours
            raise UnknownParameterError(f"option of {ranker}.fit", name, known, advice)
    if (unjudged := given.get("unjudged")) not in (None, *get_args(Unjudged)):
        raise UnknownNameError("unjudged", str(unjudged), get_args(Unjudged))


def check_watched(
    ranker: str, watched: Watched, callbacks: Callbacks, evals: Mapping[str, Any] | None
) -> None:
    """Refuse what a training was asked to tell and did not; `evals` is None of one that has no steps."""
    if evals is None and callbacks:
        raise InputError(f"{ranker} does not learn step by step: leave callbacks out")
    names = [*watched.sets, *(f"valid {one}" for one in watched.measures)]
    if evals and "valid" in evals and names and not any(name in evals for name in names):
        raise InputError(f"{ranker} records one validation set by its measure: leave {names[0]} out")


@dataclass(frozen=True)
class Watched:
    """The sets that are looked at beside `valid`, by name, and the measures beside the ranker's."""

    sets: Mapping[str, Dataset] = field(default_factory=dict)
    measures: tuple[Measure, ...] = ()

    def changed(self, change: Callable[[Dataset], Dataset]) -> Watched:
        """The same with other features, of which a model is made."""
        return replace(self, sets={name: change(data) for name, data in self.sets.items()})

    def beside(self, valid: Dataset | None) -> dict[str, Dataset]:
        """Every set to be judged, the one that decides first; none where there is none that decides."""
        return {} if valid is None else {"valid": valid, **self.sets}

    def judge(
        self,
        sets: Mapping[str, Dataset],
        measure: Measure,
        evaluator: Callable[..., Any] | None = None,
        *,
        train: Dataset | None = None,
    ) -> Callable[[Mapping[str, Scores]], dict[str, float]]:
        """What makes values to be recorded of the scores of each set, by every measure.

        `evaluator` makes what has the `mean` of a set's scores, of (data, measure, name); ours if left out.
        `train`, the training data, are judged by the ranker's measure alone.
        """
        make = evaluator or (lambda data, measure, _: RankingEvaluator(data, measure))
        measures = {"": measure, **{f" {one}": one for one in self.measures}}
        judges = {
            (name, end): make(data, one, name)
            for name, data in sets.items()
            for end, one in measures.items()
            if not end or one != measure
        }
        if train is not None:
            judges = {("train", ""): make(train, measure, "train"), **judges}
        return lambda scores: {f"{name}{end}": one.mean(scores[name]) for (name, end), one in judges.items()}


def held_out_sets(
    train: Dataset, valid: Validation | None, options: FitOptions
) -> tuple[Dataset | None, Watched]:
    """The validation set that decides, and what else is watched; all with the features of the training data.

    Of `eval_set` without `valid`, the first decides that is not the training data.
    """
    weight = options.get("valid_weight")
    if weight is not None and valid is None:
        raise InputError("valid_weight goes with valid, the validation data: give both, or leave it out")
    given = {}
    if valid is not None:
        data = as_dataset(*valid) if isinstance(valid, tuple) else valid
        given["valid"] = weighted(
            data, weight, valid[0] if isinstance(valid, tuple) else None, "valid_weight"
        )
    for name, data in _eval_sets(options).items():
        if _is_same(data, train):
            continue  # whose curve is `train`
        given["valid" if not given else name] = weighted(data, None, name=f"the weights of {name}")
    if options.get("eval_set") is not None and not given:
        raise InputError(
            "eval_set has the training data alone, which cannot tell when to stop: give other queries, too"
        )
    known = train.feature_names, train.categories
    sets = {
        name: aligned(data, *known, "validation data" if name == "valid" else name)
        for name, data in given.items()
    }
    asked = options.get("eval_measures")
    each = [] if asked is None else [asked] if isinstance(asked, str | Measure) else list(asked)
    measures = tuple(asked_for(each)[0].values())
    refuse_one_name(measures)
    decides = sets.pop("valid", None)
    return decides, Watched({name: data.gathered() for name, data in sets.items()}, measures)


def tells_rankings_apart(data: Dataset) -> bool:
    """Whether any query, if it has a weight, has documents of different labels."""
    gathered = data.gathered()
    starts = gathered.query_ptr[:-1]
    lowest, highest = (extreme.reduceat(gathered.y, starts) for extreme in (np.fmin, np.fmax))  # not of NaN
    counts = True if gathered.weight is None else np.maximum.reduceat(gathered.weight, starts) > 0
    return bool(((lowest < highest) & counts).any())


def _eval_sets(options: FitOptions) -> dict[str, Dataset]:
    """The datasets of `eval_set`, by name."""
    eval_set = options.get("eval_set")
    if eval_set is None:
        for name in ("eval_qid", "eval_group", "eval_names"):
            if options.get(name) is not None:
                raise InputError(f"{name} goes with eval_set: give both, or leave it out")
        return {}
    given: Any = eval_set
    is_one = isinstance(given, Dataset) or (
        isinstance(given, tuple) and not isinstance(given[0], Dataset | tuple)
    )
    sets: list[Any] = [given] if is_one else list(given)
    named = options.get("eval_names")
    names = [f"valid_{i}" for i in range(len(sets))] if named is None else [str(name) for name in named]
    if len(names) != len(sets) or len(set(names)) < len(names) or set(names) & set(_TAKEN):
        raise InputError(
            f"found eval_names {names} for {len(sets)} sets, expected one for each, all different, and none "
            "`train` or `valid`"
        )
    ids, sizes = _of_each(options, "eval_qid", len(sets)), _of_each(options, "eval_group", len(sets))
    return {
        name: _dataset(name, data, qid, group)
        for name, data, qid, group in zip(names, sets, ids, sizes, strict=True)
    }


def _of_each(options: FitOptions, name: str, n_sets: int) -> Iterable[Any]:
    given = options.get(name)
    if given is None:
        return [None] * n_sets
    each: list[Any] = list(given)  # type: ignore[call-overload]
    if n_sets == 1 and each and np.ndim(each[0]) == 0:  # of the one set
        return [given]
    if len(each) != n_sets:
        raise InputError(f"found {name} of {len(each)} sets, expected a list of {n_sets}, one for each set")
    return each


def _dataset(name: str, data: Any, qid: Any, group: Any) -> Dataset:
    if isinstance(data, Dataset):
        return as_dataset(data, None, qid, group)
    parts = tuple(data) if isinstance(data, tuple | list) else ()
    if len(parts) not in (2, 3):
        raise InputError(f"eval_set: {name} must be a Dataset, (X, y) or (X, y, qid)")
    if len(parts) == 2 and qid is None and group is None:
        raise InputError(
            f"eval_set: the query ids of {name} are missing: give eval_qid=[…] or eval_group=[…], one entry "
            "for each set, (X, y, qid), or a Dataset"
        )
    return as_dataset(parts[0], parts[1], parts[2] if len(parts) == 3 else qid, group)


def _is_same(one: Dataset, other: Dataset) -> bool:
    return one is other or (
        one.X.shape == other.X.shape
        and np.array_equal(labels_to_judge(one), labels_to_judge(other), equal_nan=True)
        and np.array_equal(one.X, other.X, equal_nan=True)
    )
