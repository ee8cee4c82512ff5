"""Features with names are known by them: put into the order of the model, or refused, never mixed up."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from typer.testing import CliRunner

import pomona as pm
from pomona.cli.app import build
from pomona.data.concatenation import concatenated
from pomona.errors import InputError

DATA = pm.simulate(15, docs_per_query=8, n_features=4, seed=1)
NAMES = list(DATA.feature_names)
FRAME = pd.DataFrame(DATA.X, columns=NAMES)
OTHER_ORDERS = [NAMES[::-1], [NAMES[2], NAMES[0], NAMES[3], NAMES[1]]]


def fitted():
    return pm.LinearRegression().fit(FRAME, DATA.y, qid=DATA.qid)


def as_dataset(columns):
    return pm.Dataset(FRAME[columns], DATA.y, DATA.qid)


@pytest.mark.parametrize("columns", OTHER_ORDERS)
def test_other_orders_give_the_same_scores(columns, tmp_path):
    model = fitted()
    expected = model.predict(FRAME, qid=DATA.qid)
    model.save(tmp_path / "m.pomona")
    for ranker in (model, pm.load_model(tmp_path / "m.pomona"), pm.LinearRegression().fit(DATA)):
        for table in (FRAME[columns], pl.DataFrame(FRAME[columns].to_dict("list"))):
            assert (ranker.predict(table, qid=DATA.qid) == expected).all()
        assert (ranker.predict(as_dataset(columns)) == expected).all()
        assert ranker.score(as_dataset(columns)) == ranker.score(DATA)
    assert model.feature_names_in_.tolist() == NAMES


@pytest.mark.parametrize("columns", OTHER_ORDERS)
def test_validation_data_in_another_order(columns):
    forest = {"n_trees": 20, "early_stopping": 3, "seed": 1}
    expected = pm.MART(**forest).fit(DATA, valid=DATA)
    turned = pm.MART(**forest).fit(DATA, valid=as_dataset(columns))
    assert turned.evals_ == expected.evals_
    by_tuple = pm.MART(**forest).fit(DATA, valid=(FRAME[columns], DATA.y, DATA.qid))
    assert by_tuple.evals_ == expected.evals_


@pytest.mark.parametrize("case", ["a column is missing", "a column has another name", "one too many"])
def test_other_features_are_refused_by_name(case):
    frame = {
        "a column is missing": FRAME[NAMES[1:]],
        "a column has another name": FRAME.rename(columns={NAMES[0]: "strange"}),
        "one too many": FRAME.assign(strange=0.0),
    }[case]
    told = r"missing: " + NAMES[0] if case != "one too many" else "not expected: strange"
    with pytest.raises(InputError, match=told):
        fitted().predict(frame, qid=DATA.qid)
    with pytest.raises(InputError, match=f"validation data: .*{told}"):
        pm.MART(n_trees=2).fit(DATA, valid=(frame, DATA.y, DATA.qid))
    with pytest.raises(InputError, match="features"):
        concatenated([as_dataset(NAMES), pm.Dataset(frame, DATA.y, DATA.qid + 100)])


def test_features_that_nobody_named_are_known_by_their_place():
    model, unnamed = fitted(), pm.LinearRegression().fit(DATA.X, DATA.y, qid=DATA.qid)
    expected = model.predict(FRAME, qid=DATA.qid)
    for ranker in (model, unnamed):
        for table in (DATA.X, pd.DataFrame(DATA.X), FRAME):
            assert (ranker.predict(table, qid=DATA.qid) == expected).all()


def test_names_that_look_like_numbers_are_names_too():
    numbered = FRAME.set_axis([f"f{j}" for j in range(1, 5)], axis=1)
    model = pm.LinearRegression().fit(numbered, DATA.y, qid=DATA.qid)
    turned = numbered[["f4", "f1", "f3", "f2"]]
    assert (model.predict(turned, qid=DATA.qid) == model.predict(numbered, qid=DATA.qid)).all()
    with pytest.raises(InputError, match="3 features"):
        model.predict(numbered[["f2", "f3", "f4"]], qid=DATA.qid)


def test_joined_data_in_another_order():
    more = pm.Dataset(FRAME[NAMES[::-1]], DATA.y, DATA.qid + 100)
    joined = concatenated([as_dataset(NAMES), more])
    assert np.array_equal(joined.X[: DATA.n_docs], joined.X[DATA.n_docs :])


def test_the_command_line(tmp_path):
    table = FRAME.assign(label=DATA.y, qid=DATA.qid)
    table.to_csv(tmp_path / "train.csv", index=False)
    table[["qid", *NAMES[::-1], "label"]].to_csv(tmp_path / "turned.csv", index=False)
    table[["qid", *NAMES[1:], "label"]].to_csv(tmp_path / "short.csv", index=False)
    invoke, model = CliRunner().invoke, str(tmp_path / "m.pomona")
    train = ["train", "linearregression", str(tmp_path / "train.csv"), "-o", model]
    assert invoke(build(), [*train, "--valid", str(tmp_path / "turned.csv")]).exit_code == 0
    scores = [
        invoke(build(), ["score", model, str(tmp_path / f"{name}.csv")]) for name in ("train", "turned")
    ]
    assert scores[0].exit_code == 0
    assert scores[0].output == scores[1].output
    short = invoke(build(), ["score", model, str(tmp_path / "short.csv")])
    assert (short.exit_code, type(short.exception)) != (0, None)
    assert f"missing: {NAMES[0]}" in short.output + str(short.exception)
