"""Sixteen lanes at a time give the bits of single-precision arithmetic, in the order that is promised."""

import numpy as np
import pytest

from pomona._jit import kernel
from pomona.objectives._pair_lanes import LANES, push_pairs


@kernel
def _push(n_vectors, has_lower, others, lower, rule, a_singles, a_doubles, b_singles, b_doubles, out):
    push_pairs(
        n_vectors, has_lower, others[0], others[1], others[2], others[3], others[4], others[5], lower, rule,
        a_singles, a_doubles, b_singles, b_doubles, out,
    )  # fmt: skip


def _pair(row, score, power, value, unranked, lower, rule):
    """One pair, or many, each operation rounded to float32."""
    (row_score, row_inverse, row_value), (upper, share) = row
    near, slope, excess, room = rule
    delta = np.minimum((value - row_value) * np.float32(upper - share * lower) + excess, room) * unranked
    spread = near + slope * (row_score - score)
    e = power * row_inverse
    both = np.float32(1) + e
    part = delta / (both * both * spread)
    return part * both * np.where(part > 0, np.float32(1), e), np.abs(part) * e


def _lanes_summed(values):
    """Every lane down its documents, then lanes by halves."""
    lanes = np.zeros(LANES, np.float32)
    for top in range(0, len(values), LANES):
        lanes = lanes + values[top : top + LANES]
    while len(lanes) > 1:
        lanes = lanes[: len(lanes) // 2] + lanes[len(lanes) // 2 :]
    return lanes[0]


@pytest.mark.parametrize("has_lower", [0, 1])
@pytest.mark.parametrize("n_vectors", [1, 2, 7])
def test_same_bits_as_a_plain_loop(n_vectors, has_lower):
    random = np.random.default_rng(n_vectors)
    n = n_vectors * LANES
    others = random.random((6, n)).astype(np.float32)
    others[2] *= -4
    others[5] = random.random(n) < 0.8
    lower = random.random(n)
    rule = tuple(np.float32([0.01, 1, 0, 0.125]))
    rows = [(tuple(np.float32([score, 1.5, 0.5 + score])), (0.9, 1.1)) for score in (0.1, 0.05)]
    expected, out = others.copy(), np.empty(5, np.float32)
    _push(n_vectors, has_lower, others, lower, rule, *rows[0], *rows[1], out)
    lower *= has_lower
    (a_lambda, a_hessian), (b_lambda, b_hessian) = (_pair(row, *expected[2:], lower, rule) for row in rows)
    expected[0] += a_lambda + b_lambda
    expected[1] += a_hessian + b_hessian
    assert others.tobytes() == expected.tobytes()
    terms = a_lambda, a_hessian, b_lambda, b_hessian, np.abs(a_lambda) + np.abs(b_lambda)
    assert out.tolist() == [_lanes_summed(term) for term in terms]
    assert (a_lambda > 0).any()
    assert (a_lambda < 0).any()
