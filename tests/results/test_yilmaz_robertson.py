"""What docs/results/yilmaz-robertson.md says is what its tables say."""

import pytest

from results.page import Page, chosen, number, spec

PAGE = Page("yilmaz-robertson")
REAL = PAGE.tables("yilmaz-robertson")
SIMULATED = PAGE.tables("yilmaz-robertson simulated")["simulated"]
LARGE = PAGE.tables("yilmaz-robertson large")["simulated, 30,000 queries"]
AMOUNT = PAGE.table("yilmaz-robertson amount table")
METHODS, MEASURES = ("LambdaRank", "SoftRank"), ("AP", "P@10", "NDCG@10")


def trained(rows, method, measure, who="ours"):
    """The cells of a measure, by what the method was trained for."""
    return {row["trained for"]: row[f"{measure} {who}"] for row in chosen(rows, method=method)}


def best(cells):
    return max(cells, key=lambda aim: number(cells[aim]))


def worst(cells):
    return min(cells, key=lambda aim: number(cells[aim]))


@pytest.mark.parametrize("name", ["robertson", "simulated", "large", "amount"])
def test_setup(name):
    run = spec(f"yilmaz_{name}")
    for row in run["ranker"]:
        assert (row["hidden"], row["restart_after"]) == ([10], 16)
        assert "valid_measure" in row or "valid_measure" in row["each"]
        if row["ranker"] == "lambdarank":
            assert (row["truncation"], row["normalize"]) == ("none", False)
    assert len(run.get("seeds", [0])) == (3 if name in ("robertson", "amount") else 1)
    n_rates = {len(row["learning_rate"]) for row in run["ranker"] if isinstance(row["learning_rate"], list)}
    assert n_rates == ({2} if name in ("robertson", "simulated") else set())


def test_ap_for_ap():
    for data, rows in REAL.items():
        for method in METHODS:
            assert (best(trained(rows, method, "AP")) == "AP") == (data != "ohsumed")
    rows = REAL["mq2007"]
    for method in METHODS:
        assert "°" in trained(rows, method, "AP")["AP"]
        assert "°" in trained(rows, method, "AP", "paper")["AP"]
    assert "°" in trained(rows, "LambdaRank", "NDCG@10")["AP"]
    assert "°" not in trained(rows, "SoftRank", "NDCG@10")["AP"]


def test_ap_for_p10():
    lifted = [
        (data, method)
        for data, rows in REAL.items()
        for method in METHODS
        if "•" in trained(rows, method, "P@10")["AP"]
    ]
    assert lifted == [("ohsumed", "SoftRank"), ("mslr-subset", "SoftRank")]
    for data, method in lifted:
        cells = trained(REAL[data], method, "P@10")
        assert all("•" in cell for aim, cell in cells.items() if aim != "P@10")


def test_ndcg_for_ndcg10():
    cells = [trained(rows, method, "NDCG@10") for rows in REAL.values() for method in METHODS]
    assert not any("•" in cell["NDCG"] for cell in cells)
    n_worse = sum(number(cell["NDCG"]) < number(cell["NDCG@10"]) for cell in cells)
    assert (n_worse, len(cells)) == (3, 6)
    PAGE.says("worse for NDCG@10 in three of six cases")


def test_ohsumed_shows_no_difference():
    for measure in MEASURES:
        for cell in trained(REAL["ohsumed"], "LambdaRank", measure).values():
            assert not set(cell) & set("•°▾")


def test_seeds_lie_apart():
    rows = PAGE.table("yilmaz-robertson seeds")
    widest = [number(row["span of the seeds of one setting"].split(" to ")[1]) for row in rows]
    means = [number(row["span of the means of the four"]) for row in rows]
    n = sum(seeds >= four for seeds, four in zip(widest, means, strict=True))
    PAGE.says(f"In {n} of {len(rows)} rows the three seeds of some setting lie as far apart as the means")


def test_sizes_of_the_simulated_data():
    for name, documents in (("simulated", 120), ("large", 30)):
        made = spec(f"yilmaz_{name}")["dataset"][0]["simulate"]
        train, valid, test = (round(share * made["queries"]) for share in (0.64, 0.16, 0.2))
        sizes = f"{train:,} training, {valid:,} validation and {test:,} test queries"
        PAGE.says(f"{sizes} of {made['docs_per_query']:.0f} documents on average")
        assert (made["docs_per_query"], made["features"]) == (documents, 136)


def test_simulated():
    assert "•" in trained(SIMULATED, "SoftRank", "P@10")["AP"]
    assert best(trained(SIMULATED, "SoftRank", "AP")) == best(trained(SIMULATED, "SoftRank", "P@10")) == "AP"
    for measure in MEASURES:
        assert not any("•" in cell for cell in trained(SIMULATED, "LambdaRank", measure).values())


def test_p10_is_the_worst_aim():
    for who in ("ours", "paper"):
        columns = [trained(SIMULATED, method, measure, who) for method in METHODS for measure in MEASURES]
        assert sum(worst(cells) == "P@10" for cells in columns) == len(columns) - 1
    PAGE.says("the worst to train for in all columns but one here, and in all but one of the paper")


def test_large():
    for measure in ("AP", "P@10"):
        for who in ("ours", "paper"):
            cells = trained(LARGE, "LambdaRank", measure, who)
            assert best(cells) == "AP"
            assert "°" in cells["AP"]
    cells = trained(LARGE, "LambdaRank", "NDCG@10")
    assert [aim for aim, cell in cells.items() if "▾" not in cell] == ["NDCG@10"]
    assert best(trained(LARGE, "LambdaRank", "NDCG@10", "paper")) == "NDCG"
    assert not any("•" in cell for row in LARGE for name, cell in row.items() if name.endswith("ours"))


def test_features_of_figure_4():
    two, nine, rest = spec("yilmaz_amount")["dataset"][0]["each"]["features"]
    order = ["f39", "f25", "f31", "f42", "f27", "f30", "f33", "f4", "f35"]
    assert (set(two), set(nine), rest) == (set(order[:2]), set(order), "all")
    PAGE.says(f"({', '.join(order[:2])}; {', '.join(order[2:])})")


def leads(features):
    """The leads of the informative measure by the measure of the test, each by share of the queries."""
    return {
        row["tested on"]: {name: number(cell) for name, cell in row.items() if name.endswith("%")}
        for row in chosen(AMOUNT, features=features)
    }


def test_few_features():
    most = max(abs(lead) for of in leads("2").values() for lead in of.values())
    PAGE.says(f"two features leave little difference, at most {most:.2f} either way")


def test_all_features():
    for of in leads("all").values():
        assert max(of.values()) < 0
        assert min(of, key=of.get) == "5 %"


def test_while_training():
    for row in PAGE.table("yilmaz-robertson training table"):
        assert number(row["highest, trained for itself"]) > number(row["highest, trained for that"])


def test_brute_force():
    rows = PAGE.table("yilmaz-robertson brute force")
    assert min(number(row["difference"].split("; p ")[1]) for row in rows) > 0.05
