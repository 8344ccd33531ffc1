#!/usr/bin/env python3
"""Compares the time of open, fit and save with that of `lase train`, in turns, and the weights.

The time of the program is that of the whole process; Python has imported torch before.

    build/python/venv/bin/python python/bench/fit.py mail.graph --epochs 50
"""

import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tests"))

from safetensors_weights import weights  # noqa: E402

import lase  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graph")
    parser.add_argument("--lase", default="build/release/lase", help="the program")
    parser.add_argument("--epochs", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    lase.NodeClassifier()  # imports torch
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        a, b = pathlib.Path(folder) / "a.model", pathlib.Path(folder) / "b.model"
        for _ in range(options.rounds):
            command = [options.lase, "train", options.graph, "--epochs", str(options.epochs),
                       "--patience", "0", "--json", "--out", str(a)]
            begin = time.perf_counter()
            subprocess.run(command, capture_output=True, check=True)
            program = time.perf_counter() - begin
            begin = time.perf_counter()
            model = lase.NodeClassifier(epochs=options.epochs, patience=0)
            model.fit(lase.open(options.graph)).save(b)
            seconds = time.perf_counter() - begin
            ratios.append(seconds / program)
            print(f"lase train {program:.2f} s, Python {seconds:.2f} s, ratio {ratios[-1]:.3f}", flush=True)
        first, second = weights(a), weights(b)
    same = all(first[name] == second[name] for name in first if name.startswith("weight."))
    print(f"median ratio {statistics.median(ratios):.3f}; weights {'equal' if same else 'DIFFER'}")


if __name__ == "__main__":
    main()
