"""What a run is: a ranker with its parameters, to be fitted on one fold with one seed; and its id."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pomona.data.folds import Fold
from pomona.experiments.data_spec import DataSpec, Variant
from pomona.experiments.spec import (
    MEASURE_KEYS,
    RankerSpec,
    SearchSpec,
    Spec,
    code_of,
    digest_of_file,
    ranker_class,
)
from pomona.experiments.variation import COMPLETE, Variation, with_chosen_features
from pomona.rankers.base import Ranker, SearchRange
from pomona.rankers.model_file import parameters_from_json, parameters_to_json

VERSION = 2
"""Of ids and of what is kept. Earlier ones did not know the names of features and categories in the data, nor
what the files of measures and models hold."""


@dataclass(frozen=True)
class RunSpec:
    """What is fitted, on what.

    The id is made of what could change a number: not of names and places, and of the seed only where chance
    plays a part.

    Parameters
    ----------
    dataset, fold, ranker, seed : what the run is called; `ranker` is the label of a row of the spec, and
        `dataset` the name of a variant of the dataset `of`, in which `variation` is changed.
    kind : the ranker's name, or `path/to/file.py:ClassName`.
    parameters : all that the ranker has but the seed, as JSON keeps them.
    data : the digest of the fold.
    search : how long to search for better parameters; None does not.
    searched : the parameters that are searched for.
    space : where to search them; None is the ranker's own search space.
    uses_seed : whether chance plays a part.
    code : the class and the digest of the file of a user's ranker; empty for ours.
    curves : the parts that are judged after every iteration.
    features, without : the names of the features that the ranker is given, or is not; None: all.
    files : of parameters that name a file (a model, a measure of the user's), the digest of its content.
    """

    dataset: str
    fold: int
    ranker: str
    kind: str
    parameters: Mapping[str, Any]
    seed: int
    data: str
    search: SearchSpec | None = None
    searched: tuple[str, ...] = ()
    uses_seed: bool = True
    space: Mapping[str, SearchRange] | None = None
    code: str = ""
    of: str = ""
    variation: Variation = COMPLETE
    curves: tuple[str, ...] = ("train", "valid")
    features: tuple[str, ...] | None = None
    without: tuple[str, ...] | None = None
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The name of the run's files, and its key in the store."""
        search: list[Any] = []
        if self.search is not None:
            search = [
                self.search.n_trials,
                self.search.seed,
                *self.searched,
                *([self.space] * bool(self.space)),
            ]
        seed = self.seed if self.uses_seed else None
        parameters = {**self.parameters, **self.files}
        identity = [VERSION, self.code or self.kind, parameters, seed, self.data, search]
        identity += ["test"] * self.judges_test
        given = {"features": self.features, "without": self.without}
        identity += [{key: sorted(names)} for key, names in given.items() if names is not None]
        return hashlib.blake2b(json.dumps(identity, sort_keys=True).encode(), digest_size=12).hexdigest()

    @property
    def keys(self) -> dict[str, Any]:
        """What the run is called, column by column."""
        return {"dataset": self.dataset, "fold": self.fold, "ranker": self.ranker, "seed": self.seed}

    @property
    def judges_test(self) -> bool:
        """Whether the test queries are judged after every iteration, which a bound does not have."""
        return "test" in self.curves and not ranker_class(self.kind).is_bound

    @property
    def needs_valid(self) -> bool:
        """Whether the run cannot do without validation queries."""
        return self.search is not None or self.parameters.get("early_stopping") is not None

    def __str__(self) -> str:
        return f"{self.dataset} fold {self.fold} {self.ranker} seed {self.seed}"

    def given(self, fold: Fold) -> Fold:
        """The fold with the features that the ranker is given."""
        return with_chosen_features(fold, self.features, self.without)

    def make_ranker(self, **changed: Any) -> Ranker:
        """The ranker, not fitted."""
        cls = ranker_class(self.kind)
        seed = {"seed": self.seed} if "seed" in cls().get_params(deep=False) else {}
        ranker: Ranker = cls(**{**parameters_from_json(self.parameters), **seed, **changed})
        return ranker

    def search_space(self) -> dict[str, SearchRange]:
        """Where each of the searched parameters is searched."""
        space = ranker_class(self.kind).space_for(self.parameters) if self.space is None else self.space
        return {name: space[name] for name in self.searched}


def runs_of(spec: Spec, digests: Mapping[str, Mapping[int, str]]) -> list[RunSpec]:
    """Every run of a comparison, fold by fold, given the digests of each variant of its data."""
    return [
        _run_of(spec, data, variant, fold, digests[variant.name][fold], row, seed)
        for data in spec.datasets
        for fold in digests[data.variants()[0].name]
        for variant in data.variants()
        for seed in spec.seeds
        for row in spec.rows()
    ]


def _run_of(
    spec: Spec, data: DataSpec, variant: Variant, fold: int, digest: str, row: RankerSpec, seed: int
) -> RunSpec:
    cls = ranker_class(row.ranker)
    parameters = {**cls().get_params(deep=False), **row.parameters}
    if "measure" in parameters and "measure" not in row.parameters:
        parameters["measure"] = spec.aim
    space = cls.space_for(parameters) if row.search is None else row.search
    searched = tuple(name for name in space if spec.search is not None and name not in row.parameters)
    fixed = {name: value for name, value in parameters.items() if name not in ("seed", "verbose")}
    return RunSpec(
        variant.name,
        fold,
        row.label,
        row.ranker,
        parameters_to_json(fixed),
        seed,
        digest,
        search=spec.search if searched else None,
        searched=searched,
        # Where the data have no validation queries, they are cut from the training queries at random.
        uses_seed="seed" in parameters or bool(searched) or parameters.get("early_stopping") is not None,
        space=row.search,
        code=code_of(row.ranker),
        of=data.name,
        variation=variant.variation,
        curves=data.curves,
        features=row.features,
        without=row.without,
        files=files_of(row.ranker, fixed),
    )


def files_of(ranker: str, parameters: Mapping[str, Any]) -> dict[str, str]:
    """The digest of the content of each file that parameters name."""
    files = {key: code for key in MEASURE_KEYS if (code := code_of(str(parameters.get(key))))}
    if ranker == "imported" and parameters.get("model") is not None:
        files["model"] = digest_of_file(parameters["model"])
    return files
