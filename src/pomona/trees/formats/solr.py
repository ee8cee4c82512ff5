"""Apache Solr's MultipleAdditiveTreesModel, as its learning to rank module takes it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import ClassVar

from pomona.trees.forest import Forest
from pomona.trees.formats.format import Format, Split, finite, folded, without_base


class Solr(Format):
    """Solr's tree model (JSON); features go by their names, and what a document lacks is 0."""

    name: ClassVar[str] = "solr"
    reads_undefined: ClassVar[bool] = False

    def write(self, forest: Forest, feature_names: Sequence[str]) -> str:
        """A model to be uploaded to `/schema/model-store`, named pomona."""
        names = [json.dumps(name) for name in feature_names]

        def inner(number: int, split: Split, left: str, right: str) -> str:
            asked = f'"feature":{names[split.feature]},"threshold":"{split.threshold!r}"'
            return f'{{{asked},"left":{left},"right":{right}}}'

        roots = folded(finite(without_base(forest)), _leaf, inner)
        trees = ",\n".join(f'{{"weight":"1","root":{root}}}' for root in roots)
        features = ",".join(f'{{"name":{name}}}' for name in names)
        return (
            '{"class":"org.apache.solr.ltr.model.MultipleAdditiveTreesModel","name":"pomona",\n'
            f'"features":[{features}],\n"params":{{"trees":[\n{trees}\n]}}}}\n'
        )


def _leaf(number: int, value: float) -> str:
    return f'{{"value":"{value!r}"}}'
