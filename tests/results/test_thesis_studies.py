"""What docs/results/thesis-studies.md says is what its tables say."""

from scipy.stats import pearsonr

from golden.thesis_norm import CUTOFF
from results.page import WORDS, Page, column, number, spec

PAGE = Page("thesis-studies")
SIZE = PAGE.table("thesis size table")


def by_dataset(part, title):
    """The rows of a part's tables of this title, by the dataset that ends it."""
    found = PAGE.tables(part)
    return {key.removeprefix(title): rows for key, rows in found.items() if key.startswith(title)}


OVERFIT = by_dataset("thesis overfit", "What training on costs on ")
SEARCH = by_dataset("thesis search", "The best minus the worst on ")
SLOPES = by_dataset("thesis cutoff", "Slopes of quality on ")


def test_setup():
    specs = {
        name: [spec(f"thesis_{name}"), spec(f"thesis_{name}_five_grades")]
        for name in ("overfit", "size", "noise", "search", "cutoff")
    }
    names = {
        name: [
            data.get("name", data.get("source"))
            for one in both
            for data in one["dataset"]
            if "optional" not in data
        ]
        for name, both in specs.items()
    }
    known = {"LETOR 4.0", "mq2007", "mq2008", "ohsumed", "mslr-subset", "simulated"}
    assert set().union(*names.values()) == known
    assert list(OVERFIT) == names["overfit"]
    assert list(SEARCH) == names["search"]
    assert list(dict.fromkeys(row["dataset"] for row in SIZE)) == names["size"]
    for both in specs.values():
        for one, highest in zip(both, (2, 4), strict=True):
            aims = [text for text in one["measures"] if text.startswith("err")]
            assert aims == [f"err(max_grade={highest})@20"]
            assert all("sr4" not in text for text in one["measures"]) or highest == 4
            for row in one["ranker"]:
                if row["ranker"] == "lambdamart":
                    assert (row["truncation"], row["normalize"]) == ("none", False)
                    own = [row.get("measure", aims[0]), *row.get("each", {}).get("measure", ())]
                    assert {text.partition("@")[0] for text in own} == {f"err(max_grade={highest})"}
    shares = {"overfit": None, "size": (0.64, 0.16, 0.2)}
    for name, both in specs.items():
        splits = [data.get("split") for one in both for data in one["dataset"]]
        expected = shares.get(name, (0.8, 0.2))
        assert splits == [expected and list(expected)] * len(splits)


def test_from_100_to_200_trees():
    rising = {
        data: [number(row["at 200"]) > number(row["Test at 100"]) for row in rows]
        for data, rows in OVERFIT.items()
    }
    n_cases = sum(map(len, rising.values()))
    PAGE.says(f"from 100 to 200 trees ERR@20 rises in {sum(map(sum, rising.values()))} of {n_cases} cases")
    assert all(rising["simulated"])
    PAGE.says(f"all {WORDS[len(rising['simulated'])]} of the simulated data among them")


def test_training_on_costs():
    rows = [(data, row) for data, of in OVERFIT.items() for row in of]
    n_below = sum(number(row["Last minus chosen"]) < 0 for _, row in rows)
    PAGE.says("1,000 trees are below the number that the validation queries choose")
    PAGE.says(f"choose in {n_below} of {len(rows)} cases")
    told = []
    for data, of in OVERFIT.items():
        leaves = [f"{number(row['Ranker']):.0f}" for row in of if row["Significant"] == "yes"]
        assert all(number(row["Last minus chosen"]) < 0 for row in of if row["Significant"] == "yes")
        if leaves:
            told.append(f"{data.upper()} with {' and '.join(leaves)}")
    PAGE.says(f"significantly on {', '.join(told)} leaves")
    assert {row["Significant"] for row in OVERFIT["simulated"]} == {"no"}


def size(name, data):
    return column([row for row in SIZE if row["dataset"] == data], name, by="method")


def datasets_where(holds):
    return [data for data in dict.fromkeys(row["dataset"] for row in SIZE) if holds(data)]


def names(datasets):
    *most, last = datasets
    return f"{', '.join(most)} and {last}" if most else last


def best(name, data):
    found = size(name, data)
    return max(found, key=found.get)


def test_best_with_few_data():
    forest, ada_rank = (
        datasets_where(lambda data, method=method: best("ERR@20 with 5 %", data) == method)
        for method in ("RandomForest", "AdaRank")
    )
    PAGE.says(f"With 5 % of the queries the random forest is the best on {names(forest)}")
    PAGE.says(f"AdaRank on {names(ada_rank)}")
    assert len(forest) + len(ada_rank) == 5


def test_best_with_all_data():
    won = [f"{best('all', data)} ({data})" for data in datasets_where(lambda data: True)]
    PAGE.says(f"With all of them the best are {names(won)}")


def test_gain_of_ada_rank():
    def gains_of(extreme):
        return datasets_where(
            lambda data: extreme(gains := size("all − 5 %", data), key=gains.get) == "AdaRank"
        )

    PAGE.says(f"AdaRank gains least on {names(gains_of(min))}, and most on {names(gains_of(max))}")


def test_who_needs_most():
    def needs_most(data):
        shares = size("not significantly below all from", data)
        return max(shares, key=shares.get) if len(set(shares.values())) > 1 else None

    told = [
        f"{method} on {names(found)}"
        for method in ("MART", "LambdaMART")
        if (found := datasets_where(lambda data, method=method: needs_most(data) == method))
    ]
    PAGE.says(f"needs the largest share: {', '.join(told)}")
    assert datasets_where(lambda data: needs_most(data) is None) == ["mslr-subset"]


NOISE = PAGE.table("thesis noise table")


def losses(share, rows=NOISE):
    return [row[f"loss at {share} %"] for row in rows]


def how_many(n):
    return WORDS[n] if n else "none"


def test_half_of_the_labels_changed():
    costs = sorted(map(number, losses("50")))
    n_cheap = how_many(sum(cost < 4.5 for cost in costs))
    PAGE.says(f"half of the labels changed cost less than 4.5 % in {n_cheap} of {WORDS[len(costs)]} curves")
    PAGE.says(f"(from {costs[0]:.1f} to {costs[-1]:.1f} %)")
    PAGE.says(
        f"they turn at most {max(number(row['pairs turned, %']) for row in NOISE):.0f} % of the pairs round"
    )


def test_mart_bears_more_noise():
    by_method = [
        list(map(number, losses("50", [row for row in NOISE if row["method"] == method])))
        for method in ("MART", "LambdaMART")
    ]
    assert all(mart < lambda_mart for mart, lambda_mart in zip(*by_method, strict=True))


def test_a_little_noise():
    raised = [cell for cell in losses("0.5") if number(cell) < 0]
    some, surely = how_many(len(raised)), how_many(sum("▲" in cell for cell in raised))
    PAGE.says(f"0.5 % of noise raises ERR@20 in {some} of them, significantly in {surely}")


def test_search():
    chosen = {data: rows[0] for data, rows in SEARCH.items()}
    assert {row["Measure"] for row in chosen.values()} == {"NDCG@20"}
    leaves = [f"{row['Best by validation'].split(' × ')[1]} on {data}" for data, row in chosen.items()]
    PAGE.says(f"few leaves ({', '.join(leaves)})")
    gaps = {data: number(row["Difference on test queries"]) for data, row in chosen.items()}
    PAGE.says(f"is {min(gaps.values()):.3f} to {max(gaps.values()):.3f} of NDCG@20 above")
    agree = [data for data, row in chosen.items() if row["Tests agree"] == "yes"]
    PAGE.says(f"on {names(agree)} by all tests")


def test_cutoff():
    rows = [(data, row) for data, of in SLOPES.items() for row in of]
    differing = [(data, row["Measure"]) for data, row in rows if row["Differs from 0"] == "yes"]
    assert differing == [("mslr-subset, a unit of the parameter", "NDCG@20")]
    PAGE.says(f"of {WORDS[len(rows)]} slopes (four datasets, three measures) one differs from 0, NDCG@20 on")
    assert number(next(row["Slope"] for data, row in rows if row["Differs from 0"] == "yes")) > 0


def test_cutoffs_of_the_thesis():
    found = pearsonr([k for k, _, _ in CUTOFF], [norm for _, _, norm in CUTOFF])
    PAGE.says(f"the correlation with NormPerformance is {found.statistic:+.2f}, p {found.pvalue:.2f}")
    assert min(values[1] for _, values, _ in CUTOFF) > 0.5896  # the Best Ranker's ERR@20 in its Table 5.1
