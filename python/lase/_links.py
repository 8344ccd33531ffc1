"""Estimators for links: their labels, which nodes are linked, and embeddings without labels."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _torch  # noqa: F401  # isort: skip  # before _core
from . import _options
from ._base import OPTIONS, Estimator
from ._estimators import _class_array, _output_position
from ._explanation import LinkExplanation
from ._graph_type import Graph, as_graph

if TYPE_CHECKING:
    import pandas
    from typing_extensions import Self, Unpack

    from ._option_types import TrainOptions

_PARAMETERS = "\n\nParameters\n----------\n"


class LinkEstimator(Estimator):
    """Base class of the estimators whose samples are links."""

    _declared = OPTIONS
    _library = [option["name"] for option in OPTIONS]

    if TYPE_CHECKING:

        def __init__(
            self, *, threads: int = 0, quiet: bool = False, **options: Unpack[TrainOptions]
        ) -> None: ...

    def fit(
        self, graph: Graph | str | os.PathLike[str], *, process_group: Any = None
    ) -> Self:
        """Train a model on the target links of a graph.

        Parameters
        ----------
        graph : Graph or path
            A graph that was read with the options `link_label`, `link_multi_label`, `link_regress`
            or `link_split`, or any graph to predict its links. Without a split of links, the
            option `link_split` of the estimator splits them at random.
        process_group : torch.distributed.ProcessGroup, optional
            Processes that train together, as for `NodeClassifier.fit`.

        Returns
        -------
        self
        """
        self._train(as_graph(graph), process_group)
        return self

    def transform(self, graph: Graph | str | os.PathLike[str]) -> np.ndarray:
        """Compute the embeddings of all nodes, from all links.

        Returns
        -------
        array of shape (nodes, width)
            One row per node, in the order of `graph.names`.
        """
        return self._fitted().embed_links(as_graph(graph)._core, self._device(), self.threads)

    def evaluate(
        self, graph: Graph | str | os.PathLike[str], split: str = "test"
    ) -> dict[str, Any]:
        """Compute all metrics on the target links of a split.

        Validation and test links are scored using links of earlier splits only; training links
        using the other training links.

        Parameters
        ----------
        graph : Graph or path
            A graph with the same attributes as the training graph.
        split : {"test", "val", "train", "none"}
            Links to evaluate. If the training graph has no split of links, its random split is
            repeated; all links of other graphs without a split are in the split "none".

        Returns
        -------
        dict
            The metrics by name; `metric`, the name of the one that selects the best epoch; `links`,
            the number of links; and `ranking`, the protocol of ranks, if links are predicted.
        """
        return self._fitted().evaluate_links(
            as_graph(graph)._core, split, self._device(), self.threads
        )

    def explain(
        self,
        graph: Graph | str | os.PathLike[str],
        source: Any = None,
        target: Any = None,
        *,
        row: int | None = None,
        relation: str | None = None,
        output: Any = None,
        neighbors: int = 10,
        attributes: int = 5,
        features: int = 5,
    ) -> LinkExplanation:
        """Explain the prediction for a link by its attributes and by both of its nodes.

        The link is explained with the messages that it is predicted with: those of links of earlier
        splits, and for a training link without the links between its two nodes.

        Parameters
        ----------
        graph : Graph or path
            A graph with the same attributes as the training graph.
        source, target : str or int, optional
            Names of the nodes. To predict links, any two nodes; otherwise those of a link.
        row : int, optional
            Row of the predictions, if there are several links between the nodes; by default, the
            first one. It may also be given without `source` and `target`.
        relation : str, optional
            Relation of the link, if links have relations; required if the nodes are not linked.
        output : str or int, optional
            Class or target to explain. By default, the predicted class, or the first target.
        neighbors, attributes, features : int
            Number of neighbors per layer, of attributes per neighbor, and of features per node and
            attributes of the link.

        Returns
        -------
        LinkExplanation
            Prints as text, displays as a figure in a notebook.
        """
        graph = as_graph(graph)
        model = self._fitted()
        if (source is None) != (target is None) or (source is None and row is None):
            raise ValueError("source and target, or row, are required")
        if row is not None and row < 0:
            raise ValueError(f"row {row}: must be at least 0")
        link = {
            "source": -1 if source is None else int(graph.index(source)),
            "target": -1 if target is None else int(graph.index(target)),
            "row": -1 if row is None else int(row),
            "relation": relation or "",
        }
        position = _output_position(model.label_names, output)
        shown = {"neighbors": neighbors, "attributes": attributes, "features": features}
        return LinkExplanation(
            model.explain_link(graph._core, link, position, shown, self.threads)
        )

    def _targets(self, graph: Any) -> tuple[Graph, np.ndarray, np.ndarray, np.ndarray]:
        graph = as_graph(graph)
        source, target, outputs = self._fitted().predict_links(
            graph._core, self._device(), self.threads
        )
        return graph, source, target, outputs

    def _table(self, graph: Graph, source: Any, target: Any, columns: Any) -> pandas.DataFrame:
        import pandas

        names = np.array(graph.names, dtype=object)
        return pandas.DataFrame({"source": names[source], "target": names[target], **columns})


class LinkClassifier(LinkEstimator):
    __doc__ = (
        "Classifier for links, such as payments.\n\nTraining options have the names and defaults of "
        "`lase train`."
        + _PARAMETERS
        + _options.document(OPTIONS)
        + """

Attributes
----------
classes_ : array of shape (classes,)
    The classes: integers or booleans if all their names are, otherwise strings.
temperature_ : float
    The logits are divided by it; 1 unless fitted with `calibrate`.
"""
    )
    _predicts = "links"

    def _set_outputs(self) -> None:
        self.classes_ = _class_array(self.model_.label_names)
        self.temperature_ = self.model_.temperature

    def predict_proba(self, graph: Graph | str | os.PathLike[str]) -> np.ndarray:
        """Predict the probabilities of the classes.

        Returns
        -------
        array of shape (links, classes)
            One row per row of the table of links, without dropped ones such as self-loops; columns
            as in `classes_`.
        """
        return self._fitted().probabilities(self._targets(graph)[3])

    def predict(self, graph: Graph | str | os.PathLike[str]) -> np.ndarray:
        """Predict the classes of links, with the thresholds tuned on validation links.

        Returns
        -------
        array of shape (links,), or (links, classes) for several classes per link
            Rows as for :meth:`predict_proba`.
        """
        decided = self._fitted().classes(self._targets(graph)[3])
        return decided if self.model_.task == "multi-label" else self.classes_[decided]

    def predict_table(self, graph: Graph | str | os.PathLike[str]) -> pandas.DataFrame:
        """Predict a table with the columns source and target, label (for one class per link), and
        the probability of every class."""
        graph, source, target, outputs = self._targets(graph)
        model = self._fitted()
        columns: dict[str, Any] = {}
        if model.task == "single-label":
            columns["label"] = self.classes_[model.classes(outputs)]
        probabilities = model.probabilities(outputs)
        for i, name in enumerate(model.label_names):
            columns[name] = probabilities[:, i]
        return self._table(graph, source, target, columns)

    def score(self, graph: Graph | str | os.PathLike[str], split: str = "test") -> float:
        """Return the accuracy on the target links of a split."""
        return float(self.evaluate(graph, split)["accuracy"])


class LinkRegressor(LinkEstimator):
    __doc__ = (
        "Regressor for numeric labels of links.\n\nTraining options have the names and defaults of `lase train`."
        + _PARAMETERS
        + _options.document(OPTIONS)
    )
    _predicts = "links"

    def predict(self, graph: Graph | str | os.PathLike[str]) -> np.ndarray:
        """Predict the targets of links: an array of shape (links,) or (links, targets)."""
        outputs = self._targets(graph)[3]
        return outputs[:, 0] if outputs.shape[1] == 1 else outputs

    def score(self, graph: Graph | str | os.PathLike[str], split: str = "test") -> float:
        """Return R² on the target links of a split."""
        return float(self.evaluate(graph, split)["r2"])


class LinkPredictor(LinkEstimator):
    __doc__ = (
        "Predicts which nodes are linked.\n\nTraining options have the names and defaults of `lase "
        "train`." + _PARAMETERS + _options.document(OPTIONS)
    )
    _predicts = "link-prediction"

    def decision_function(self, graph: Graph | str | os.PathLike[str]) -> np.ndarray:
        """Compute the scores of the graph's target links: an array of shape (links,)."""
        return self._targets(graph)[3][:, 0]

    def top(
        self,
        graph: Graph | str | os.PathLike[str],
        k: int = 10,
        *,
        nodes: Any = None,
        relation: str | None = None,
    ) -> pandas.DataFrame:
        """Find the nodes most likely to be linked to each node, and not linked to it yet.

        Parameters
        ----------
        graph : Graph or path
            A graph with the same attributes as the training graph.
        k : int, default=10
            Number of partners per node.
        nodes : sequence, optional
            Names of nodes. By default, all nodes.
        relation : str, optional
            Relation of the predicted links; required if links have relations.

        Returns
        -------
        DataFrame
            The columns source, target and score, the best partner of a node first.
        """
        graph = as_graph(graph)
        index = np.arange(graph.num_nodes) if nodes is None else graph.index(np.atleast_1d(nodes))
        source, target, score = self._fitted().partners(
            graph._core, index, int(k), relation or "", self._device(), self.threads
        )
        return self._table(graph, source, target, {"score": score})

    def score(self, graph: Graph | str | os.PathLike[str], split: str = "test") -> float:
        """Return the mean reciprocal rank of the target links of a split."""
        return float(self.evaluate(graph, split)["mrr"])


class Embedder(LinkEstimator):
    __doc__ = (
        "Learns embeddings of nodes without labels, by predicting links.\n\nTraining options have the "
        "names and defaults of `lase train`." + _PARAMETERS + _options.document(OPTIONS)
    )
    _predicts = "embedding"

    def fit_transform(self, graph: Graph | str | os.PathLike[str]) -> np.ndarray:
        """Fit the model and return the embeddings of all nodes."""
        graph = as_graph(graph)
        return self.fit(graph).transform(graph)


for _class in (LinkClassifier, LinkRegressor, LinkPredictor, Embedder):
    _class._declare()
