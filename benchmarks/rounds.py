"""Which rounds of a forest to keep: the best by the validation queries, a later one, or the mean since.

    POMONA_DATA=/your/data python -m benchmarks.rounds [--ranker LambdaMART] [--seeds 4] [--patience 100]

Forests of 500 trees on random folds of real collections; the best round, and the last, are those of a
training that stops after `patience` rounds without a better one. Printed are means over all queries.
"""

import argparse
import warnings

import numpy as np

import pomona as pm
from benchmarks import _folds
from pomona.rankers.training_log import TrainingLog


def ends(values, patience):
    """The places of the best round and of the last."""
    log = TrainingLog(early_stopping=patience)
    for value in values:
        log.record(valid=value)
        if log.should_stop:
            break
    return log.best_iteration - 1, log.iteration - 1


def kept(staged, best, last):
    """The scores of what could be kept, by what it is."""
    return {
        "the best round": staged[best],
        "50 rounds later": staged[min(best + 50, last)],
        "the last round": staged[last],
        "the mean from the best to the last": staged[best : last + 1].mean(axis=0, dtype=np.float64),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--ranker", default="LambdaMART")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--patience", type=int, default=100)
    parser.add_argument("--collections", type=lambda text: text.split(","), default=_folds.COLLECTIONS)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    judged = {}
    for name in given.collections:
        for seed in range(given.seeds):
            for train, valid, test in _folds.repeated(name, [seed]):
                forest = getattr(pm, given.ranker)(seed=seed).fit(train).model_
                values = [pm.evaluate(valid, s, "ndcg@10")["ndcg@10"] for s in forest.staged_scores(valid.X)]
                staged = np.stack([s.astype(np.float32) for s in forest.staged_scores(test.X)])
                for what, scores in kept(staged, *ends(values, given.patience)).items():
                    of_what = judged.setdefault(what, {}).setdefault(name, _folds.Judged())
                    of_what.add(test, scores.astype(np.float64), 0.0)
    print(f"| kept | {' | '.join(given.collections)} | {' | '.join(_folds.MEASURES)} |")
    print("|---|" + "---:|" * (len(given.collections) + len(_folds.MEASURES)))
    for what, of_what in judged.items():
        cells = [one.of_queries().mean() for one in of_what.values()]
        cells += [
            np.concatenate([one.of_queries(measure) for one in of_what.values()]).mean()
            for measure in _folds.MEASURES
        ]
        print(f"| {what} | {' | '.join(f'{value:.4f}' for value in cells)} |")


if __name__ == "__main__":
    main()
