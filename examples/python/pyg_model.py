"""A PyTorch Geometric model that uses LaseConv next to other layers.

    build/python/venv/bin/python examples/python/pyg_model.py
"""

from __future__ import annotations

import tempfile

import torch
from torch import Tensor
from torch_geometric.nn import BatchNorm, SAGEConv

import lase


class Model(torch.nn.Module):
    """LaseConv reads the link attributes, SAGEConv then averages over neighbors."""

    def __init__(self, in_channels: int, edge_dim: int, classes: int) -> None:
        super().__init__()
        self.first = lase.nn.LaseConv(in_channels, 64, edge_dim=edge_dim)
        self.norm = BatchNorm(64)
        self.second = SAGEConv(64, classes)

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        h = self.norm(self.first(x, edge_index, edge_attr)).relu()
        result: Tensor = self.second(h, edge_index)
        return result


def main() -> float:
    torch.manual_seed(1)
    with tempfile.TemporaryDirectory() as folder:
        lase.generate("mail", folder)
        graph = lase.read_contacts(
            f"{folder}/contacts.csv", nodes=f"{folder}/people.csv", label="department", split="split"
        )
    data = graph.to_pyg()
    model = Model(data.num_features, data.num_edge_features, len(graph.class_names))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(100):
        model.train()
        optimizer.zero_grad()
        out = model(data.x, data.edge_index, data.edge_attr)
        mask = data.train_mask
        torch.nn.functional.cross_entropy(out[mask], data.y[mask]).backward()
        optimizer.step()
    model.eval()
    predicted = model(data.x, data.edge_index, data.edge_attr).argmax(1)
    accuracy = (predicted == data.y)[data.test_mask].float().mean().item()
    print(f"accuracy on test nodes: {accuracy:.3f}")
    return accuracy


if __name__ == "__main__":
    main()
