#!/usr/bin/env python3
"""Compares open, fit and save with `lase train`, in turns: wall time, CPU time, and the weights.

The time of the program is that of the whole process. Python runs in this process, which has imported
torch before, and in a process of its own. CPU time is the user and system time of all threads, which
depends less on other load than wall time.

    build/python/venv/bin/python python/bench/fit.py mail.graph --epochs 50
"""

import argparse
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Callable

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tests"))

from safetensors_weights import weights  # noqa: E402

import lase  # noqa: E402


def measure(run: Callable[[], object], who: int) -> tuple[float, float]:
    """Returns the wall time and the CPU time of `run`, in seconds."""
    before = resource.getrusage(who)
    begin = time.perf_counter()
    run()
    wall = time.perf_counter() - begin
    after = resource.getrusage(who)
    return wall, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graph")
    parser.add_argument("--lase", default="build/release/lase", help="the program")
    parser.add_argument("--epochs", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=0)
    options = parser.parse_args()
    common = {"epochs": options.epochs, "patience": 0, "threads": options.threads}
    lase.NodeClassifier()  # imports torch
    ratios: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        a, b = pathlib.Path(folder) / "a.model", pathlib.Path(folder) / "b.model"

        def program() -> None:
            flags = [text for name, value in common.items() for text in (f"--{name}", str(value))]
            command = [options.lase, "train", options.graph, *flags, "--json", "--out", str(a)]
            subprocess.run(command, capture_output=True, check=True)

        def python() -> None:
            model = lase.NodeClassifier(quiet=True, **common)
            model.fit(lase.open(options.graph)).save(b)

        def process() -> None:
            code = (
                f"import lase; lase.NodeClassifier(quiet=True, **{common!r})"
                f".fit(lase.open({options.graph!r})).save({str(b)!r})"
            )
            subprocess.run([sys.executable, "-c", code], check=True)

        runs = [
            ("lase train", program, resource.RUSAGE_CHILDREN),
            ("Python", python, resource.RUSAGE_SELF),
            ("Python process", process, resource.RUSAGE_CHILDREN),
        ]
        for number in range(options.rounds):
            times = {}
            for name, run, who in runs if number % 2 == 0 else reversed(runs):
                times[name] = measure(run, who)
                print(f"{name}: wall {times[name][0]:.2f} s, CPU {times[name][1]:.2f} s", flush=True)
            for name in ("Python", "Python process"):
                for kind, ours, theirs in zip(("wall", "CPU"), times[name], times["lase train"]):
                    ratios.setdefault(f"{name}, {kind}", []).append(ours / theirs)
        first, second = weights(a), weights(b)
    same = all(first[name] == second[name] for name in first if name.startswith("weight."))
    for name, values in ratios.items():
        print(f"{name}: ratio {statistics.median(values):.3f} (median), {min(values):.3f} to {max(values):.3f}")
    print(f"weights {'equal' if same else 'DIFFER'}")


if __name__ == "__main__":
    main()
