"""Node embeddings without labels: LINE and DeepWalk."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _graph, _options
from ._graph_type import as_graph
from ._params import Params
from ._progress import Progress

_COMMON = _graph.embed_options()


def _of(names: set[str], defaults: dict[str, Any]) -> list[dict[str, Any]]:
    chosen = [{**o, "default": defaults.get(o["name"], o["default"])} for o in _COMMON]
    return [o for o in chosen if o["name"] not in names]


class _Embedding(Params):
    _method = ""

    def fit_transform(self, graph: Any, y: Any = None) -> np.ndarray:
        """Learn the embeddings of all nodes of a graph.

        Parameters
        ----------
        graph : Graph or path
            The graph.
        y : ignored

        Returns
        -------
        array of shape (nodes, width)
            One row per node, in the order of `graph.names`. Nodes without links get zeros.
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
        """Learn the embeddings of all nodes and keep them as `embedding_`."""
        self.fit_transform(graph)
        return self


class LINE(_Embedding):
    _method = "line"
    _declared = _of({"method", "walks", "length", "window"}, {})
    __doc__ = "LINE (Tang et al. 2015): node embeddings learned from links.\n\n" + _options.document(
        _declared
    )


class DeepWalk(_Embedding):
    _method = "deepwalk"
    _declared = _of({"method", "order", "epochs", "weighted"}, {})
    __doc__ = (
        "DeepWalk (Perozzi et al. 2014): node embeddings learned from random walks.\n\n"
        + _options.document(_declared)
    )


for _class in (LINE, DeepWalk):
    _class._declare()
