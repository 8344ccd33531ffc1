#!/usr/bin/env python3
"""Compares LaseConv with the same layer in PyTorch Geometric, forward and backward.

    build/python/venv/bin/python python/bench/conv.py
    python3 python/bench/conv.py --device cuda --steps 50       # if lase was built with CUDA

The layer is the first one of workload R: 61,836 nodes with 602 features, of which 13,867 are
targets, 416,000 links with 32 attributes, 64 output channels. On the CPU, PyTorch Geometric runs
twice: as installed, and with glibc configured to keep freed memory.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time

KEEP = {"MALLOC_MMAP_THRESHOLD_": str(10**12), "MALLOC_TRIM_THRESHOLD_": str(10**12)}
NODES, TARGETS, LINKS, WIDTH, COLUMNS, OUT = 61_836, 13_867, 416_000, 602, 32, 64


def layer(library: str, device: str):
    import torch

    import lase.nn

    if device == "cuda" and not lase._core.supports_gpu("cuda:0"):
        sys.exit("lase was not built for this GPU")
    conv = lase.nn.LaseConv(WIDTH, OUT, COLUMNS)
    if library == "lase":
        return conv
    from torch_geometric.nn import MessagePassing

    class Peer(MessagePassing):
        """The same equations with messages of shape [links, channels]."""

        def __init__(self):
            super().__init__(aggr="sum")
            self.conv = conv

        def forward(self, x, edge_index, edge_attr):
            source, target = x
            c = self.conv
            p = target @ c.gate_target.t() + c.gate_bias
            q = source @ c.gate_source.t()
            z, s, r = self.propagate(
                edge_index, x=x, gate=(q, p), f=edge_attr, size=(len(source), len(target))
            ).split([1, WIDTH, COLUMNS], 1)
            scale = 1 / z.clamp(min=1e-6)
            return (
                target @ c.own.t()
                + (s * scale) @ c.neighbors.t()
                + (r * scale) @ c.links.t()
                + c.bias
            )

        def message(self, x_j, gate_i, gate_j, f):
            c = self.conv
            gate = torch.sigmoid(gate_i + gate_j + f @ c.gate_link.t())
            a = torch.addmm(c.amplifier_bias, f, c.amplifier_weight.t())
            return torch.cat([gate, gate * x_j * a, gate * f], 1)

    return Peer()


def measure(library: str, steps: int, device: str) -> dict:
    import torch

    on_gpu = device != "cpu"
    torch.manual_seed(1)
    model = layer(library, device).to(device)
    x = torch.randn(NODES, WIDTH).to(device)
    edge_index = torch.stack([torch.randint(NODES, (LINKS,)), torch.randint(TARGETS, (LINKS,))])
    edge_index = edge_index.to(device)
    edge_attr = torch.randn(LINKS, COLUMNS).to(device)

    def peak() -> int:
        if on_gpu:
            return torch.cuda.max_memory_allocated()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    before = peak()
    seconds = []
    for _ in range(steps + 1):
        model.zero_grad()
        begin = time.perf_counter()
        out = model((x, x[:TARGETS]), edge_index, edge_attr)
        out.square().mean().backward()
        if on_gpu:
            torch.cuda.synchronize()
        seconds.append(time.perf_counter() - begin)
    conv = model if library == "lase" else model.conv
    return {
        "seconds": statistics.median(seconds[1:]),
        "mib": (peak() - before) / 2**20,
        "gradients": {name: value.grad.norm().item() for name, value in conv.named_parameters()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", choices=["lase", "pyg"], help="measure only this one, as JSON")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    if options.library:
        print(json.dumps(measure(options.library, options.steps, options.device)))
        return
    variants = [("lase", "lase", {}), ("PyTorch Geometric", "pyg", {})]
    if options.device == "cpu":
        variants.append(("PyTorch Geometric, memory kept", "pyg", KEEP))
    runs: dict = {}
    for _ in range(options.rounds):
        for name, library, environment in variants:
            command = [sys.executable, __file__, "--library", library]
            command += ["--device", options.device, "--steps", str(options.steps)]
            run = subprocess.run(command, env={**os.environ, **environment}, stdout=subprocess.PIPE,
                                 text=True, check=True)
            runs.setdefault(name, []).append(json.loads(run.stdout.splitlines()[-1]))
    base = statistics.median(run["seconds"] for run in runs["lase"])
    for name, each in runs.items():
        seconds = statistics.median(run["seconds"] for run in each)
        memory = max(run["mib"] for run in each)
        times = f"{1e3 * seconds:9.2f} ms  {seconds / base:5.1f} ×"
        print(f"{name:32s} {times}  {memory:7.0f} MiB", flush=True)
    mine, peer = (runs[name][0]["gradients"] for name in ("lase", "PyTorch Geometric"))
    worst = max(abs(mine[name] - peer[name]) / abs(peer[name]) for name in mine)
    print(f"largest relative difference between the norms of gradients: {worst:.1e}")


if __name__ == "__main__":
    main()
