"""Categories in trees: NDCG@10 on simulated documents, beside LightGBM and other uses of the columns.

    python -m benchmarks.categories                 # 100 and 1,000 training queries, two worlds each
    python -m benchmarks.categories --queries 100

Four columns of categories decide much of the relevance: 200 sites of very different frequency, 6 genres, of
which one turns a number's effect on, and 40 brands whose effect depends on one of 3 kinds.
"""

import argparse

import numpy as np
import pandas as pd

import pomona as pm

NUMBERS = [f"x{j}" for j in range(8)]
CATEGORIES = ["site", "genre", "brand", "kind"]


def documents(n_queries, seed, world, docs_per_query=20):
    """A frame, labels and query ids; what categories are worth depends on the world alone."""
    effects, random, n = np.random.default_rng(world), np.random.default_rng(seed), n_queries * docs_per_query
    of_site, of_genre, of_brand = (
        effects.normal(size=200),
        effects.normal(size=6),
        effects.normal(size=(40, 3)),
    )
    rank, genre = np.minimum(random.zipf(1.3, n) - 1, 199), random.integers(0, 6, n)
    site = np.random.default_rng(99).permutation(200)[rank]
    brand, kind = random.integers(0, 40, n), random.integers(0, 3, n)
    X = random.normal(size=(n, len(NUMBERS))).astype(np.float32)
    scores = of_site[site] + 0.7 * of_genre[genre] + of_brand[brand, kind] + X[:, 0]
    scores += 0.5 * X[:, 1] * (genre == 2) + 1.2 * random.normal(size=n)
    frame = pd.DataFrame(X, columns=NUMBERS)
    for name, codes in zip(CATEGORIES, (site, genre, brand, kind), strict=True):
        frame[name] = pd.Categorical([f"{name} {code}" for code in codes])
    return frame, np.digitize(scores, [0.5, 1.8, 3.2]), np.repeat(np.arange(n_queries), docs_per_query)


def as_numbers(frame, like):
    """Categories as numbers in the order of their names."""
    codes = {name: like[name].cat.categories for name in CATEGORIES}
    return frame.assign(**{name: known.get_indexer(frame[name]) for name, known in codes.items()})


def lightgbm_scores(train, valid, test, n_leaves):
    import lightgbm as lgb

    known = {name: train[0][name].cat.categories for name in CATEGORIES}

    def frame_of(part):
        return part[0].assign(**{name: part[0][name].cat.set_categories(known[name]) for name in known})

    sets = [lgb.Dataset(frame_of(part), part[1], group=np.bincount(part[2])) for part in (train, valid)]
    parameters = {"objective": "lambdarank", "num_leaves": n_leaves, "eval_at": [10], "verbose": -1}
    stop = lgb.early_stopping(50, verbose=False)
    booster = lgb.train(parameters, sets[0], 300, valid_sets=[sets[1]], callbacks=[stop])
    return booster.predict(frame_of(test))


def pomona_scores(train, valid, test, **parameters):
    ranker = pm.LambdaMART(n_trees=300, **parameters).fit(*train[:2], qid=train[2], valid=valid)
    return ranker.predict(test[0])


def rows(n_queries, world):
    """(name, scores of the test documents) of every contestant, and the test documents."""
    train, valid = documents(n_queries, 1, world), documents(max(100, n_queries // 3), 2, world)
    test = documents(1500, 3, world)
    parts = train, valid, test
    for n_leaves in (15, 31):
        yield f"LightGBM, {n_leaves} leaves", lightgbm_scores(*parts, n_leaves), test
        for smoothing in (2, 10, 20):
            chosen = {"n_leaves": n_leaves, "noise": 0, "category_smoothing": smoothing}
            yield f"Pomona, {n_leaves} leaves, smoothing {smoothing}", pomona_scores(*parts, **chosen), test
    yield "Pomona, default", pomona_scores(*parts), test
    numbered = [(as_numbers(frame, train[0]), y, qid) for frame, y, qid in parts]
    yield "Pomona, categories as numbers", pomona_scores(*numbered), test
    without = [(frame[NUMBERS], y, qid) for frame, y, qid in parts]
    yield "Pomona, without categories", pomona_scores(*without), test


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", default="100,1000", help="numbers with commas between")
    sizes = [int(size) for size in parser.parse_args().queries.split(",")]
    cases = [(size, world) for size in sizes for world in (0, 1)]
    found = {}
    for case in cases:
        for name, scores, (_, y, qid) in rows(*case):
            data = pm.Dataset(np.zeros((len(y), 1)), y, qid)
            found.setdefault(name, []).append(pm.evaluate(data, scores, "ndcg@10")["ndcg@10"])
    print(f"| | {' | '.join(f'{size} queries, world {world}' for size, world in cases)} |")
    print("|---|" + "---:|" * len(cases))
    for name, values in found.items():
        print(f"| {name} | {' | '.join(f'{value:.4f}' for value in values)} |")


if __name__ == "__main__":
    main()
