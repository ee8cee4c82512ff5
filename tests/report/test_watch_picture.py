import itertools
import json
import re

import pytest

import pomona as pm
from pomona.experiments.analysis.trace import watched
from pomona.report.encoding import for_file, vega_lite
from pomona.report.watch_picture import grade_of, picture

DATA = pm.simulate(20, docs_per_query=12, n_features=6, seed=2)


def seen(ranker=None, data=DATA, query=None):
    trace = pm.Trace([str(data.qids[0] if query is None else query)])
    (ranker or pm.LambdaMART(n_trees=6, n_leaves=4, min_docs=5)).fit(data, trace=trace)
    return watched(trace)


def plots_of(chart):
    spec = chart.to_dict()  # which checks it against Vega-Lite's schema
    rows = {name: json.loads(text) for name, text in spec["datasets"].items()}
    return spec, rows, spec["vconcat"]


def test_four_plots_over_the_same_iterations():
    found = seen()
    spec, _, plots = plots_of(picture(found.facts, found.queries[0]))
    titles = [plot["title"]["text"] for plot in plots]
    assert [title.partition(" ")[0] for title in titles] == ["Label", "Force", "Score", "NDCG@10"]
    domains = {
        str(layer["encoding"]["x"]["scale"]["domain"])
        for plot in plots
        for layer in plot["layer"]
        if "x" in layer["encoding"]
    }
    assert domains == {"[-0.5, 6.5]"}
    assert "goes from" in spec["description"]
    assert not re.search(r"#[0-9a-fA-F]{6}|rgba?\(|\"font\"", json.dumps(plots))


def test_a_document_and_a_moment_are_pointed_at_in_all_plots():
    found = seen()
    spec, _, plots = plots_of(picture(found.facts, found.queries[0]))
    names = [{layer.get("name") for layer in plot["layer"]} for plot in plots]
    pointed = {param["name"]: [bool(of & set(param["views"])) for of in names] for param in spec["params"]}
    assert pointed == {"document": [True, True, True, False], "moment": [True] * 4}
    on_paper = json.loads(for_file(vega_lite(picture(found.facts, found.queries[0], is_paper=True))))
    assert "params" not in on_paper
    assert "param" not in json.dumps(on_paper["vconcat"])


def test_every_label_stands_in_the_plot_once_where_it_begins():
    found = seen()
    _, rows, plots = plots_of(picture(found.facts, found.queries[0]))
    bars = rows[plots[0]["layer"][0]["data"]["name"]]
    for rank in {bar["rank"] for bar in bars}:
        of_rank = [bar for bar in bars if bar["rank"] == rank]
        assert of_rank[0]["is_new"]
        for before, bar in itertools.pairwise(of_rank):
            assert bar["is_new"] == (bar["digit"] != before["digit"])
            assert bar["grade"] == grade_of(bar["label"], found.facts["labels"])


def test_labels_of_any_scale_get_the_ordered_colors():
    assert [grade_of(label, [0, 1]) for label in (0, 1)] == [0, 4]
    assert [grade_of(label, [-2, 30]) for label in (-2, 0, 14, 30)] == [0, 0, 2, 4]
    assert grade_of(3, [3, 3]) == 0


def test_without_forces_there_is_no_plot_of_them():
    found = seen(pm.McRank(n_trees=3))
    _, _, plots = plots_of(picture(found.facts, found.queries[0]))
    assert len(plots) == 3


@pytest.mark.parametrize("n_docs", [1, 2])
def test_short_queries(n_docs):
    n = DATA.n_docs - DATA.query_ptr[1] + n_docs
    rows = [*range(n_docs), *range(DATA.query_ptr[1], DATA.n_docs)]
    data = pm.Dataset(DATA.X[rows], DATA.y[rows], DATA.qid[rows])
    assert data.n_docs == n
    found = seen(data=data)
    _, _, plots = plots_of(picture(found.facts, found.queries[0]))
    assert plots[0]["height"] == 20 * n_docs
