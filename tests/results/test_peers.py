"""What docs/results/peers.md says is what its table says."""

from results.page import WORDS, Page, column, number, spec

PAGE = Page("peers")
ROWS = PAGE.table("peers table")
DATASETS = list(dict.fromkeys(row["dataset"] for row in ROWS))
OURS, OBLIVIOUS = "LambdaMART", "LambdaMART oblivious"


def by_ranker(name):
    """A column of every dataset, by ranker."""
    return [column([row for row in ROWS if row["dataset"] == data], name, by="ranker") for data in DATASETS]


def ratios(name, theirs, ours):
    """From the least to the most times ours, over the real collections."""
    assert DATASETS[-1] == "simulated"
    found = sorted(values[theirs] / values[ours] for values in by_ranker(name)[:-1])
    return [f"{ratio:.0f}" if ratio >= 2 else f"{ratio:.1f}" for ratio in (found[0], found[-1])]


def test_setup():
    run = spec("peers")
    assert run["search"]["n_trials"] == 8
    PAGE.says("Eight trials of the search a run")
    assert len(run["ranker"]) == 5


def test_marks_are_of_oblivious_trees():
    marked = {mark: [row["ranker"] for row in ROWS for cell in row.values() if mark in cell] for mark in "▲▼"}
    assert set(marked["▲"]) == {OBLIVIOUS, "CatBoost"}
    assert marked["▼"] == ["LightGBM"]
    for values in by_ranker("ndcg@10"):
        assert values[OBLIVIOUS] >= values[OURS]


def test_beside_lightgbm():
    ahead = [values[OURS] > values["LightGBM"] for values in by_ranker("ndcg@10")]
    behind = [data for data, wins in zip(DATASETS, ahead, strict=True) if not wins]
    PAGE.says(f"LambdaMART is ahead of LightGBM in NDCG@10 on {WORDS[sum(ahead)]} of {WORDS[len(ahead)]}")
    PAGE.says(f"behind on {' and '.join(behind)}")


def test_costs():
    trained = {name: ratios("training, s", name, OURS) for name in ("XGBoost", "LightGBM")}
    trained["CatBoost"] = ratios("training, s", "CatBoost", OBLIVIOUS)
    scored = {name: ratios("scoring, µs/doc", name, OURS) for name in ("LightGBM", "XGBoost")}
    scored["CatBoost"] = ratios("scoring, µs/doc", "CatBoost", OBLIVIOUS)
    times = " to ".join(trained["CatBoost"])
    PAGE.says(f"On the four real collections CatBoost trains {times} times as long as our oblivious trees")
    PAGE.says(f"XGBoost {' to '.join(trained['XGBoost'])} times as long as our leaf-wise ones")
    PAGE.says(f"LightGBM {' to '.join(trained['LightGBM'])} times")
    PAGE.says(f"LightGBM scores {' to '.join(scored['LightGBM'])} times slower than we do")
    PAGE.says(f"XGBoost {' to '.join(scored['XGBoost'])}, CatBoost {' to '.join(scored['CatBoost'])}")
    assert all(number(row["training, s"]) > 0 for row in ROWS)
