"""Running sums by label: what the documents of lower labels seen so far add up to, in O(log labels).

A Fenwick tree over the distinct labels of a query (their *grades*, from 1): pair-wise methods walk down a
ranking, add each document to the tree, and ask for all documents below a label at once.
"""

from __future__ import annotations

import numpy as np

from pomona._jit import kernel, over_chunks
from pomona._types import Codes, Labels, Offsets, Values


@kernel
def _grade(first, last, labels, query_ptr, out_grade, out_pairs):
    """out_grade (n_docs,) · out_pairs (n_queries,)."""
    for q in range(first, last):
        begin, end = query_ptr[q], query_ptr[q + 1]
        order = np.argsort(labels[begin:end])
        grade, below, pairs = 1, 0, 0
        for place in range(end - begin):
            row = begin + order[place]
            if place > 0 and labels[row] > labels[begin + order[place - 1]]:
                grade, below = grade + 1, place
            out_grade[row] = grade
            pairs += below
        out_pairs[q] = pairs


@kernel
def _weigh_pairs(first, last, grade, query_ptr, relative, out):
    """relative (n_docs,) · out (n_queries,)."""
    for q in range(first, last):
        begin, end = query_ptr[q], query_ptr[q + 1]
        of_grade = np.zeros(end - begin + 1)
        for i in range(begin, end):
            of_grade[grade[i]] += relative[i]
        out[q], below = 0.0, 0.0
        for weight in of_grade:
            out[q] += weight * below
            below += weight


@kernel
def insert_terms(tree, grade, terms):
    """Add a document's terms to its grade · tree (n_grades + 1, n_terms)."""
    while grade < tree.shape[0]:
        for c in range(terms.size):
            tree[grade, c] += terms[c]
        grade += grade & -grade


@kernel
def sum_terms(tree, grade, out):
    """Sum the terms of all grades up to this one."""
    out[:] = 0.0
    while grade > 0:
        for c in range(out.size):
            out[c] += tree[grade, c]
        grade -= grade & -grade


def grades(labels: Labels, query_ptr: Offsets) -> tuple[Codes, Values]:
    """(each label's place among the distinct labels of its query, from 1; each query's pairs that differ).

    >>> grades(np.array([5, 0, 2, 0], np.float32), np.array([0, 4]))
    (array([3, 1, 2, 1], dtype=int32), array([5.]))
    """
    grade, pairs = np.empty(len(labels), np.int32), np.empty(len(query_ptr) - 1)
    own_labels, own_ptr = np.array(labels, np.float32), np.array(query_ptr, np.int64)
    over_chunks(_grade, len(pairs), own_labels, own_ptr, grade, pairs, smallest=64)
    return grade, pairs


def pair_weights(grade: Codes, query_ptr: Offsets, relative: Values) -> Values:
    """Σ r_i r_j over the pairs of each query whose grades differ; `relative` has one r a document.

    >>> pair_weights(np.array([2, 1, 1], np.int32), np.array([0, 3]), np.array([0.5, 1.0, 1.5]))
    array([1.25])
    """
    out = np.empty(len(query_ptr) - 1)
    over_chunks(
        _weigh_pairs, len(out), grade, np.array(query_ptr, np.int64), np.array(relative), out, smallest=64
    )
    return out
