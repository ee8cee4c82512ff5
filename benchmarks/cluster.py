"""Training on a cluster: bytes and seconds of communication per tree, what carries sums, and a model of more.

    python -m benchmarks.cluster                  # 1, 2 and 4 workers, and the model
    python -m benchmarks.cluster --queries 6000   # larger than 1,000 queries × 120 documents × 136 features
    python -m benchmarks.cluster --collectives    # links, gloo, XGBoost's collective and Dask's connections

Workers are processes of this machine, of one thread each; where they are more than cores, seconds of
communication are mostly seconds of waiting for the others' turn. The fastest tenth shows what a sum takes
when nobody waits.
"""

import argparse
import copy
import math
import multiprocessing
import time

import numpy as np

import pomona as pm
from pomona._jit import threads
from pomona.rankers.forests.cluster.fit import ClusterTraining, loader_of
from pomona.rankers.forests.cluster.linked_peers import LinkedPeers
from pomona.rankers.training_log import TrainingLog

SIZES = {"3": 3, "136 × 255": 136 * 255, "500 × 255": 500 * 255}

# Of the model: one machine of 16 cores took 2.0 s for 100 trees of 703k × 136 (docs/benchmarks.md).
SECONDS_A_VALUE = 2.0 / 100 / (703e3 * 136)
BYTES_A_SECOND = 1.25e9  # 10 Gbit/s
N_SUMS = 30  # of trees with 31 leaves


def timed(add, rank, size, answers):
    """The seconds of sums of several sizes, of which rank 0 tells."""
    found = {}
    for name, n in SIZES.items():
        seconds = []
        for _ in range(80):
            sums = np.ones(n, np.int64)
            start = time.perf_counter()
            sums = add(sums)
            seconds.append(time.perf_counter() - start)
        if not (sums == size).all():
            raise RuntimeError(f"rank {rank} has a wrong sum")
        found[name] = float(np.median(seconds)), float(np.quantile(seconds, 0.1))
    if rank == 0:
        answers.put(found)


def by_links(rank, size, answers, box):
    peers = LinkedPeers(rank, "127.0.0.1", b"benchmark")
    box[rank].put(peers.address)
    addresses = [box[other].get() for other in range(size)]
    for other in range(size):
        box[other].put(addresses[other])  # for the next who asks
    peers.connect(addresses)

    def add(sums):
        peers.add(sums)
        return sums

    timed(add, rank, size, answers)
    time.sleep(1)
    peers.close()


def by_gloo(rank, size, answers, box):
    import torch

    where = "tcp://127.0.0.1:29513"
    torch.distributed.init_process_group("gloo", init_method=where, rank=rank, world_size=size)

    def add(sums):
        torch.distributed.all_reduce(torch.from_numpy(sums))
        return sums

    timed(add, rank, size, answers)
    time.sleep(1)


def by_xgboost(rank, size, answers, box):
    from xgboost import collective
    from xgboost.tracker import RabitTracker

    if rank == 0:
        tracker = RabitTracker(host_ip="127.0.0.1", n_workers=size)
        tracker.start()
        for other in range(size):
            box[other].put(tracker.worker_args())
    collective.init(**box[rank].get())
    timed(lambda sums: collective.allreduce(sums, collective.Op.SUM), rank, size, answers)
    time.sleep(1)
    if rank > 0:
        collective.finalize()


def by_dask(rank, size, answers, box):
    """Two processes that swap arrays through Dask's connections."""
    import asyncio

    from distributed.comm import connect, listen
    from distributed.protocol import to_serialize

    async def swap(comm, sums):
        _, (other,) = await asyncio.gather(comm.write([to_serialize(sums.copy())]), comm.read())
        return sums + other

    def run(comm, loop):
        timed(lambda sums: loop.run_until_complete(swap(comm, sums)), rank, size, answers)

    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    if rank == 0:
        came = loop.create_future()

        async def keep(comm):
            came.set_result(comm)
            await asyncio.sleep(1e6)

        async def begin():
            listener = await listen("tcp://127.0.0.1:0", keep)
            box[1].put(listener.contact_address)
            return await came

        run(loop.run_until_complete(begin()), loop)
    else:
        run(loop.run_until_complete(connect(box[1].get(), timeout=60)), loop)
    time.sleep(1)


def collectives():
    context = multiprocessing.get_context("spawn")
    print("| sum over | by | workers | median ms | fastest tenth ms |\n|---|---|---|---|---|")
    for by in (by_links, by_gloo, by_xgboost, by_dask):
        for size in (2,) if by is by_dask else (2, 4):
            answers, box = context.Queue(), [context.Queue() for _ in range(size)]
            arguments = [(rank, size, answers, box) for rank in range(size)]
            started = [context.Process(target=by, args=each, daemon=True) for each in arguments]
            for process in started:
                process.start()
            found = answers.get(timeout=120)
            for process in started:
                process.join(20)
            for name, (median, fast) in found.items():
                print(f"| {name} | {by.__name__[3:]} | {size} | {median * 1e3:.2f} | {fast * 1e3:.2f} |")


def train(data, n_trees):
    """Rows of the table, for one machine and for clusters of 1, 2 and 4 workers."""
    import distributed

    ranker = pm.LambdaMART(n_trees=n_trees, early_stopping=None, growth="leafwise", n_leaves=31, noise=0)
    with threads(1):
        copy.copy(ranker).set_params(n_trees=2).fit(data)
        start = time.perf_counter()
        alone = copy.copy(ranker).fit(data)
        print(f"one process, one thread: {(time.perf_counter() - start) / n_trees * 1e3:.0f} ms a tree\n")
    print("| workers | seconds | ms a tree | sums a tree | MB sent a tree and worker | ms in sums a tree |")
    print("|---|---|---|---|---|---|")
    for count in (1, 2, 4):
        how = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
        with (
            distributed.LocalCluster(n_workers=count, **how) as cluster,
            distributed.Client(cluster, set_as_default=False) as client,
        ):
            # The first training loads kernels on every worker.
            trained(client, copy.copy(ranker).set_params(n_trees=2), data)
            start = time.perf_counter()
            training, outcome = trained(client, ranker, data)
            seconds = time.perf_counter() - start
        same = outcome.state[1]["0.value"].tobytes() == alone.model_.value.tobytes()
        if not same:
            raise RuntimeError("the cluster has learnt another model")
        sums, sent, waited = np.array([each.exchanged for each in training.outcomes]).mean(axis=0) / n_trees
        each_tree = f"{seconds / n_trees * 1e3:.0f} | {sums:.0f} | {sent / 1e6:.2f} | {waited * 1e3:.0f}"
        row = f"{seconds:.1f} | {each_tree}"
        print(f"| {count} | {row} |", flush=True)


def trained(client, ranker, data):
    unfitted = copy.copy(ranker)
    unfitted.base_model_, unfitted.needs_base_ = None, False
    training = ClusterTraining(client, unfitted, loader_of(data, None, None, None), None)
    return training, training.run(TrainingLog())


def model(message_seconds, split_seconds):
    """What a tree would take on machines of 16 cores, joined by 10 Gbit/s."""
    print(
        f"a message {message_seconds * 1e6:.0f} µs, a division {split_seconds * 1e6:.0f} µs beside its sums\n"
    )
    print("| data | machines | learning s | sums s | a tree s | faster than one |\n|---|---|---|---|---|---|")
    data = {"10.5 M × 220 (Istella)": (10.5e6, 220, 33e3), "10⁹ × 500": (1e9, 500, 1e7)}
    for name, (n_docs, n_features, n_queries) in data.items():
        alone = n_docs * n_features * SECONDS_A_VALUE
        for machines in (1, 4, 16, 64, 256):
            sums = N_SUMS * (split_seconds + sum_seconds(8 * 255 * n_features, machines, message_seconds))
            # Tiny sums, and the measure of every training and validation query.
            sums += 5 * sum_seconds(64, machines, message_seconds)
            sums += 2 * sum_seconds(8 * n_queries, machines, message_seconds)
            sums *= machines > 1
            tree = alone / machines + sums
            row = f"{alone / machines:.3f} | {sums:.3f} | {tree:.3f} | {alone / tree:.1f}×"
            print(f"| {name} | {machines} | {row} |")


def sum_seconds(n_bytes, machines, message_seconds):
    steps = math.ceil(math.log2(machines)) if machines > 1 else 0
    if n_bytes <= 1 << 16:
        return steps * (message_seconds + n_bytes / BYTES_A_SECOND)
    return 2 * steps * message_seconds + 2 * n_bytes * (1 - 1 / machines) / BYTES_A_SECOND


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--trees", type=int, default=20)
    parser.add_argument("--collectives", action="store_true")
    parser.add_argument("--message", type=float, default=150, help="µs of a message between machines")
    parser.add_argument("--division", type=float, default=300, help="µs of a division beside its sums")
    chosen = parser.parse_args()
    if chosen.collectives:
        collectives()
        return
    train(pm.simulate(chosen.queries, docs_per_query=120, n_features=136, seed=1), chosen.trees)
    print()
    model(chosen.message / 1e6, chosen.division / 1e6)


if __name__ == "__main__":
    main()
