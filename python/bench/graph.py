#!/usr/bin/env python3
"""Measures the time and memory of Graph(edge_index, edge_attr), and the time of `import lase`.

    build/python/venv/bin/python python/bench/graph.py
"""

import argparse
import resource
import statistics
import subprocess
import sys
import time

import numpy as np

import lase


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def import_seconds(code: str) -> float:
    begin = f"import time; begin = time.perf_counter(); {code}; print(time.perf_counter() - begin)"
    runs = [subprocess.run([sys.executable, "-c", begin], capture_output=True, text=True, check=True)
            for _ in range(7)]
    return statistics.median(float(run.stdout) for run in runs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--links", type=int, default=10_000_000)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=8)
    options = parser.parse_args()
    random = np.random.default_rng(1)
    edge_index = random.integers(options.nodes, size=(2, options.links))
    edge_attr = random.random((options.links, options.columns), dtype=np.float32)
    before = peak()
    begin = time.perf_counter()
    graph = lase.Graph(edge_index, edge_attr, num_nodes=options.nodes)
    seconds = time.perf_counter() - begin
    core = graph._core
    own = graph.edge_attr.nbytes + sum(a.nbytes for a in (core.row_ptr, core.neighbor, core.link))
    own += sum(len(name) + 8 for name in graph.names)
    print(f"{graph!r}: {seconds:.2f} s, {own / 2**20:.0f} MiB, "
          f"peak {(peak() - before) / own:.2f} times as much")
    torch = import_seconds("import torch")
    both = import_seconds("import torch, lase; lase.NodeClassifier")
    print(f"import torch {torch:.2f} s, with lase {both:.2f} s; lase without torch "
          f"{import_seconds('import lase'):.2f} s, numpy {import_seconds('import numpy'):.2f} s")


if __name__ == "__main__":
    main()
