"""Lambdas of a GPU are those of the CPU, bit for bit, for every family of measures."""

from gpu_checks import everywhere


def _compare(measure, *, spread=1.0, top=None, relative=False, **parameters):
    import numpy as np

    from pomona._cuda import SIMULATED, cuda
    from pomona.objectives.cuda.form import cuda_form
    from pomona.objectives.lambdas import LambdaObjective

    random = np.random.default_rng(0)
    n_queries, longest = (3, 14) if SIMULATED else (300, 700)
    sizes = random.integers(1, longest, n_queries)
    sizes[0] = longest
    labels = random.choice(5, sizes.sum(), p=[0.5, 0.3, 0.1, 0.05, 0.05])
    query_ptr = np.concatenate(([0], np.cumsum(sizes)))
    if top is not None:
        labels[query_ptr[:-1]] = top  # of every query
    weights = random.random(n_queries)
    weights[1] = 0
    if relative:
        parameters["relative"] = random.integers(0, 4, len(labels)) / 2
    objective = LambdaObjective(measure, labels, query_ptr, weights=weights, **parameters)
    on_gpu, scores = cuda_form(objective), np.zeros(len(labels))
    for _ in range(3):  # all scores equal, then some, each round from the last one's ranking
        gradient, hessian = np.empty((2, len(labels)), np.float32)
        objective.gradients(scores, gradient, hessian)
        out = [cuda.to_device(np.full(len(labels), 9, np.float32)) for _ in range(2)]
        on_gpu.gradients(cuda.to_device(scores), *out)
        assert out[0].copy_to_host().tobytes() == gradient.tobytes(), measure
        assert out[1].copy_to_host().tobytes() == hessian.tobytes(), measure
        assert gradient.any()
        scores = np.round(scores + random.normal(size=len(labels)) * spread, 1)


def position():
    _compare("ndcg@3")
    _compare("ndcg", truncation=5)
    _compare("ndcg", normalize=False, sigma=2.0)
    _compare("ndcg@5", spread=60.0)  # exponentials of several bases
    _compare("rbp@5")


def precision():
    _compare("ap")
    _compare("ap@3", truncation=2)


def cascade():
    _compare("err@4")
    _compare("err")
    _compare("rr@5")  # a relevant document satisfies for certain


def ceiling():
    _compare("sr4", top=4)  # queries without the top grade have other weights


def weights_of_documents():
    _compare("ndcg@3", relative=True)
    _compare("ap", relative=True)
    _compare("err@4", relative=True, truncation=3)
    _compare("sr4", relative=True, top=4)


test_position = everywhere(__file__, "position")
test_precision = everywhere(__file__, "precision")
test_cascade = everywhere(__file__, "cascade")
test_ceiling = everywhere(__file__, "ceiling")
test_weights_of_documents = everywhere(__file__, "weights_of_documents")
