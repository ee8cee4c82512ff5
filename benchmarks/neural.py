"""Training neural rankers: seconds of an epoch on a CPU or a GPU, beside what the machine could do at best.

    python -m benchmarks.neural                      # 700k × 136 simulated, network 136-256-128-1
    python -m benchmarks.neural --device cpu --queries 1000 --batch 64
    python -m benchmarks.neural --device cuda --eager    # a GPU without CUDA graphs

An epoch is timed from the end of the one before, so the first, with all preparations, is left out. The floor
is the time that the network's products of matrices would take at the speed of one large product (in single
precision), or its arrays at that of one large copy, whichever is longer; both are measured first. The bytes
are those of an epoch that writes every activation and its gradient once and reads them once. What the
objective takes comes on top, and so does ContextRank's attention. On a CPU the floor, and how far we are from
it, are in seconds of all processors, which other programs hardly change.
"""

import argparse
import itertools
import time

import numpy as np

import pomona as pm
from pomona.rankers.neural.context_rank import ContextRank
from pomona.rankers.neural.lambda_rank import LambdaRank
from pomona.rankers.neural.list_mle import ListMLE
from pomona.rankers.neural.list_net import ListNet
from pomona.rankers.neural.rank_net import RankNet
from pomona.rankers.neural.soft_rank import SoftRank

HIDDEN = (256, 128)


RANKERS = {
    "LambdaRank ndcg@10": (LambdaRank, {}),
    "LambdaRank ap": (LambdaRank, {"measure": "ap"}),
    "RankNet": (RankNet, {}),
    "ListNet": (ListNet, {}),
    "ListNet, k = 2": (ListNet, {"k": 2}),
    "ListMLE": (ListMLE, {}),
    "SoftNDCG, k = 10": (SoftRank, {}),
    "SoftNDCG, whole lists": (SoftRank, {"measure": "ndcg"}),
    "ContextRank": (ContextRank, {}),
}


def timed(cls):
    """The ranker with a clock that notes when each epoch ends."""

    class Timed(cls):
        def start_training(self, *arguments, **options):
            log = super().start_training(*arguments, **options)
            record, self.ends = log.record, []

            def record_with_time(**values):
                self.ends.append((time.perf_counter(), time.process_time()))
                return record(**values)

            log.record = record_with_time
            return log

    return Timed


def best_of(run, clock, synchronize, times=5):
    run()
    seconds = []
    for _ in range(times):
        synchronize()
        start = clock()
        run()
        synchronize()
        seconds.append(clock() - start)
    return min(seconds)


def speeds(device):
    """(floating point operations, bytes) a second, on a CPU of one core, of a large product and copy."""
    import torch

    gpu = device.type == "cuda"
    timing = (time.perf_counter, torch.cuda.synchronize) if gpu else (time.process_time, lambda: None)
    n = 8192 if gpu else 2048
    a, b = torch.rand((2, n, n), device=device)
    product = best_of(lambda: a @ b, *timing)
    source = torch.rand(2**28 if gpu else 2**25, device=device)
    target = torch.empty_like(source)
    copy = best_of(lambda: target.copy_(source), *timing)
    return 2 * n**3 / product, 2 * source.nbytes / copy


def network_costs(n_docs, n_features):
    """(floating point operations, bytes) of the network in one epoch."""
    sizes = (n_features, *HIDDEN, 1)
    products = [n_in * n_out for n_in, n_out in itertools.pairwise(sizes)]
    flops = 2 * n_docs * (3 * sum(products) - products[0])  # nobody needs the gradient of the features
    passes = 2 * n_features + 4 * sum(HIDDEN)
    return flops, 4 * n_docs * passes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--queries", type=int, default=6000)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch", type=int, default=0, help="queries in a step; 0 takes the ranker's own")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--only", default="", help="rankers, or parts of their names, with commas between")
    parser.add_argument("--mixed", action="store_true", help="bfloat16 on a GPU")
    parser.add_argument("--eager", action="store_true", help="launch the kernels of a GPU one by one")
    arguments = parser.parse_args()
    import torch

    from pomona.rankers.neural.training import trainer
    from pomona.rankers.neural.training.trainer import device_named

    if arguments.eager:
        trainer.can_be_captured = lambda config, device: False
    device = device_named(arguments.device)
    gpu = device.type == "cuda"
    where = torch.cuda.get_device_name(device) if gpu else f"{torch.get_num_threads()} cores"
    flops_a_second, bytes_a_second = speeds(device)
    train = pm.simulate(arguments.queries, n_features=136, docs_per_query=117, seed=0)
    flops, size = network_costs(train.n_docs, train.n_features)
    floor = max(flops / flops_a_second, size / bytes_a_second)
    print(f"{train.n_docs:,} documents × {train.n_features} in {train.n_queries:,} queries, on {where}.")
    print(f"The network's epoch is {flops / 1e9:.0f} Gflop and {size / 1e9:.2f} GB: {floor:.3f} s at")
    print(f"{flops_a_second / 1e12:.2f} Tflop/s and {bytes_a_second / 1e9:.0f} GB/s", end="")
    print(".\n" if gpu else " of one core.\n")
    print("| ranker | batch | seconds an epoch | of all processors | times the floor | first epoch |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, (cls, options) in RANKERS.items():
        if not any(part in name for part in arguments.only.split(",")):
            continue
        options = {**options, "hidden": HIDDEN, "device": arguments.device, "n_epochs": arguments.epochs}
        if arguments.batch:
            options["batch_size"] = arguments.batch
        ranker = timed(cls)(**options, mixed_precision=arguments.mixed)
        start = time.perf_counter()
        ranker.fit(train)
        seconds, processors = np.median(np.diff(ranker.ends, axis=0), axis=0)
        times = (seconds if gpu else processors) / floor
        row = f"| {name} | {ranker.batch_size} | {seconds:.3f} | {processors:.3f} | {times:.1f} |"
        print(row, f"{ranker.ends[0][0] - start:.1f} |", flush=True)


if __name__ == "__main__":
    main()
