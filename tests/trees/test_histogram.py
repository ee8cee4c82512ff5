import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pomona._jit import threads
from pomona.errors import InputError
from pomona.trees.codes import Codes
from pomona.trees.histogram import SCRATCH, STRIDE, WORDS, accumulate, pack, settle
from pomona.trees.peers import Peers


def packed_of(gradient, hessian, rows=None, seed=1):
    gradient, hessian = np.asarray(gradient, np.float32), np.asarray(hessian, np.float32)
    rows = np.arange(len(gradient), dtype=np.int32) if rows is None else np.asarray(rows, np.int32)
    out = np.empty(len(gradient), np.int64)
    return pack(rows, gradient, hessian, seed, out), out


def fields(packing, packed):
    """Gradient and hessian in floats, and the count."""
    hessian = (packed >> packing.count_bits) & (2**packing.hessian_bits - 1)
    gradient = (packed >> packing.gradient_shift) / packing.gradient_scale
    return gradient, hessian / packing.hessian_scale, packed & (2**packing.count_bits - 1)


def test_integers_are_not_rounded():
    gradient, hessian = [3, -4, 0, 7], [1, 2, 0, 5]
    packing, out = packed_of(gradient, hessian)
    g, h, count = fields(packing, out)
    assert (g.tolist(), h.tolist(), count.tolist()) == (gradient, hessian, [1, 1, 1, 1])
    g, h, count = fields(packing, packing.total)
    assert (g, h, count) == (3 - 4 + 0 + 7, 1 + 2 + 0 + 5, 4)


def test_a_row_drawn_twice_counts_twice():
    packing, _ = packed_of([1, 2, 4], [1, 1, 1], rows=[0, 2, 2])
    assert fields(packing, packing.total) == (1 + 4 + 4, 3, 3)


floats = st.floats(-1e6, 1e6, width=32)


@given(st.lists(st.tuples(floats, st.floats(0, 1e4, width=32)), min_size=1, max_size=200), st.integers(0, 99))
def test_rounding_moves_less_than_a_step_and_fits_its_field(pairs, seed):
    gradient, hessian = np.array(pairs, np.float32).T
    packing, out = packed_of(gradient, hessian, seed=seed)
    g, h, count = fields(packing, out)
    assert np.all(np.abs(g - gradient) < 1 / packing.gradient_scale)
    assert np.all(np.abs(h - hessian) < 1 / packing.hessian_scale)
    assert np.all(count == 1)
    # No subset can overflow: its sums lie between those of the negative and of the positive ones.
    limit = 2 ** (63 - packing.gradient_shift)
    steps = (out >> packing.gradient_shift).astype(object)
    assert max(steps[steps > 0].sum(), -steps[steps < 0].sum()) < limit
    total_g, total_h, total_count = fields(packing, packing.total)
    assert total_count == len(pairs)
    assert total_g == pytest.approx(g.sum(), abs=1e-9 * np.abs(g).sum())
    assert total_h == pytest.approx(h.sum(), rel=1e-9)


def test_rounding_is_unbiased():
    n = 200_000
    gradient = np.full(n, 0.3, np.float32)
    gradient[0] = 40_000  # forces a coarse step
    packing, out = packed_of(gradient, np.ones(n))
    g, _, _ = fields(packing, out)
    deviation = 0.5 / packing.gradient_scale / np.sqrt(n)
    assert abs(g[1:].mean() - 0.3) < 5 * deviation
    assert len(np.unique(g[1:])) == 2


class Crowd(Peers):
    """So many peers, who all have the same documents."""

    size = 1 << 10

    def add(self, sums):
        sums *= self.size

    def gather(self, values):
        return np.tile(values, (self.size, 1))


def test_a_thousand_million_documents_fit():
    random = np.random.default_rng(0)
    n, size = 1 << 20, Crowd.size
    gradient, hessian = random.normal(size=n).astype(np.float32), random.random(n).astype(np.float32)
    out, rows = np.empty(n, np.int64), np.arange(n, dtype=np.int32)
    packing = pack(rows, gradient, hessian, 1, out, peers=Crowd())
    g, h, count = fields(packing, out)
    assert packing.n_rows == n * size
    assert (count == 1).all()
    positive = (g[g > 0].sum() * packing.gradient_scale) * size
    assert 2**60 // 2**packing.gradient_shift < positive < 2**63 // 2**packing.gradient_shift
    # Few documents have a whole unit, drawn in proportion to their gradients.
    deviation = np.sqrt(np.abs(gradient).sum() / packing.gradient_scale)
    assert abs(g.sum() - gradient.sum()) < 5 * deviation
    assert abs(h.sum() - hessian.sum()) < 5 * np.sqrt(hessian.sum() / packing.hessian_scale)


def test_seeds_differ_and_threads_do_not():
    random = np.random.default_rng(0)
    gradient, hessian = random.normal(size=150_000), random.random(150_000)
    found = []
    for count in (1, 2, 4):
        with threads(count):
            packing, out = packed_of(gradient, hessian)
            found.append((packing, out.tobytes()))
    assert found[0] == found[1] == found[2]
    assert packed_of(gradient, hessian, seed=2)[1].tobytes() != found[0][1]


def test_zero_gradients_are_packed():
    packing, out = packed_of([0, 0], [0, 0])
    assert out.tolist() == [1, 1]
    assert packing.total == 2


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_refused(bad):
    with pytest.raises(InputError, match="NaN or infinite"):
        packed_of([1, bad], [1, 1])


def test_negative_hessians_are_refused():
    with pytest.raises(InputError, match=r"hessian -1\.0"):
        packed_of([1, 1], [1, -1])


def test_histograms_are_sums_by_code_and_siblings_are_differences():
    random = np.random.default_rng(0)
    n = 1500
    n_bins = np.concatenate((np.full(64 + 38, 250), [2, 9, 7])).astype(np.int32)
    columns = np.stack([random.integers(0, bins, n) for bins in n_bins]).astype(np.uint8)
    codes = Codes.zeros(n, n_bins)
    assert codes.byte_table["n_codes"].tolist()[-1] == 2 * 9 * 7
    for seat in codes.seats:
        block = codes.blocks[seat["byte"] // 64]
        block[:, seat["byte"] % 64] += columns[seat["feature"]] * np.uint8(seat["radix"])
    bin_start = np.concatenate(([0], np.cumsum(n_bins))).astype(np.int64)
    values = random.integers(-(2**40), 2**40, n)

    def expected(rows):
        sums = [np.zeros(bins, np.int64) for bins in n_bins]
        for f, own in enumerate(sums):
            np.add.at(own, columns[f, rows], values[rows])
        return np.concatenate(sums)

    everything = np.arange(n, dtype=np.int32)
    some = np.sort(random.choice(everything, 700, replace=False))
    scratch = np.zeros((2, 2, SCRATCH), np.int64)
    child, sibling = np.empty(bin_start[-1], np.int64), expected(everything)
    for b, block in enumerate(codes.block_table):
        n_words = int(block["n_words"])
        for part, (begin, end) in enumerate([(0, 300), (300, 700)]):
            for words in ((0, 3), (3, n_words)):
                sums = scratch[part, b]
                accumulate(codes.words, block, *words, some, values[some], begin, end, sums)
    unused = np.ones((1, 2, SCRATCH), np.int64)  # sums that nobody has added to are not looked at
    partials, is_used = np.concatenate((scratch, unused)), np.ones((3, 2 * WORDS), bool)
    is_used[2] = False
    for first, last in ((0, 70), (70, len(codes.byte_table))):
        layout = (codes.byte_table, codes.seats, bin_start)
        settle(first, last, *layout, partials, is_used, child, sibling)
    assert np.array_equal(child, expected(some))
    assert np.array_equal(sibling, expected(np.setdiff1d(everything, some)))
    left_over = partials[:2].reshape(2, -1, STRIDE)[:, : len(codes.byte_table), :250]
    assert not left_over.any()
