"""Learning to rank: train any method towards any measure, judge it exactly as any published tool would.

>>> import pomona as pm
>>> data = pm.Dataset([[3.0], [1.0], [2.0]], [2, 0, 1], [1, 1, 1])
>>> pm.evaluate(data, data.X[:, 0], ["ndcg@10", "ap"])
{'ndcg@10': 1.0, 'ap': 1.0}
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from pomona._extras import naming_extras

if TYPE_CHECKING:
    from pomona.data.catalog import load as load
    from pomona.data.convert import convert as convert
    from pomona.data.dataset import Dataset as Dataset
    from pomona.data.k_fold import QueryKFold as QueryKFold
    from pomona.data.letor import read_letor as read_letor
    from pomona.data.letor_writer import write_letor as write_letor
    from pomona.data.logs import read_log as read_log
    from pomona.data.read import read as read
    from pomona.data.simulate import simulate as simulate
    from pomona.errors import PomonaError as PomonaError
    from pomona.experiments.analysis.duel import duel as duel
    from pomona.experiments.analysis.explain import explain as explain
    from pomona.experiments.analysis.feature_importance import (
        permutation_importance as permutation_importance,
    )
    from pomona.experiments.analysis.features import feature_table as feature_table
    from pomona.experiments.analysis.informative import infer_relevance as infer_relevance
    from pomona.experiments.analysis.measure_values import compare_measures as compare_measures
    from pomona.experiments.analysis.optimality import local_optimality as local_optimality
    from pomona.experiments.analysis.power import power as power
    from pomona.experiments.best.best_ranker import BestRanker as BestRanker
    from pomona.experiments.inspection import inspect as inspect
    from pomona.experiments.tracking import log_to_mlflow as log_to_mlflow
    from pomona.measures.base import Measure as Measure
    from pomona.measures.judge import evaluate as evaluate
    from pomona.measures.parse import measure as measure
    from pomona.rankers.base import Ranker as Ranker
    from pomona.rankers.baselines.best_feature import BestFeature as BestFeature
    from pomona.rankers.baselines.ideal import IdealRanker as IdealRanker
    from pomona.rankers.baselines.random_ranker import RandomRanker as RandomRanker
    from pomona.rankers.baselines.worst import WorstRanker as WorstRanker
    from pomona.rankers.boosting.ada_rank import AdaRank as AdaRank
    from pomona.rankers.boosting.rank_boost import RankBoost as RankBoost
    from pomona.rankers.callback import Callback as Callback
    from pomona.rankers.callback import Checkpoint as Checkpoint
    from pomona.rankers.callback import PrintProgress as PrintProgress
    from pomona.rankers.callback import StopAfter as StopAfter
    from pomona.rankers.callback import TrainingStep as TrainingStep
    from pomona.rankers.combine.ensemble import Ensemble as Ensemble
    from pomona.rankers.combine.linear_combination import LinearCombination as LinearCombination
    from pomona.rankers.forests.lambdamart import LambdaMART as LambdaMART
    from pomona.rankers.forests.mart import MART as MART
    from pomona.rankers.forests.mcrank import McRank as McRank
    from pomona.rankers.forests.random_forest import RandomForest as RandomForest
    from pomona.rankers.forests.rc_rank import RCRank as RCRank
    from pomona.rankers.forests.xendcg import XENDCG as XENDCG
    from pomona.rankers.imported.imported import Imported as Imported
    from pomona.rankers.imported.imported import from_model as from_model
    from pomona.rankers.imported.imported import from_sklearn as from_sklearn
    from pomona.rankers.linear.coordinate_ascent import CoordinateAscent as CoordinateAscent
    from pomona.rankers.linear.fenchel_rank import FenchelRank as FenchelRank
    from pomona.rankers.linear.fsm_rank import FSMRank as FSMRank
    from pomona.rankers.linear.larf import LARF as LARF
    from pomona.rankers.linear.linear_regression import LinearRegression as LinearRegression
    from pomona.rankers.linear.logistic_regression import LogisticRegression as LogisticRegression
    from pomona.rankers.linear.lruf import LRUF as LRUF
    from pomona.rankers.linear.perm_rank import PermuRank as PermuRank
    from pomona.rankers.linear.prank import PRank as PRank
    from pomona.rankers.linear.rank_cosine import RankCosine as RankCosine
    from pomona.rankers.linear.rank_svm import RankSVM as RankSVM
    from pomona.rankers.linear.smooth_rank import SmoothRank as SmoothRank
    from pomona.rankers.linear.svm_map import SVMMap as SVMMap
    from pomona.rankers.loading import load_model as load_model
    from pomona.rankers.neural.context_rank import ContextRank as ContextRank
    from pomona.rankers.neural.lambda_rank import LambdaRank as LambdaRank
    from pomona.rankers.neural.list_mle import ListMLE as ListMLE
    from pomona.rankers.neural.list_net import ListNet as ListNet
    from pomona.rankers.neural.rank_net import RankNet as RankNet
    from pomona.rankers.neural.soft_rank import SoftRank as SoftRank
    from pomona.rankers.scorer import scorer as scorer
    from pomona.rankers.trace import Trace as Trace
    from pomona.transformers.balanced_draw import BalancedDraw as BalancedDraw
    from pomona.transformers.category_mean import CategoryMean as CategoryMean
    from pomona.transformers.quartile_fill import QuartileFill as QuartileFill
    from pomona.transformers.query_difference import QueryDifference as QueryDifference
    from pomona.transformers.query_rank import QueryRank as QueryRank

__version__ = "0.1.0"

# Names are imported when they are first used: `import pomona` loads neither numba nor polars.
_HOMES = {
    "BalancedDraw": "pomona.transformers.balanced_draw",
    "BestRanker": "pomona.experiments.best.best_ranker",
    "Callback": "pomona.rankers.callback",
    "CategoryMean": "pomona.transformers.category_mean",
    "Checkpoint": "pomona.rankers.callback",
    "Dataset": "pomona.data.dataset",
    "Measure": "pomona.measures.base",
    "PomonaError": "pomona.errors",
    "PrintProgress": "pomona.rankers.callback",
    "QuartileFill": "pomona.transformers.quartile_fill",
    "QueryDifference": "pomona.transformers.query_difference",
    "QueryKFold": "pomona.data.k_fold",
    "QueryRank": "pomona.transformers.query_rank",
    "Ranker": "pomona.rankers.base",
    "StopAfter": "pomona.rankers.callback",
    "Trace": "pomona.rankers.trace",
    "TrainingStep": "pomona.rankers.callback",
    "compare_measures": "pomona.experiments.analysis.measure_values",
    "convert": "pomona.data.convert",
    "duel": "pomona.experiments.analysis.duel",
    "evaluate": "pomona.measures.judge",
    "explain": "pomona.experiments.analysis.explain",
    "feature_table": "pomona.experiments.analysis.features",
    "from_model": "pomona.rankers.imported.imported",
    "from_sklearn": "pomona.rankers.imported.imported",
    "infer_relevance": "pomona.experiments.analysis.informative",
    "inspect": "pomona.experiments.inspection",
    "load": "pomona.data.catalog",
    "load_model": "pomona.rankers.loading",
    "local_optimality": "pomona.experiments.analysis.optimality",
    "log_to_mlflow": "pomona.experiments.tracking",
    "measure": "pomona.measures.parse",
    "permutation_importance": "pomona.experiments.analysis.feature_importance",
    "power": "pomona.experiments.analysis.power",
    "read": "pomona.data.read",
    "read_letor": "pomona.data.letor",
    "read_log": "pomona.data.logs",
    "scorer": "pomona.rankers.scorer",
    "simulate": "pomona.data.simulate",
    "write_letor": "pomona.data.letor_writer",
}

__all__ = [*_HOMES, "__version__"]


def __getattr__(name: str) -> Any:
    # Python asks for `_jit`, too, where that is imported: not to be looked for in all files of rankers.
    home = _HOMES.get(name) or (None if name.startswith("_") else _homes().get(name))
    if home is None:
        raise AttributeError(f"module 'pomona' has no attribute {name!r}")
    if home.startswith("pomona.rankers.forests."):  # to be trained, most likely
        from pomona.rankers.forests.training.first_steps import compile_ahead

        compile_ahead()
    with naming_extras():
        value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*_homes(), "__version__"])


def _homes() -> dict[str, str]:
    """The file of every public name; a file dropped into `rankers` is part of the front door."""
    from pomona._registry import entries

    return _HOMES | {entry.class_name: entry.module for entry in entries("rankers").values()}
