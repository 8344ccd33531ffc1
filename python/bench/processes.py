#!/usr/bin/env python3
"""Compares training in several processes with training in one, in turns: time in epochs, and weights.

The processes run on this machine, connected by torch.distributed with Gloo, and all have the same
number of threads. The options are those of workload R in docs/scaling.md unless changed:

    lase generate planted --nodes 61836 --links 1222411 --node-dim 602 --link-dim 32 --layout dense --out r.graph
    build/python/venv/bin/python python/bench/processes.py r.graph --processes 8 --threads 2
    build/python/venv/bin/python python/bench/processes.py r.graph --set strategy=snapshot --set "fanout=[1, 10]"
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tests"))

from safetensors_weights import weights  # noqa: E402

import lase  # noqa: E402

WORKLOAD = {
    "model": "sage",
    "widths": [64, 48],
    "combine": "concat",
    "strategy": "uniform",
    "fanout": [30, 30],
    "refresh_every": 20,
    "batch_size": 512,
    "features": "none",
    "common_neighbors": "off",
    "label_inputs": "off",
    "transductive": True,
    "patience": 0,
    "eval_every": 1000,
    "chunks": 16,
    "device": "cpu",
}


def parsed(text: str) -> tuple[str, object]:
    """Return the name and the value of NAME=VALUE; a value that is not JSON is a string."""
    name, value = text.split("=", 1)
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def train(graph: str, options: dict, out: str, store: str, rank: int, processes: int) -> None:
    """Train as one of the processes; the first one prints the time."""
    group = None
    if processes > 1:
        import torch.distributed as dist

        dist.init_process_group(
            "gloo", init_method=f"file://{store}", rank=rank, world_size=processes
        )
        group = dist.group.WORLD
    model = lase.NodeClassifier(quiet=True, **options).fit(lase.open(graph), process_group=group)
    if rank == 0:
        model.save(out)
        print(model.result_["train_seconds"])


def measure(graph: str, options: dict, out: pathlib.Path, processes: int) -> float:
    """Return the seconds that `processes` processes spend in epochs."""
    with tempfile.TemporaryDirectory() as folder:
        job = {
            "graph": graph,
            "options": options,
            "out": str(out),
            "store": str(pathlib.Path(folder) / "store"),
            "processes": processes,
        }
        environment = {**os.environ, "GLOO_SOCKET_IFNAME": "lo"}
        running = [
            subprocess.Popen(
                [sys.executable, __file__, "--job", json.dumps({**job, "rank": rank})],
                env=environment,
                stdout=subprocess.PIPE,
                text=True,
            )
            for rank in range(processes)
        ]
        printed = [process.communicate()[0] for process in running]
    if any(process.returncode != 0 for process in running):
        sys.exit("a process failed; its error is above")
    return float(printed[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graph")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1, help="of each process")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="an option")
    arguments = parser.parse_args()
    options = {**WORKLOAD, **dict(parsed(text) for text in arguments.set)}
    options |= {"epochs": arguments.epochs, "threads": arguments.threads}
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        one, several = pathlib.Path(folder) / "one.model", pathlib.Path(folder) / "several.model"
        for _ in range(arguments.rounds):
            alone = measure(arguments.graph, options, one, 1)
            together = measure(arguments.graph, options, several, arguments.processes)
            ratios.append(alone / together)
            print(f"1 process: {alone:.2f} s, {arguments.processes} processes: {together:.2f} s", flush=True)
        equal = weights(one) == weights(several)
    print(
        f"speedup: median {statistics.median(ratios):.2f} of {len(ratios)} "
        f"({min(ratios):.2f} to {max(ratios):.2f}); weights are {'equal' if equal else 'DIFFERENT'}"
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--job"]:
        train(**json.loads(sys.argv[2]))
    else:
        main()
