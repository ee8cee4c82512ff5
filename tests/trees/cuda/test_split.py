"""The search of a GPU against that of the CPU, on one histogram."""

from gpu_checks import everywhere


def running_sums():
    import numpy as np

    from pomona._cuda import N_THREADS, cuda, kernel
    from pomona.trees.cuda import split

    @kernel(launched=True)
    def run(bins, gains, out, out_best):
        shared = cuda.shared.array(256, np.int64)
        sums = cuda.shared.array(256, np.int64)
        partial = cuda.shared.array(256, np.int64)
        best = cuda.shared.array(256, np.float64)
        t, n_threads = cuda.threadIdx.x, cuda.blockDim.x
        for b in range(t, 256, n_threads):
            shared[b] = bins[b]
        cuda.syncthreads()
        split.running_sums(shared, sums, partial)
        for b in range(t, 256, n_threads):
            out[b] = sums[b]
        cuda.syncthreads()
        split.tournament(gains[t], np.int64(1000 - t), best, partial, 1)
        if t == 0:
            out_best[0], out_best[1] = best[0], np.float64(partial[0])

    random = np.random.default_rng(0)
    bins = random.integers(-(2**40), 2**40, 256)
    gains = np.tile([0.5, 2.0, 1.0, 2.0], 64)[:N_THREADS]
    tables = [cuda.to_device(array) for array in (bins, gains, np.zeros(256, np.int64), np.zeros(2))]
    run[1, N_THREADS](*tables)
    assert np.array_equal(tables[2].copy_to_host(), np.cumsum(bins))
    # Of the threads with the highest gain, the last has the lowest code.
    assert tables[3].copy_to_host().tolist() == [2.0, 1000.0 - (N_THREADS - 1)]


test_running_sums = everywhere(__file__, "running_sums")
