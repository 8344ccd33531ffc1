#!/usr/bin/env python3
"""Judges embeddings learned without labels by logistic regression on the labels of nodes.

    build/python/venv/bin/python python/bench/embeddings.py email.graph --seeds 3 --epochs 30

The regression is trained on training nodes; its penalty is chosen on validation nodes. All methods
see all links. Prints the mean accuracy on test nodes and its standard error over seeds.
"""

import argparse

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

import lase


def accuracy(embedding: np.ndarray, graph: lase.Graph) -> float:
    y = np.asarray(graph.y)
    x = StandardScaler().fit_transform(embedding)
    train, val, test = (np.asarray(mask) & (y >= 0) for mask in
                        (graph.train_mask, graph.val_mask, graph.test_mask))
    models = [LogisticRegression(C=c, max_iter=500).fit(x[train], y[train])
              for c in (0.001, 0.01, 0.1, 1.0)]
    best = max(models, key=lambda model: model.score(x[val], y[val]))
    return float(best.score(x[test], y[test]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graph")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--features", default="none", choices=["none", "line"])
    options = parser.parse_args()
    graph = lase.open(options.graph)

    def embedder(model: str):
        def embed(seed: int) -> np.ndarray:
            method = lase.Embedder(model=model, seed=seed, epochs=options.epochs, patience=10,
                                   features=options.features, quiet=True)
            return method.fit_transform(graph)
        return embed

    methods = {
        "lase": embedder("lase"),
        "graphsage": embedder("graphsage"),
        "LINE": lambda seed: lase.LINE(seed=seed).fit_transform(graph),
        "DeepWalk": lambda seed: lase.DeepWalk(seed=seed).fit_transform(graph),
    }
    for name, embed in methods.items():
        scores = [accuracy(embed(seed), graph) for seed in range(1, options.seeds + 1)]
        error = np.std(scores, ddof=1) / np.sqrt(len(scores)) if len(scores) > 1 else np.nan
        print(f"{name:<10} {np.mean(scores):.4f} ± {error:.4f}", flush=True)


if __name__ == "__main__":
    main()
