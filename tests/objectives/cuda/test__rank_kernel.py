"""The ranking of a GPU is that of a stable sort, whatever the last one was."""

from gpu_checks import everywhere


def ranks():
    import numpy as np

    from pomona._cuda import N_THREADS, cuda, kernel
    from pomona.objectives.cuda import _rank_kernel

    @kernel(launched=True)
    def run(m, scores, place, heads, ranks, candidates):
        count = cuda.shared.array(1, np.int32)
        _rank_kernel.rank_documents(2, scores.size - 2, m, scores, place, heads, ranks, candidates, count)

    random = np.random.default_rng(0)
    n = 13
    for m in (3, n):
        scores = np.concatenate(([99.0, 99.0], random.integers(0, 5, n).astype(float)))
        place = np.concatenate(([0, 1], random.permutation(n))).astype(np.int32)
        last = np.concatenate(([0, 0], random.permutation(n))).astype(np.int32)
        heads, found, room = (cuda.to_device(last.copy()) for _ in range(3))
        run[1, N_THREADS](m, cuda.to_device(scores), cuda.to_device(place), heads, found, room)
        order = np.lexsort((place[2:], -scores[2:]))
        assert np.array_equal(heads.copy_to_host()[2 : 2 + m], order[:m])
        expected = np.full(n, m)
        expected[order[:m]] = np.arange(m)
        assert np.array_equal(found.copy_to_host()[2:], expected)


test_ranks = everywhere(__file__, "ranks")
