#!/usr/bin/env python3
"""One training step of LASE-SAGE in PyTorch Geometric, on a random graph in memory.

The last line of the output is a JSON object with medians over all steps after the first.

Tensors of shape [arcs, node_dim] take a gigabyte each, and glibc returns them to the system when
they are freed, so most of a step on a CPU is page faults. For a fair comparison, use an allocator
that keeps freed memory, such as LD_PRELOAD=libtcmalloc_minimal.so.4 TCMALLOC_RELEASE_RATE=0.
"""

import argparse
import json
import resource
import statistics
import time

import torch
import torch_geometric
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch_geometric.nn import MessagePassing

CLASSES = 16
SEED = 1


class LaseSage(MessagePassing):
    """One layer, from h [sources, width_in] to h' [targets, 2 * width]:

      λ(u,v) = σ(V [h(u), f(e), h(v)] + b)
      a(e)   = σ(U f(e))
      s(u)   = mean over sampled v of λ(u,v) h(v) ⊙ a(e)
      h'(u)  = ReLU([W1 h(u), W2 s(u)])
    """

    def __init__(self, width_in: int, width: int, link_dim: int):
        super().__init__(aggr="mean")
        # V is split in three, so that the terms of u and v are computed once per node, not per arc.
        self.v_target = nn.Linear(width_in, 1)  # includes b
        self.v_source = nn.Linear(width_in, 1, bias=False)
        self.v_link = nn.Linear(link_dim, 1, bias=False)
        self.u = nn.Linear(link_dim, width_in, bias=False)
        self.w1 = nn.Linear(width_in, width, bias=False)
        self.w2 = nn.Linear(width_in, width, bias=False)

    def forward(self, h: Tensor, arcs: Tensor, f: Tensor, targets: int) -> Tensor:
        """arcs: [2, arcs], rows of v and of u; f: [arcs, link_dim]; u are the first rows of h."""
        own = h[:targets]
        gate = (self.v_source(h), self.v_target(own))  # [sources, 1], [targets, 1]
        s = self.propagate(arcs, h=(h, own), gate=gate, f=f, size=(h.size(0), targets))
        return torch.cat([self.w1(own), self.w2(s)], dim=1).relu_()

    def message(self, h_j: Tensor, gate_i: Tensor, gate_j: Tensor, f: Tensor) -> Tensor:
        gate = torch.sigmoid(gate_i + gate_j + self.v_link(f))  # [arcs, 1]
        # λ a first: if h needs no gradient, as in the first layer, only h_j is saved for the
        # backward pass.
        return h_j * (gate * self.u(f).sigmoid_())  # [arcs, width_in]


class Model(nn.Module):
    def __init__(self, node_dim: int, link_dim: int, hidden: list[int]):
        super().__init__()
        widths = [node_dim] + [2 * width for width in hidden]
        self.layers = nn.ModuleList(
            LaseSage(width_in, width, link_dim) for width_in, width in zip(widths, hidden)
        )
        self.head = nn.Linear(widths[-1], CLASSES)

    def forward(self, h: Tensor, blocks: list[tuple[Tensor, Tensor, int]]) -> Tensor:
        for layer, (arcs, f, targets) in zip(self.layers, blocks):
            h = layer(h, arcs, f, targets)
        return self.head(h)


class Graph:
    """Uniformly random links in CSR form; the two arcs of a link share its attributes."""

    def __init__(self, args: argparse.Namespace):
        self.nodes = args.nodes
        u = torch.randint(args.nodes, (args.links,))
        v = (u + torch.randint(1, args.nodes, (args.links,))) % args.nodes  # no self-loops
        row, order = torch.sort(torch.cat([u, v]))
        degree = torch.bincount(row, minlength=args.nodes)
        device = args.device
        self.degree = degree.to(device)  # [nodes]
        self.start = (degree.cumsum(0) - degree).to(device)  # [nodes]
        self.neighbor = torch.cat([v, u])[order].to(device)  # [2 links]
        self.link = (order % args.links).to(device)  # [2 links]
        self.features = torch.randn(args.nodes, args.node_dim).to(device)
        self.attributes = torch.randn(args.links, args.link_dim).to(device)
        self.labels = torch.randint(CLASSES, (args.nodes,)).to(device)
        self.row_of = torch.empty(args.nodes, dtype=torch.long, device=device)

    def sample_layer(self, targets: Tensor, fanout: int) -> tuple[Tensor, Tensor, Tensor]:
        """Samples up to `fanout` arcs per target, uniformly without replacement.

        Returns the sources (the targets first), the arcs [2, arcs] as rows of sources and targets,
        and the link of each arc.
        """
        degree = self.degree[targets]
        # Takes the arcs with the smallest random keys; positions past the end of a row come last.
        width = max(fanout, int(degree.max()))
        key = torch.rand(len(targets), width, device=targets.device)
        key[torch.arange(width, device=targets.device) >= degree[:, None]] = 2
        key, position = key.topk(fanout, largest=False, sorted=False)
        row, column = (key < 2).nonzero(as_tuple=True)
        arc = self.start[targets][row] + position[row, column]
        neighbor = self.neighbor[arc]
        # Deduplicates with a mask over all nodes, which is faster than sorting at this graph size.
        new = torch.zeros(self.nodes, dtype=torch.bool, device=targets.device)
        new[neighbor] = True
        new[targets] = False
        sources = torch.cat([targets, new.nonzero().squeeze(1)])
        self.row_of[sources] = torch.arange(len(sources), device=targets.device)
        return sources, torch.stack([self.row_of[neighbor], row]), self.link[arc]

    def sample(self, batch: int, fanouts: list[int]):
        """Inputs of the model (features, one block per layer) and the labels of the seed nodes."""
        seeds = nodes = torch.randperm(self.nodes, device=self.labels.device)[:batch]
        blocks = []
        for fanout in reversed(fanouts):
            targets = len(nodes)
            nodes, arcs, link = self.sample_layer(nodes, fanout)
            blocks.insert(0, (arcs, self.attributes[link], targets))
        return self.features[nodes], blocks, self.labels[seeds]


def numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    for flag, value in (("nodes", 61836), ("links", 1222411), ("node-dim", 602), ("link-dim", 32),
                        ("batch", 512), ("threads", 2), ("steps", 5)):
        parser.add_argument(f"--{flag}", type=int, default=value)
    parser.add_argument("--fanout", type=numbers, default="30,30", help="sampled neighbors per layer, first layer first")
    parser.add_argument("--widths", type=numbers, default="64,48")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--compile", action="store_true")
    args = parser.parse_args()
    if len(args.fanout) != len(args.widths):
        parser.error("--fanout and --widths must have one number per layer")
    return args


def main() -> None:
    args = parse()
    torch.set_num_threads(args.threads)
    torch.manual_seed(SEED)
    graph = Graph(args)
    model = Model(args.node_dim, args.link_dim, args.widths).to(args.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    # Batch sizes vary: without dynamic shapes, every batch would be recompiled.
    forward = torch.compile(model, dynamic=True) if args.compile else model

    def now() -> float:
        if args.device.startswith("cuda"):
            torch.cuda.synchronize()
        return time.perf_counter()

    def step() -> dict[str, float]:
        times = [now()]
        features, blocks, labels = graph.sample(args.batch, args.fanout)  # includes gathering
        times.append(now())
        loss = cross_entropy(forward(features, blocks), labels)
        times.append(now())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        times.append(now())
        optimizer.step()
        times.append(now())
        parts = ("sample", "forward", "backward", "optimizer")
        result = {f"{part}_seconds": times[i + 1] - times[i] for i, part in enumerate(parts)}
        return {"seconds_per_step": times[-1] - times[0], **result,
                "links_first_layer": blocks[0][0].size(1)}

    step()
    steps = [step() for _ in range(args.steps)]
    report = {key: round(statistics.median(s[key] for s in steps), 6) for key in steps[0]}
    report["links_first_layer"] = int(report["links_first_layer"])
    report["peak_rss_bytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    report |= {"torch": torch.__version__, "pyg": torch_geometric.__version__,
               "threads": args.threads, "device": args.device, "compiled": args.compile}
    print(json.dumps(report))


if __name__ == "__main__":
    main()
