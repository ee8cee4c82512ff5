"""Ranking a query on a GPU: a document's rank is how many stand above it, of few that come into question."""

from __future__ import annotations

from pomona._cuda import cuda, kernel


@kernel
def _stands_above(one, other, scores, place):
    score, other_score = scores[one], scores[other]
    return score > other_score or (score == other_score and place[one] < place[other])


@kernel
def rank_documents(begin, n, m, scores, place, heads, ranks, candidates, count):
    """The ranks of the best m documents, and m for the others, by the whole block; count (1,) shared.

    A document below all m of any others, the last head, is not among them. Whoever stands above a candidate
    is one too, so that candidates are ranked among themselves.
    """
    t, n_threads = cuda.threadIdx.x, cuda.blockDim.x
    if t == 0:
        count[0] = 0 if m < n else n
    cuda.syncthreads()
    for i in range(t, n, n_threads):
        if m < n:
            above = 0
            for r in range(m):
                if _stands_above(begin + heads[begin + r], begin + i, scores, place):
                    above += 1
            if above < m:
                candidates[begin + cuda.atomic.add(count, 0, 1)] = i
        else:
            candidates[begin + i] = i
        ranks[begin + i] = m
    cuda.syncthreads()
    for c in range(t, count[0], n_threads):
        i = candidates[begin + c]
        above = 0
        for d in range(count[0]):
            if _stands_above(begin + candidates[begin + d], begin + i, scores, place):
                above += 1
        if above < m:
            ranks[begin + i], heads[begin + above] = above, i
    cuda.syncthreads()
