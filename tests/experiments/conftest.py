"""A small comparison that many tests look at."""

import pytest

from pomona.experiments.compare import compare
from pomona.experiments.spec_options import spec_from_options

RANKERS = "lambdamart(n_trees=6), short=mart(n_trees=3)"


def small_spec(rankers=RANKERS, **settings):
    """Two folds of a few simulated queries."""
    return spec_from_options(
        ["toy=simulate(queries=24, docs_per_query=8, features=5, seed=3)"],
        rankers,
        **{"n_folds": 2, "bounds": False, "name": "small", **settings},
    )


@pytest.fixture
def make_spec():
    return small_spec


@pytest.fixture
def own_ranker(tmp_path):
    """A ranker in a file of the user's own: `path:class`."""
    path = tmp_path / "own" / "mine.py"
    path.parent.mkdir()
    path.write_text(
        """
from pomona.rankers.forests.mart import MART

class Mine(MART):
    name = "mine"
"""
    )
    return f"{path}:Mine"


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """A comparison with two seeds and two conventions that ran to its end."""
    directory = tmp_path_factory.mktemp("finished")
    spec = small_spec(measures=["ndcg@5", "ap"], conventions=["definition", "lightgbm"], seeds=[0, 1])
    return compare(spec, directory, n_jobs=2, command="pomona compare small.toml")
