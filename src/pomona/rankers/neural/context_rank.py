"""ContextRank (Pobrotyn et al. 2020; Pasumarthi et al. 2020): a network whose documents see each other.

What a document is worth may depend on what it is shown with. Between the hidden layers of a plain network and
its score stand blocks of self-attention, in which every document of a query looks at all others. The order of
the documents plays no part: in another order they get the same scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pomona import _registry
from pomona._types import Features, Labels, Offsets, Scores, Values
from pomona.data.dataset import Dataset
from pomona.errors import InputError
from pomona.objectives.base import Objective
from pomona.rankers.learnt import check_learnt
from pomona.rankers.neural.network.context import ContextArchitecture
from pomona.rankers.neural.neural_ranker import NeuralRanker
from pomona.rankers.parameter import Interval, PositiveFloat, PositiveInt
from pomona.trees.formats.layers import Layers

BlockCount = Annotated[int, Interval(1, 12, "[]")]


class ContextRank(NeuralRanker):
    """ContextRank: a network with self-attention over the documents of a query.

    Scores depend on all documents of a query: `predict` needs whole queries, so a Dataset, or `qid`. It pays
    where relevance depends on the list, and takes some hundreds of queries to learn: with fewer, `LambdaRank`
    did better (`benchmarks/neural_quality`).

    Parameters
    ----------
    hidden : widths of up to three layers below the attention, the last of which has its width.
    dropout : the share of units below the attention that is left out, at random, in each step.
    learning_rate : size of the steps; of several the one that does best on the validation data is kept.
    loss : what is trained towards: the loss of `lambdarank`, `listnet`, `listmle`, `ranknet` or `softrank`,
        as those rankers have it by default.
    n_blocks : blocks of attention, one upon the other.
    n_heads : of each block; the width of the last hidden layer must be a multiple.

    The others are those of every `NeuralRanker`.

    Departures
    ----------
    - One block of one head, as wide as the one hidden layer (32); the papers' networks are larger.
    - Norms stand before attention and layers, not behind (Xiong et al. 2020), which needs no warm-up.
    - Units are dropped below the attention only; dropping what blocks add as well did no better.
    - Padding only makes lists of a batch equally long: no document attends to it.
    """

    name = "contextrank"
    family = "list-wise"
    optimizes = "direct"
    paper = "Pobrotyn, Bartczak, Synowiec, Białobrzeski & Bojar, SIGIR eCom 2020"
    search_space = {
        **{name: space for name, space in NeuralRanker.search_space.items() if name != "hidden"},
        "hidden": [(32,), (64,), (128,)],
        "n_blocks": [1, 2],
    }

    hidden: int | tuple[int, ...] = 32
    dropout: Annotated[float, Interval(0, 1)] = 0.1
    learning_rate: PositiveFloat | tuple[PositiveFloat, ...] = 0.01
    loss: Literal["lambdarank", "listnet", "listmle", "ranknet", "softrank"] = "lambdarank"
    n_blocks: BlockCount = 1
    n_heads: PositiveInt = 1

    def objective(
        self,
        labels: Labels,
        query_ptr: Offsets,
        weights: Values,
        seed: int,
        relative: Values | None = None,
    ) -> Objective:
        """That of the ranker that `loss` names."""
        ranker: NeuralRanker = _registry.find("rankers", self.loss, "loss").load()(measure=self.measure)
        return ranker.objective(labels, query_ptr, weights, seed, relative)

    def architecture(self, n_features: int) -> ContextArchitecture:
        """The shape of the network."""
        attention = {"n_blocks": self.n_blocks, "n_heads": self.n_heads}
        return ContextArchitecture(n_features, self._widths, self.activation, self.layer_norm, **attention)

    @property
    def scores_whole_queries(self) -> bool:
        return True

    def predict_rows(self, X: Features) -> Scores:
        """One score a row, all of them documents of one query."""
        return self.model_.score(X)

    def predict_queries(self, data: Dataset) -> Scores:
        return self.model_.score(data.X, data.query_ptr)

    def portable(self) -> Layers:
        self.check_fitted()
        raise InputError(
            "engines score document by document: train LambdaRank, which sees no other documents"
        )

    def _architecture_of(self, shape: Mapping[str, Any]) -> ContextArchitecture:
        declared = {"hidden": tuple[int, ...], "activation": str, "layer_norm": bool}
        check_learnt({**declared, "n_blocks": BlockCount, "n_heads": PositiveInt}, shape)
        return ContextArchitecture(**{**shape, "hidden": tuple(shape["hidden"])})
