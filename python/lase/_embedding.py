"""Node embeddings without labels: LINE and DeepWalk."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _graph, _options
from ._graph_type import as_graph
from ._params import Params
from ._progress import Progress

_COMMON = _graph.embed_options()


def _without(names: set[str]) -> list[dict[str, Any]]:
    """The options of one method: all except the given ones."""
    return [
        {**option, "help": _without_method(option["help"])}
        for option in _COMMON
        if option["name"] not in names
    ]


def _without_method(text: str) -> str:
    """The help of an option without a prefix such as "LINE: "."""
    for method in ("LINE: ", "DeepWalk: "):
        if text.startswith(method):
            text = text[len(method) :]
            return text[0].upper() + text[1:]
    return text


def _document(summary: str, declared: list[dict[str, Any]]) -> str:
    return f"""{summary}

The embeddings are transductive: they are learned for the nodes of one graph, and there is no
`transform` for other graphs.

Parameters
----------
{_options.document(declared)}
threads : int, default=0
    Number of threads (0 = all cores).
quiet : bool, default=False
    Disable the progress display.

Attributes
----------
embedding_ : array of shape (nodes, width)
    The embeddings, in the order of `graph.names`.
"""


class _Embedding(Params):
    """Base class of LINE and DeepWalk."""

    _method = ""

    def fit_transform(self, graph: Any, y: Any = None) -> np.ndarray:
        """Learn the embeddings of all nodes of a graph and return them.

        Parameters
        ----------
        graph : Graph or path
            The graph, or the path of a graph file.
        y : ignored
            Present for compatibility with scikit-learn.

        Returns
        -------
        array of shape (nodes, width)
            One row per node, in the order of `graph.names`; zeros for nodes without links.
        """
        options = {name: value for name, value in self.get_params().items() if name in self._names}
        with Progress(self.quiet) as progress:
            self.embedding_ = _graph.embed(
                as_graph(graph)._core,
                {"method": self._method, **options},
                lambda done: progress.show(f"{type(self).__name__} {100 * done:.0f} %"),
                self.threads,
            )
        return self.embedding_

    def fit(self, graph: Any, y: Any = None) -> _Embedding:
        """Learn the embeddings of all nodes of a graph and store them in `embedding_`.

        The parameters are those of :meth:`fit_transform`.
        """
        self.fit_transform(graph)
        return self


class LINE(_Embedding):
    _method = "line"
    _declared = _without({"method", "walks", "length", "window"})
    __doc__ = _document("Node embeddings learned from links by LINE (Tang et al. 2015).", _declared)


class DeepWalk(_Embedding):
    _method = "deepwalk"
    _declared = _without({"method", "order", "epochs", "weighted"})
    __doc__ = _document(
        "Node embeddings learned from random walks by DeepWalk (Perozzi et al. 2014).", _declared
    )


for _class in (LINE, DeepWalk):
    _class._declare()
