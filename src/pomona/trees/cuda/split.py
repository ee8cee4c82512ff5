"""The search for splits on a GPU: `trees.split`, a block for each column and a thread for each bin.

Every thread judges its own bins; a bin is a candidate if it holds documents of the node and both sides are
large enough. A tournament in shared memory then finds the highest gain; of equals, that of the lowest code,
which has NaN to the right before NaN to the left, and low bins before high ones.
"""

from __future__ import annotations

import numpy as np

from pomona._cuda import cuda, kernel, product
from pomona.trees.cuda.table import (
    BOUNDED,
    COUNT_BITS,
    GAIN_UNIT,
    GRADIENT_SHIFT,
    L2,
    MIN_DOCS,
    MIN_GAIN,
    MIN_HESSIAN,
    N_BINS_AT_MOST,
    VALUE_UNIT,
)

NO_CODE = np.int64(1 << 40)
_ROUNDING = 1e-12  # as in trees.split


@kernel
def gradient_of(packed, rules):
    """The gradient of a packed sum."""
    return packed >> np.int64(rules[GRADIENT_SHIFT])


@kernel
def hessian_of(packed, rules):
    """The hessian of a packed sum."""
    count_bits = np.int64(rules[COUNT_BITS])
    mask = (np.int64(1) << (np.int64(rules[GRADIENT_SHIFT]) - count_bits)) - np.int64(1)
    return (packed >> count_bits) & mask


@kernel
def count_of(packed, rules):
    """The documents of a packed sum."""
    return packed & ((np.int64(1) << np.int64(rules[COUNT_BITS])) - np.int64(1))


@kernel
def _large_enough(packed, rules):
    enough = count_of(packed, rules) >= np.int64(rules[MIN_DOCS])
    return enough and hessian_of(packed, rules) >= np.int64(rules[MIN_HESSIAN])


@kernel
def _within(value, low, high):
    value = low if value < low else value
    return high if value > high else value


@kernel
def _step(packed, rules):
    """The Newton step −G/(H+λ), 0 where there is nothing to divide by."""
    below = np.float64(hessian_of(packed, rules)) + rules[L2]
    return np.float64(-gradient_of(packed, rules)) / below if below > 0.0 else 0.0


@kernel
def _bounded_score(packed, low, high, rules):
    value = _within(_step(packed, rules), low, high)
    below = np.float64(hessian_of(packed, rules)) + rules[L2]
    twice = np.float64(np.int64(2) * gradient_of(packed, rules))
    return -(product(twice, value) + product(product(below, value), value))


@kernel
def least_gain(total, low, high, rules):
    """What a gain must exceed: the rules' minimum, and rounding error."""
    rounding = product(_ROUNDING, _bounded_score(total, low, high, rules))
    least = rules[MIN_GAIN] / rules[GAIN_UNIT]
    return rounding if rounding > least else least


@kernel
def _free_gain(left, total, rules):
    gradient, hessian = np.float64(gradient_of(total, rules)), np.float64(hessian_of(total, rules))
    l2 = rules[L2]
    both = hessian + 2.0 * l2
    square = product(gradient, gradient)
    fixed = square / both - square / (hessian + l2)
    a = np.float64(hessian_of(left, rules)) + l2
    crossed = product(np.float64(gradient_of(left, rules)), both) - product(gradient, a)
    return product(crossed, crossed) / product(product(a, both - a), both) + fixed


@kernel
def _bounded_gain(left, total, monotone, low, high, rules):
    right = total - left
    rise = _within(_step(right, rules), low, high) - _within(_step(left, rules), low, high)
    if monotone * rise < 0.0:
        return 0.0
    score = _bounded_score(left, low, high, rules) + _bounded_score(right, low, high, rules)
    return score - _bounded_score(total, low, high, rules)


@kernel
def gain_of(left, total, monotone, low, high, rules):
    """The gain of a split, in units of the packed integers, and whether both of its sides are large enough.

    low, high : bounds of the node's value in those units.
    """
    if not (_large_enough(left, rules) and _large_enough(total - left, rules)):
        return 0.0, False
    if rules[BOUNDED] > 0.0:
        return _bounded_gain(left, total, monotone, low, high, rules), True
    return _free_gain(left, total, rules), True


@kernel
def middle_value(left, total, low, high, rules):
    """The mean of the children's bounded values: what a monotone split passes down as a bound."""
    unit = rules[VALUE_UNIT]
    left_value = _within(product(_step(left, rules), unit), low, high)
    right_value = _within(product(_step(total - left, rules), unit), low, high)
    return (left_value + right_value) / 2.0


@kernel
def running_sums(bins, sums, partial):
    """sums[b] = bins[0] + … + bins[b], by the whole block: bins, sums, partial (256,) in shared memory."""
    t, n_threads = cuda.threadIdx.x, cuda.blockDim.x
    width = N_BINS_AT_MOST // n_threads
    total = np.int64(0)
    for b in range(t * width, (t + 1) * width):
        total += bins[b]
        sums[b] = total
    partial[t] = total
    cuda.syncthreads()
    reach = 1
    while reach < n_threads:
        before = partial[t - reach] if t >= reach else np.int64(0)
        cuda.syncthreads()
        partial[t] += before
        cuda.syncthreads()
        reach *= 2
    before = partial[t] - total
    for b in range(t * width, (t + 1) * width):
        sums[b] += before
    cuda.syncthreads()


@kernel
def tournament(gain, code, gains, codes, n_groups):
    """The highest gain of the threads of every group, and of equals the lowest code.

    gains float64, codes int64 (n_threads,) in shared memory; a group has every n_groups-th thread, n_groups a
    power of two, and the winner of the first group gains[0] and codes[0], that of the second gains[1] …
    """
    t, reach = cuda.threadIdx.x, cuda.blockDim.x // 2
    gains[t], codes[t] = gain, code
    cuda.syncthreads()
    while reach >= n_groups:
        if t < reach:
            other_gain, other_code = gains[t + reach], codes[t + reach]
            if other_gain > gains[t] or (other_gain == gains[t] and other_code < codes[t]):
                gains[t], codes[t] = other_gain, other_code
        cuda.syncthreads()
        reach //= 2
