import numpy as np
import pytest

from pomona.rankers.neural.lambda_rank import LambdaRank
from pomona.rankers.neural.rank_net import RankNet
from pomona.rankers.neural.training.batches import Batch
from pomona.rankers.neural.training.training_batch import TrainingBatch

BATCH = Batch(np.array([5, 9]), 0, 5, np.array([0, 3, 5]))
LABELS = np.array([2, 1, 0, 0, 1], np.float32)
SCORES = np.array([0.0, 1.0, 2.0, 0.0, 0.0])


def batch(ranker, weights=(1.0, 1.0)):
    return TrainingBatch(BATCH, LABELS, np.array(weights), ranker, 0)


def test_the_mean_over_queries():
    loss, gradient = batch(RankNet(average=False)).gradient(SCORES)
    assert loss == pytest.approx((4.753451 + np.log(2)) / 2, abs=1e-6)
    assert gradient[3:].tolist() == pytest.approx([0.25, -0.25])


def test_weights_of_queries():
    loss, gradient = batch(RankNet(average=False), (0.0, 3.0)).gradient(SCORES)
    assert loss == pytest.approx(3 * np.log(2) / 2)
    assert gradient.tolist() == pytest.approx([0, 0, 0, 0.75, -0.75])


def test_lambdas_have_no_loss():
    loss, gradient = batch(LambdaRank()).gradient(SCORES)
    assert loss is None
    assert gradient[0] < 0 < gradient[2]


def test_padding_has_no_gradient():
    padded = Batch(BATCH.queries, 0, 6, BATCH.query_ptr, np.arange(5))
    found = TrainingBatch(padded, LABELS, np.ones(2), RankNet(), 0)
    loss, gradient = found.gradient(np.append(SCORES, 99.0))
    expected_loss, expected = batch(RankNet()).gradient(SCORES)
    assert loss == expected_loss
    assert gradient.tolist() == [*expected.tolist(), 0.0]
    assert found.lengths.tolist() == [3, 2]
