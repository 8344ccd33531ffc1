"""Estimators for nodes, with the conventions of scikit-learn."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, ClassVar, Sequence

import numpy as np

from . import _torch  # noqa: F401  # isort: skip  # before _core
from . import _arrays, _core, _graph, _options
from ._base import NODE_OPTIONS, Estimator
from ._explanation import Explanation
from ._graph_type import Graph, as_graph, is_partitioned

if TYPE_CHECKING:
    import pandas
    from typing_extensions import Self, Unpack

    from ._option_types import TrainOptions

_DECLARED = [
    *NODE_OPTIONS,
    {
        "name": "validation_fraction",
        "help": "Fraction of the nodes passed to fit() that are held out to select the best epoch",
        "kind": "float",
        "valid": "at least 0 and below 1",
        "words": [],
        "default": 0.1,
    },
]


class NodeEstimator(Estimator):
    """Base class of NodeClassifier and NodeRegressor."""

    _declared = _DECLARED
    _library = [option["name"] for option in NODE_OPTIONS]
    _tasks: ClassVar[tuple[str, ...]] = ()
    validation_fraction: float

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            threads: int = 0,
            quiet: bool = False,
            validation_fraction: float = 0.1,
            **options: Unpack[TrainOptions],
        ) -> None: ...

    # ---- Fitting

    def fit(
        self,
        graph: Graph | str | os.PathLike[str],
        nodes: Any = None,
        y: Any = None,
        *,
        process_group: Any = None,
    ) -> Self:
        """Train a model on the labeled nodes of a graph.

        Ctrl-C (or interrupting a notebook cell) stops training and keeps the best weights so far;
        the KeyboardInterrupt is raised after that.

        Parameters
        ----------
        graph : Graph or path
            A graph with labels, unless `y` is given, or the folder of a partitioned graph;
            each process then reads only its own parts. The split determines the training nodes and
            the validation nodes, which select the best epoch. Without a split, all labeled nodes
            are training nodes, and there is no early stopping.
        nodes : sequence, optional
            Names of the training nodes, used instead of the split of the graph. A fraction
            `validation_fraction` of them is held out for validation.
        y : array, optional
            Labels of `nodes`, or of all nodes if `nodes` is not given, instead of those of the graph.
        process_group : torch.distributed.ProcessGroup, optional
            Processes that train together. All of them call `fit` with the same arguments and get
            the same model, which has the same weights as one process with the same `chunks`.

        Returns
        -------
        self
        """
        if is_partitioned(graph):
            if nodes is not None or y is not None:
                raise ValueError("nodes and y are not supported for partitioned graphs; store labels and the split in "
                    "the graph before partitioning it")
            folder = os.fsdecode(graph)
            self._check_task(_graph.task_of_parts(folder))
            self._train(folder, process_group)
            return self
        graph = self._training_graph(as_graph(graph), nodes, y)
        self._train(graph if nodes is None else self._hold_out(graph), process_group)
        return self

    def _training_graph(self, graph: Graph, nodes: Any, y: Any) -> Graph:
        """The graph with the labels to learn from; its training nodes are `nodes`, if given."""
        if y is not None:
            graph = graph.with_labels(y, nodes=nodes, task=self._task_of(y))
        if graph.task is None:
            raise ValueError(
                "the graph has no labels; pass y, or read the graph with the option label, "
                "multi_label or regress"
            )
        self._check_task(graph.task)
        if graph.task == "single-label" and len(graph.class_names) < 2:
            raise ValueError(
                f"y: has {len(graph.class_names)} classes, expected at least two; negative integers "
                "mean unknown, so pass classes such as -1 and 1 as strings"
            )
        if nodes is None:
            return graph
        numbers = np.zeros(graph.num_nodes, dtype=np.uint8)
        numbers[graph.index(nodes)] = 1
        return graph._with_split(numbers)

    def _hold_out(self, graph: Graph) -> Graph:
        """The graph with validation nodes among its training nodes."""
        fraction = float(self.validation_fraction)
        if not 0 <= fraction < 1:
            raise ValueError(f"validation_fraction {fraction}: must be at least 0 and below 1")
        if fraction == 0:
            return graph
        seed = int(self.seed) % 2**64  # type: ignore[attr-defined]  # train() checks it
        held_out = graph._core.hold_out(fraction, seed)
        return graph._with_split(held_out)

    def _set_outputs(self) -> None:
        raise NotImplementedError

    def _task_of(self, y: Any) -> str | None:
        raise NotImplementedError

    def _headline(self, metrics: dict[str, Any]) -> float:
        raise NotImplementedError

    def _check_task(self, task: str) -> None:
        if task not in self._tasks:
            other = "NodeRegressor" if task == "regression" else "NodeClassifier"
            raise ValueError(
                f"{type(self).__name__} cannot learn from {task} labels; use {other}, or pass "
                "labels of another type"
            )

    # ---- Predicting

    def _run(self, graph: Any, nodes: Any, fanout: Any, seed: int) -> tuple[Any, Any]:
        """Embeddings and outputs of all nodes, or of `nodes`."""
        graph = as_graph(graph)
        sizes = [] if fanout is None else np.atleast_1d(fanout).tolist()
        index = None if nodes is None else graph.index(np.atleast_1d(_names(nodes)))
        known = graph if index is None else self._without_labels(graph, index)
        embedding, outputs = self._fitted().predict(
            known._core, sizes, seed, self._device(), self.threads
        )
        return (embedding, outputs) if index is None else (embedding[index], outputs[index])

    def _without_labels(self, graph: Graph, index: np.ndarray) -> Graph:
        """The graph whose labels are inputs of predictions for some nodes: those of its training
        nodes, or without a split those of the other nodes."""
        if not self._fitted().label_inputs or graph.split is not None:
            return graph
        numbers = np.ones(graph.num_nodes, dtype=np.uint8)
        numbers[index] = 0
        return graph._with_split(numbers)

    def transform(
        self, graph: Graph | str | os.PathLike[str], nodes: Any = None, *, fanout: Any = None,
        seed: int = 1,
    ) -> np.ndarray:
        """Compute the embeddings of nodes.

        Parameters
        ----------
        graph : Graph or path
            The training graph, or any graph with the same node features and link attributes.
        nodes : sequence, optional
            Names of nodes. By default, all nodes, in the order of `graph.names`.
        fanout : int or sequence of int, optional
            Number of neighbors to sample, one for all layers or one per layer. By default, whole
            neighborhoods are used.
        seed : int, default=1
            Random seed for sampling.

        Returns
        -------
        array of shape (nodes, width)
            One row per node.
        """
        return self._run(graph, nodes, fanout, seed)[0]

    def evaluate(
        self,
        graph: Graph | str | os.PathLike[str],
        nodes: Any = None,
        y: Any = None,
        *,
        fanout: Any = None,
        seed: int = 1,
    ) -> dict[str, Any]:
        """Compute all metrics.

        Parameters
        ----------
        graph : Graph or path
            A graph with labels, unless `y` is given.
        nodes : sequence, optional
            Names of nodes. By default, the labeled test nodes, or all labeled nodes if the graph has
            no test nodes.
        y : array, optional
            Labels of `nodes`, or of all nodes if `nodes` is not given, instead of those of the graph.
        fanout, seed : optional
            As for :meth:`transform`.

        Returns
        -------
        dict
            The metrics by name; `metric`, the name of the one that selects the best epoch; `nodes`,
            the number of nodes; and `classes`, the scores of each class.
        """
        graph = as_graph(graph)
        labeled = graph if y is None else self._label(graph, nodes, y)
        return self._evaluate(graph, labeled, nodes, fanout, seed)

    def _evaluate(
        self, graph: Graph, labeled: Graph, nodes: Any, fanout: Any = None, seed: int = 1
    ) -> dict[str, Any]:
        """Compare predictions on a graph with the labels of another."""
        values = labeled.y
        if values is None:
            raise ValueError("the graph has no labels to evaluate against; pass y")
        known = values >= 0 if values.ndim == 1 else np.isfinite(values).any(axis=1)
        if nodes is not None:
            index = graph.index(nodes)
        else:
            test = graph.test_mask
            own = labeled is graph and test is not None and test.any()
            index = np.flatnonzero(known & test if own else known)
        chosen = known[index]
        if not chosen.any():
            raise ValueError("none of the nodes to evaluate has a label")
        outputs = self._run(graph, nodes, fanout, seed)[1]
        outputs = outputs[chosen] if nodes is not None else outputs[index]
        index = index[chosen]
        scores = self._fitted().score(labeled._core, outputs, index)
        scores["classes"] = {entry.pop("class"): entry for entry in scores["classes"]}
        return scores

    def _label(self, graph: Graph, nodes: Any, y: Any) -> Graph:
        """The graph with labels to evaluate against, named like the outputs of the model."""
        model = self._fitted()
        if model.task == "single-label":
            labeled = graph.with_labels(y, nodes=nodes, task=model.task)
            if not set(labeled.class_names) & set(model.label_names):
                raise ValueError(
                    f"y: contains {', '.join(labeled.class_names[:3])}, but the classes of the model "
                    f"are {', '.join(model.label_names[:10])}"
                )
            return labeled
        shape = _arrays.to_numpy(y).shape
        columns = 1 if len(shape) == 1 else shape[1]
        if columns != len(model.label_names):
            raise ValueError(
                f"y: has {columns} columns, but the model has {len(model.label_names)} outputs"
            )
        return graph.with_labels(y, nodes=nodes, task=model.task, class_names=model.label_names)

    def explain(
        self,
        graph: Graph | str | os.PathLike[str],
        node: Any,
        *,
        output: Any = None,
        neighbors: int = 10,
        attributes: int = 5,
        features: int = 5,
    ) -> Explanation:
        """Explain the prediction for a node by the effects of its features and links.

        Parameters
        ----------
        graph : Graph or path
            As for :meth:`transform`.
        node : str or int
            Name of the node.
        output : str or int, optional
            Class or target to explain. By default, the predicted class, or the first target.
        neighbors, attributes, features : int
            Number of neighbors per layer, of attributes per neighbor and of features of the node.
        """
        graph = as_graph(graph)
        model = self._fitted()
        position = _output_position(model.label_names, output)
        shown = {"neighbors": neighbors, "attributes": attributes, "features": features}
        index = graph.index(node)
        known = self._without_labels(graph, np.atleast_1d(index))
        return Explanation(model.explain(known._core, int(index), position, shown, self.threads))

    # ---- scikit-learn

    def on(self, graph: Graph | str | os.PathLike[str]) -> NodesOf:
        """Bind the estimator to a graph; the result takes names of nodes as samples.

        It works with the model selection tools of scikit-learn::

            cross_val_score(lase.NodeClassifier(epochs=50).on(graph), nodes, y, cv=5)
        """
        return NodesOf(self, as_graph(graph))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        return _tags(self._estimator_type, multi_label="multi-label" in self._tasks)

    _estimator_type: ClassVar[str] = ""


class NodeClassifier(NodeEstimator):
    _tasks = ("single-label", "multi-label")
    _estimator_type = "classifier"
    __doc__ = (
        """Node classifier.

Takes the training options of `lase train`, with the same names and defaults, but not those for
output files: use :meth:`save` and the attributes `history_` and `result_` instead.

Parameters
----------
"""
        + _options.document(_DECLARED)
        + """
threads : int, default=0
    Number of threads (0 = all cores).
quiet : bool, default=False
    Disable the progress display, which appears in terminals and notebooks.

Attributes
----------
classes_ : array of shape (classes,)
    The classes: integers or booleans if all their names are, otherwise strings.
temperature_ : float
    The logits are divided by it; 1 unless fitted with `calibrate`.
feature_names_in_ : array of str
    Names of the node features, including those that training added.
n_features_in_ : int
    Number of node features.
attribute_names_in_ : array of str
    Names of the link attributes.
n_iter_ : int
    Number of epochs.
best_epoch_ : int
    The epoch with the best validation score, whose weights are kept; the last one without
    validation nodes.
best_score_ : float or None
    Its validation score; None without validation nodes.
history_ : list of dict
    Loss and validation scores of every epoch.
result_ : dict
    Scores on validation and test nodes, times, and how neighbors were sampled.

Notes
-----
:func:`lase.load` does not restore `n_iter_`, `best_epoch_`, `best_score_`, `history_` and
`result_`; pickle does.

Examples
--------
>>> import lase, tempfile
>>> folder = tempfile.mkdtemp()
>>> lase.generate("mail", folder, people=100, contacts=5000)
>>> graph = lase.read_contacts(f"{folder}/contacts.csv", nodes=f"{folder}/people.csv",
...                            label="department", split="split")
>>> model = lase.NodeClassifier(epochs=20, seed=1).fit(graph)
>>> model.predict(graph).shape
(100,)
"""
    )

    def _task_of(self, y: Any) -> str | None:
        return "single-label" if _arrays.to_numpy(y).ndim == 1 else "multi-label"

    def _set_outputs(self) -> None:
        self.classes_ = _class_array(self.model_.label_names)
        self.temperature_ = self.model_.temperature

    def predict(
        self, graph: Graph | str | os.PathLike[str], nodes: Any = None, *, fanout: Any = None,
        seed: int = 1,
    ) -> np.ndarray:
        """Predict the classes of nodes.

        The parameters are those of :meth:`transform`.

        Returns
        -------
        array of shape (nodes,), or (nodes, classes) for several classes per node
            Classes, or 0 and 1 for several classes per node.

        Notes
        -----
        The prediction is not always the class with the highest probability, because thresholds are
        tuned on validation nodes: for several classes per node, and for two classes if epochs are
        not selected by accuracy or micro-F1. The latter is the default if one of the two classes
        has more than 80 % of the training nodes; select='accuracy' avoids it.
        """
        decided = self._fitted().classes(self._run(graph, nodes, fanout, seed)[1])
        return decided if self.model_.task == "multi-label" else self.classes_[decided]

    def predict_proba(
        self, graph: Graph | str | os.PathLike[str], nodes: Any = None, *, fanout: Any = None,
        seed: int = 1,
    ) -> np.ndarray:
        """Predict the probabilities of the classes.

        The parameters are those of :meth:`transform`.

        Returns
        -------
        array of shape (nodes, classes)
            Rows are in the order of `nodes`, or of `graph.names` if `nodes` is not given; columns
            are in the order of `classes_`.
        """
        return self._fitted().probabilities(self._run(graph, nodes, fanout, seed)[1])

    def predict_table(
        self, graph: Graph | str | os.PathLike[str], nodes: Any = None
    ) -> pandas.DataFrame:
        """Predict classes and probabilities as a table.

        Parameters
        ----------
        graph : Graph or path
            As for :meth:`transform`.
        nodes : sequence, optional
            Names of nodes. By default, all nodes.

        Returns
        -------
        DataFrame
            The columns are `node`, `label` (the predicted class), `probability` (its probability)
            and one per class with its probability. For several classes per node, `label` and
            `probability` are missing.
        """
        import pandas

        graph = as_graph(graph)
        outputs = self._run(graph, nodes, None, 1)[1]
        chances = self._fitted().probabilities(outputs)
        names = graph.names if nodes is None else [str(u) for u in np.atleast_1d(_names(nodes))]
        table = pandas.DataFrame({"node": names})
        if self.model_.task == "single-label":
            decided = self.model_.classes(outputs)
            table["label"] = self.classes_[decided]
            table["probability"] = chances[np.arange(len(table)), decided]
        for j, name in enumerate(self.model_.label_names):
            table[name] = chances[:, j]
        return table

    def score(
        self, graph: Graph | str | os.PathLike[str], nodes: Any = None, y: Any = None
    ) -> float:
        """Compute the accuracy, or micro-F1 for several classes per node.

        The parameters are those of :meth:`evaluate`.
        """
        return self._headline(self.evaluate(graph, nodes, y))

    def _headline(self, metrics: dict[str, Any]) -> float:
        return metrics["micro_f1" if self.model_.task == "multi-label" else "accuracy"]


class NodeRegressor(NodeEstimator):
    _tasks = ("regression",)
    _estimator_type = "regressor"
    __doc__ = (
        """Node regressor.

Takes the training options of `lase train`, with the same names and defaults, but not those for
output files: use :meth:`save` and the attributes `history_` and `result_` instead.

Parameters
----------
"""
        + _options.document(_DECLARED)
        + """
threads : int, default=0
    Number of threads (0 = all cores).
quiet : bool, default=False
    Disable the progress display, which appears in terminals and notebooks.

Attributes
----------
target_names_ : list of str
    Names of the targets.
feature_names_in_, n_features_in_, attribute_names_in_, n_iter_, best_epoch_, best_score_, \
history_, result_
    As for NodeClassifier.
"""
    )

    def _task_of(self, y: Any) -> str | None:
        return "regression"

    def _set_outputs(self) -> None:
        self.target_names_ = self.model_.label_names

    def predict(
        self, graph: Graph | str | os.PathLike[str], nodes: Any = None, *, fanout: Any = None,
        seed: int = 1,
    ) -> np.ndarray:
        """Predict the targets of nodes.

        The parameters are those of :meth:`transform`.

        Returns
        -------
        array of shape (nodes,), or (nodes, targets) for several targets
        """
        outputs = self._run(graph, nodes, fanout, seed)[1]
        return outputs[:, 0] if outputs.shape[1] == 1 else outputs

    def score(
        self, graph: Graph | str | os.PathLike[str], nodes: Any = None, y: Any = None
    ) -> float:
        """Compute R². The parameters are those of :meth:`evaluate`."""
        return self._headline(self.evaluate(graph, nodes, y))

    def _headline(self, metrics: dict[str, Any]) -> float:
        return metrics["r2"]


for _class in (NodeClassifier, NodeRegressor):
    _class._declare()


class NodesOf:
    """An estimator bound to a graph, whose samples are names of nodes.

    Returned by :meth:`NodeClassifier.on`. Parameters of the estimator can be set directly, such as
    `epochs` in a parameter grid.
    """

    def __init__(self, estimator: Any, graph: Graph) -> None:
        self.estimator = estimator
        self.graph = graph

    def __repr__(self) -> str:
        return f"{self.estimator!r}.on({self.graph!r})"

    def __getattr__(self, name: str) -> Any:
        if name == "estimator_" and "estimator" in self.__dict__:
            _copy(self.estimator)._fitted()  # raises NotFittedError
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def fit(self, nodes: Any, y: Any = None) -> NodesOf:
        """Train on some nodes."""
        self.estimator_ = _copy(self.estimator)
        # Predictions read only the labels that are given here.
        self._known = self.estimator_._training_graph(self.graph, _names(nodes), y)
        self.estimator_._train(self.estimator_._hold_out(self._known))
        if hasattr(self.estimator_, "classes_"):
            self.classes_ = self.estimator_.classes_
        return self

    def predict(self, nodes: Any) -> np.ndarray:
        """Predict the classes or targets of nodes."""
        return self.estimator_.predict(self._known, _names(nodes))

    def predict_proba(self, nodes: Any) -> np.ndarray:
        """Predict the probabilities of the classes of nodes."""
        return self.estimator_.predict_proba(self._known, _names(nodes))

    def transform(self, nodes: Any) -> np.ndarray:
        """Compute the embeddings of nodes."""
        return self.estimator_.transform(self._known, _names(nodes))

    def score(self, nodes: Any, y: Any = None) -> float:
        """Compute accuracy, micro-F1 for several classes per node, or R²."""
        names = _names(nodes)
        labeled = self.graph if y is None else self.estimator_._label(self.graph, names, y)
        return self.estimator_._headline(self.estimator_._evaluate(self._known, labeled, names))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get the parameters, with those of the estimator if `deep`."""
        params = {"estimator": self.estimator, "graph": self.graph}
        return {**params, **(self.estimator.get_params() if deep else {})}

    def set_params(self, **params: Any) -> NodesOf:
        """Set parameters of the binding or of the estimator."""
        for name in ("estimator", "graph"):
            if name in params:
                setattr(self, name, params.pop(name))
        if params:
            self.estimator = _copy(self.estimator).set_params(**params)
        return self

    def __sklearn_clone__(self) -> NodesOf:
        return NodesOf(_copy(self.estimator), self.graph)

    @property
    def _estimator_type(self) -> str:
        return self.estimator._estimator_type

    def __sklearn_is_fitted__(self) -> bool:
        return "estimator_" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        return self.estimator.__sklearn_tags__()


def _copy(estimator: Any) -> Any:
    return type(estimator)(**estimator.get_params())


def _names(nodes: Any) -> np.ndarray:
    array = _arrays.to_numpy(nodes)
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array


def _class_array(names: Sequence[str]) -> np.ndarray:
    """Class names as integers or booleans, if they were written so."""
    if all(name in ("True", "False") for name in names):
        return np.array([name == "True" for name in names])
    try:
        numbers = [int(name) for name in names]
    except ValueError:
        return np.array(names, dtype=object)
    if [str(number) for number in numbers] != list(names):
        return np.array(names, dtype=object)
    return np.array(numbers)


def _output_position(names: Sequence[str], output: Any) -> int:
    """The number of the output to explain; -1 if it is not given."""
    if output is None:
        return -1
    if not names:
        raise ValueError(f"output {output!r}: the model predicts links, without classes")
    if str(output) not in names:
        raise ValueError(f"output {output!r}: expected one of {', '.join(names[:20])}")
    return list(names).index(str(output))


def _tags(kind: str, multi_label: bool) -> Any:
    from sklearn.utils import ClassifierTags, InputTags, RegressorTags, Tags, TargetTags

    return Tags(
        estimator_type=kind,
        target_tags=TargetTags(required=False, multi_output=True),
        classifier_tags=ClassifierTags(multi_label=multi_label) if kind == "classifier" else None,
        regressor_tags=RegressorTags() if kind == "regressor" else None,
        input_tags=InputTags(two_d_array=False),
    )
