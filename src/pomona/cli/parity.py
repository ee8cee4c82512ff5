"""Prove that an engine ranks as the model does, or say where and why it does not."""

from __future__ import annotations

import contextlib
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pomona.cli.options import Data, DocId, FeatureMap, Json, Label, Model, Qid, named_columns

if TYPE_CHECKING:
    from pomona.data.dataset import Dataset
    from pomona.rankers.base import Ranker
    from pomona.tools.engines.parity import Causes, Difference


def parity(
    model: Model,
    data: Data,
    engine: Annotated[
        str, typer.Option(help="As opensearch-3.5, elasticsearch-1.5.8, elastic, solr-9.1, vespa.")
    ],
    tolerance: Annotated[
        float, typer.Option(help="The largest loss of NDCG@10 that is accepted; above it the exit code is 1.")
    ] = 0.0,
    feature_map: FeatureMap = None,
    label: Label = None,
    qid: Qid = None,
    doc_id: DocId = None,
    as_json: Json = False,
) -> None:
    """Score DATA as that version of the engine would, and tell how that differs from the model's own scores.

    The model is exported for the engine, read by its rules (precision, comparison, undefined values), and
    both rankings are judged. What differs is told feature by feature. A gate for a pipeline that deploys.

    \b
    Example:  pomona parity model.pomona test.txt --engine opensearch-3.5
    """
    from pomona.cli.inputs import read_for_model
    from pomona.cli.output import print_json
    from pomona.rankers.loading import load_model

    ranker = load_model(model)
    dataset = read_for_model(data, ranker, named_columns(label, qid, doc_id), labelled=True)
    total, causes = compared(ranker, dataset, engine, feature_map)
    with contextlib.suppress(BrokenPipeError):  # the exit code is the same if nobody reads to the end
        if as_json:
            told = {"engine": engine, "documents": dataset.n_docs, "differing": asdict(total)}
            print_json({**told, **asdict(causes)})
        else:
            typer.echo("\n".join(lines_of(engine, dataset.n_docs, total, causes)))
    if total.after < total.before - tolerance:
        raise typer.Exit(1)


def compared(
    ranker: Ranker, data: Dataset, engine: str, feature_map: Path | None = None
) -> tuple[Difference, Causes]:
    """What differs in all, and why."""
    from pomona.rankers.exporting import engine_names, read_feature_map
    from pomona.tools.engines.engine import engine_named
    from pomona.tools.engines.parity import Causes, Difference

    emulated, names = engine_named(engine), engine_names(ranker.feature_names_)
    if feature_map is not None:
        names = read_feature_map(feature_map, ranker.feature_names_)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is noted there is measured here
        version = emulated.options.engine_version
        text = ranker.exported(emulated.name, engine_version=version, feature_map=feature_map)
    served = emulated.read(str(text), names)
    aligned = data.gathered().with_features(ranker.feature_names_)
    total = Difference.of(aligned, ranker.predict(aligned), served.score(aligned.X))
    return total, Causes.of(aligned, ranker.portable(), served, ranker.feature_names_)


def lines_of(engine: str, n_docs: int, total: Difference, causes: Causes) -> list[str]:
    """The differences in words."""

    def size(one: Difference) -> str:
        return f"{one.documents} documents, {one.queries} queries, NDCG@10 {one.after - one.before:+.4f}"

    lines = [
        f"{engine}: {total.documents} of {n_docs} scores differ by more than rounding, "
        f"in {total.queries} queries; {total.rankings} rankings differ",
        f"NDCG@10 {total.before:.6f} here, {total.after:.6f} there ({total.after - total.before:+.6f})",
    ]
    lines += [f"undefined {name} {causes.way}: {size(one)}" for name, one in causes.undefined.items()]
    lines += [f"infinite {name} is undefined there: {size(one)}" for name, one in causes.infinite.items()]
    if causes.besides.documents:
        lines.append(f"thresholds, limits or precision of the engine: {size(causes.besides)}")
    if total.rankings and not total.documents:
        lines.append("only rounding: scores that are equal in float32 keep the order in which they came")
    return lines
