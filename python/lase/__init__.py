"""Learning from graphs whose links carry attributes.

Read a graph, fit a model, and predict classes, numbers and embeddings of nodes, including nodes
that were not seen in training::

    import lase

    lase.generate("payments", "payments")  # payments.csv and accounts.csv
    graph = lase.read_links("payments/payments.csv", nodes="payments/accounts.csv", label="status",
                            time="date", slices_by="hour", split="60/20/20")
    model = lase.NodeClassifier(epochs=100).fit(graph)
    model.score(graph)
    model.predict_proba(graph)

The package has the training options, file formats and results of the command-line program `lase`.
See docs/python.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._graph import __version__
from ._graph_type import Graph, open
from ._reading import (
    generate,
    read_authors,
    read_contacts,
    read_hgb,
    read_links,
    read_ogb,
    read_sets,
    read_typed,
)
from ._embedding import LINE, DeepWalk

if TYPE_CHECKING:
    from . import nn
    from ._estimators import NodeClassifier, NodeRegressor
    from ._explanation import Explanation, LinkExplanation
    from ._links import Embedder, LinkClassifier, LinkPredictor, LinkRegressor
    from ._loading import load

__all__ = [
    "DeepWalk",
    "Embedder",
    "Explanation",
    "Graph",
    "LINE",
    "LinkClassifier",
    "LinkExplanation",
    "LinkPredictor",
    "LinkRegressor",
    "NodeClassifier",
    "NodeRegressor",
    "__version__",
    "generate",
    "load",
    "nn",
    "open",
    "read_authors",
    "read_contacts",
    "read_hgb",
    "read_links",
    "read_ogb",
    "read_sets",
    "read_typed",
]

# These need torch, which takes a second to import, so they are imported when they are first used.
_LAZY = {
    "Embedder": "_links",
    "Explanation": "_explanation",
    "LinkClassifier": "_links",
    "LinkExplanation": "_explanation",
    "LinkPredictor": "_links",
    "LinkRegressor": "_links",
    "NodeClassifier": "_estimators",
    "NodeRegressor": "_estimators",
    "load": "_loading",
    "nn": "nn",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'lase' has no attribute {name!r}")
    import importlib

    module = importlib.import_module("." + _LAZY[name], __name__)
    value = module if name == "nn" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
