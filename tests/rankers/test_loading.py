import numpy as np
import pytest

import pomona as pm
from pomona.rankers.loading import load_model
from pomona.rankers.model_file import write_model


def test_a_model_of_an_unknown_ranker_is_refused(tmp_path):
    write_model(tmp_path / "m", "nosuch", {"parameters": {}, "learnt": {}}, {})
    with pytest.raises(pm.PomonaError, match="unknown ranker 'nosuch'"):
        load_model(tmp_path / "m")


def test_a_model_of_the_users_own_class(tmp_path):
    class Mine(pm.LinearRegression):
        name = "mine"

    data = pm.simulate(20, docs_per_query=8, n_features=4, seed=1)
    ranker = Mine().fit(data)
    ranker.save(tmp_path / "m.pomona")
    loaded = load_model(tmp_path / "m.pomona", Mine)
    assert type(loaded) is Mine
    np.testing.assert_array_equal(loaded.predict(data), ranker.predict(data))
    with pytest.raises(LookupError, match="unknown ranker 'mine'"):
        load_model(tmp_path / "m.pomona")
