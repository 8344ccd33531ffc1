"""The class Graph."""

from __future__ import annotations

import builtins
import os
import tempfile
from typing import TYPE_CHECKING, Any, Iterable, Sequence

import numpy as np

from . import _arrays, _graph

if TYPE_CHECKING:
    import networkx
    import pandas

_SPLITS = ("none", "train", "val", "test")


class Graph:
    """A graph with node features and link attributes.

    Parameters
    ----------
    edge_index : array of shape (2, links), or SciPy sparse matrix of shape (nodes, nodes)
        Source and target of each link. The stored values of a sparse matrix are the link attributes
        unless `edge_attr` is given. If every link is listed in both directions with the same
        attributes, as undirected links are in PyTorch Geometric, each pair counts once.
    edge_attr : array or SciPy sparse matrix of shape (links, k), optional
        Attributes of the links.
    x : array or SciPy sparse matrix of shape (nodes, d), optional
        Features of the nodes.
    y : array of shape (nodes,) or (nodes, outputs), optional
        Classes as integers, strings or booleans (negative integers and missing values are
        unknown); several classes per node as a matrix of 0 and 1; or regression targets as
        floating-point numbers (NaN if unknown). Classes that are stored as floating-point numbers
        with NaN, or as nullable integers with missing values, need task='single-label'.
    train_mask, val_mask, test_mask : array of bool of shape (nodes,), or of node numbers, optional
        The split of the nodes.
    split : array of str of shape (nodes,), optional
        The split as words (train, val, test or none), as an alternative to the masks.
    num_nodes : int, optional
        Number of nodes. By default, the number of rows of `x` or `y`, or else the largest node
        number plus one.
    names : sequence of str, optional
        Names (ids) of the nodes. By default, their numbers.
    feature_names, attribute_names, class_names : sequence of str, optional
        Names of the columns of `x` and `edge_attr`, and of the classes or targets in `y`. With class
        names, the values of `y` are positions in them.
    task : {'single-label', 'multi-label', 'regression'}, optional
        The meaning of `y`. By default, it is inferred from the type and shape of `y`.
    directed : bool, default=False
        Source nodes aggregate from their target nodes, but not vice versa. This is the opposite of
        PyTorch Geometric, where messages flow from source to target; :meth:`from_pyg` swaps the
        two.
    separate_directions : bool, default=False
        Keep separate attributes for the two directions of a link: each node sees what it sent and
        what it received.
    self_loops : {'drop', 'keep', 'error'}, default='drop'
        Links from a node to itself.
    duplicate_links : {'merge', 'keep', 'error'}, default='merge'
        Several links between the same two nodes.
    merge : {'sum', 'mean', 'max', 'first', 'min'}, default='sum'
        How to combine the attributes of merged links.
    threads : int, default=0
        Number of threads (0 = all cores).

    Notes
    -----
    Tensors, data frames and objects that support DLPack are accepted wherever arrays are. `x`, and
    `y` with several columns, are shared without a copy if they are contiguous arrays of float32; do
    not change them afterwards. `edge_index` and `edge_attr` are copied.
    """

    _core: _graph.Graph

    def __init__(
        self,
        edge_index: Any,
        edge_attr: Any = None,
        x: Any = None,
        y: Any = None,
        *,
        train_mask: Any = None,
        val_mask: Any = None,
        test_mask: Any = None,
        split: Any = None,
        num_nodes: int | None = None,
        names: Sequence[Any] | None = None,
        feature_names: Sequence[str] | None = None,
        attribute_names: Sequence[str] | None = None,
        class_names: Sequence[str] | None = None,
        task: str | None = None,
        directed: bool = False,
        separate_directions: bool = False,
        self_loops: str = "drop",
        duplicate_links: str = "merge",
        merge: str = "sum",
        threads: int = 0,
    ) -> None:
        source, target, edge_attr, num_nodes = _link_ends(edge_index, edge_attr, num_nodes)
        for array in (x, y, names):
            if num_nodes is None and array is not None:
                num_nodes = array.shape[0] if hasattr(array, "shape") else len(array)
        if num_nodes is None:
            num_nodes = int(max(source.max(), target.max())) + 1 if source.size > 0 else 0
        parts: dict[str, Any] = {"nodes": int(num_nodes), "source": source, "target": target}
        if edge_attr is not None:
            parts["edge_attr"] = _arrays.matrix(edge_attr, "edge_attr", len(source), "links")
        if x is not None:
            parts["x"] = _arrays.matrix(x, "x", num_nodes, "nodes")
        if y is not None:
            parts["y"] = _arrays.labels(y, task, class_names, num_nodes)
        masks = {"train": train_mask, "val": val_mask, "test": test_mask}
        parts_split = _arrays.split(masks, split, num_nodes)
        if parts_split is not None:
            parts["split"] = parts_split
        for key, texts, count in (
            ("names", names, num_nodes),
            ("feature_names", feature_names, parts["x"]["columns"] if x is not None else 0),
            (
                "attribute_names",
                attribute_names,
                parts["edge_attr"]["columns"] if edge_attr is not None else 0,
            ),
        ):
            if texts is None:
                continue
            parts[key] = [str(text) for text in texts]
            if len(parts[key]) != count:
                raise ValueError(f"{key}: has {len(parts[key])} names, expected {count}")
        if names is not None and len(set(parts["names"])) < num_nodes:
            raise ValueError("names: two nodes have the same name")
        rules = {
            "directed": directed,
            "separate_directions": separate_directions,
            "self_loops": self_loops,
            "duplicate_links": duplicate_links,
            "merge": merge,
        }
        self._core = _graph.build(parts, rules, threads)
        self.notes: list[str] = []

    @classmethod
    def _of(cls, core: _graph.Graph, notes: Iterable[str] = ()) -> Graph:
        graph = cls.__new__(cls)
        graph._core = core
        graph.notes = list(notes)
        return graph

    # ---- Other libraries

    @classmethod
    def from_pandas(
        cls, links: pandas.DataFrame, nodes: pandas.DataFrame | None = None, **options: Any
    ) -> Graph:
        """Make a graph from a table of links and, optionally, a table of nodes.

        Parameters
        ----------
        links : DataFrame
            One row per link.
        nodes : DataFrame, optional
            One row per node. Ids are in the column given by the option `id`, else in the column
            `id`, else in the index if it has a name, else in the first column.
        **options
            The options of :func:`lase.read_links`: source, target, attributes, label, split, …
            Without a split, all labeled nodes are training nodes.

        Returns
        -------
        Graph
            The same graph as from CSV files with the same contents.
        """
        from ._reading import read_frames

        return read_frames("links", links, nodes, options)

    @classmethod
    def from_networkx(cls, graph: networkx.Graph, **options: Any) -> Graph:
        """Make a graph from a NetworkX graph.

        Edge attributes become link attributes, and node attributes become node features, unless the
        options assign them another role.

        Parameters
        ----------
        graph : networkx.Graph
            A graph, directed graph or multigraph. For a directed graph, the option `directed` is
            True by default: node u aggregates from v if there is an edge u → v.
        **options
            The options of :func:`lase.read_links`, such as label and split.
        """
        import pandas

        source, target = "source", "target"
        rows = [{**data, source: u, target: v} for u, v, data in graph.edges(data=True)]
        links = pandas.DataFrame(rows, columns=None if rows else [source, target])
        nodes = pandas.DataFrame([{**data, "id": u} for u, data in graph.nodes(data=True)])
        options = {
            "source": source,
            "target": target,
            "id": "id",
            "directed": graph.is_directed(),
            **options,
        }
        return cls.from_pandas(links, nodes, **options)

    @classmethod
    def from_pyg(cls, data: Any, **options: Any) -> Graph:
        """Make a graph from a `torch_geometric.data.Data`.

        Parameters
        ----------
        data : torch_geometric.data.Data
            Its edge_index, edge_attr, x, y and masks are used.
        **options
            Other parameters of :class:`Graph`. By default, links are undirected, even if `data` is
            directed. With directed=True, messages flow as in PyTorch Geometric, from edge_index[0]
            to edge_index[1].
        """
        if not hasattr(data, "edge_index"):
            raise ValueError(
                "expected a torch_geometric.data.Data; convert other data with to_homogeneous()"
            )
        edge_index = _arrays.to_numpy(data.edge_index)
        if options.get("directed"):
            edge_index = edge_index[::-1]
        given = {"num_nodes": data.num_nodes}
        for name in ("edge_attr", "x", "y", "train_mask", "val_mask", "test_mask"):
            if getattr(data, name, None) is not None:
                given[name] = getattr(data, name)
        return cls(edge_index, **{**given, **options})

    def to_pyg(self) -> Any:
        """Make a `torch_geometric.data.Data`, which lists undirected links in both directions."""
        import torch
        from torch_geometric.data import Data

        def dense(value: Any) -> torch.Tensor:
            return torch.from_numpy(np.array(value.toarray() if _arrays.is_sparse(value) else value))

        target = np.repeat(np.arange(self.num_nodes), np.diff(self._core.row_ptr))
        data = Data(
            edge_index=torch.from_numpy(np.stack([self._core.neighbor.astype(np.int64), target])),
            num_nodes=self.num_nodes,
        )
        if self.attribute_names:
            data.edge_attr = dense(self.edge_attr[np.asarray(self._core.link)])
        if self.feature_names:
            data.x = dense(self.x)
        if self.y is not None:
            data.y = torch.from_numpy(np.array(self._core.labels["values"]))
            if self.task == "single-label":
                data.y = data.y.long()
        for name, mask in (
            ("train_mask", self.train_mask),
            ("val_mask", self.val_mask),
            ("test_mask", self.test_mask),
        ):
            if mask is not None:
                setattr(data, name, torch.from_numpy(mask))
        return data

    def to_pandas(self) -> tuple[pandas.DataFrame, pandas.DataFrame]:
        """Make a table of links and a table of nodes."""
        import pandas

        names = np.array(self.names, dtype=object)
        source = np.repeat(np.arange(self.num_nodes), np.diff(self._core.row_ptr))
        target = np.asarray(self._core.neighbor)
        rows = np.asarray(self._core.link)
        keep = slice(None) if self.directed else source <= target
        links = pandas.DataFrame({"source": names[source[keep]], "target": names[target[keep]]})
        attributes = self.edge_attr[rows[keep]]
        links = pandas.concat([links, _frame(attributes, self.attribute_names)], axis=1)
        nodes = pandas.DataFrame({"id": names})
        labels = self._core.labels
        if self.task == "single-label":
            classes = np.array([*labels["names"], None], dtype=object)
            nodes["label"] = classes[labels["values"]]
        elif self.task is not None:
            for j, name in enumerate(labels["names"]):
                nodes[name] = labels["values"][:, j]
        if self.split is not None:
            nodes["split"] = self.split
        return links, pandas.concat([nodes, _frame(self.x, self.feature_names)], axis=1)

    # ---- Files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the graph to a file, which :func:`lase.open` and the program `lase` read."""
        self._core.save(_arrays.path_text(path))

    def export(self, folder: str | os.PathLike[str]) -> None:
        """Write the graph to CSV and .npy files in a folder."""
        self._core.export(_arrays.path_text(folder))

    def __reduce__(self) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "graph")
            self.save(path)
            with builtins.open(path, "rb") as file:
                return _from_bytes, (file.read(), self.notes)

    # ---- Contents

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return self._core.nodes

    @property
    def num_links(self) -> int:
        """Number of links; an undirected link counts once."""
        return self._core.links

    @property
    def directed(self) -> bool:
        """Whether links are directed: source nodes aggregate from their target nodes only."""
        return self._core.directed

    @property
    def names(self) -> list[str]:
        """Names (ids) of the nodes, in the order of the rows of `x`, `y` and predictions."""
        return self._core.names

    @property
    def feature_names(self) -> list[str]:
        """Names of the node features."""
        return self._core.feature_names

    @property
    def attribute_names(self) -> list[str]:
        """Names of the link attributes."""
        return self._core.attribute_names

    @property
    def class_names(self) -> list[str]:
        """Names of the classes, or of the regression targets."""
        return self._core.labels["names"]

    @property
    def x(self) -> Any:
        """Node features: a read-only array that shares the memory of the graph, or a SciPy matrix."""
        return _arrays.from_parts(self._core.features)

    @property
    def edge_attr(self) -> Any:
        """Link attributes: a read-only array that shares the memory of the graph, or a SciPy matrix.

        If directions are separate, link i has the rows 2i and 2i + 1. Attributes that are stored as
        a dictionary of distinct rows are copied.
        """
        return _arrays.from_parts(self._core.link_attributes)

    @property
    def y(self) -> np.ndarray | None:
        """Class numbers (-1 if unknown), or a matrix of labels or targets (NaN if unknown)."""
        return self._core.labels.get("values")

    @property
    def task(self) -> str | None:
        """'single-label', 'multi-label' or 'regression'; None without labels."""
        task = self._core.labels["task"]
        return None if task == "none" else task

    @property
    def split(self) -> np.ndarray | None:
        """The split of every node as a word: train, val, test or none. None without a split."""
        split = self._core.split
        return np.array(_SPLITS, dtype=object)[split] if split.size > 0 else None

    def _mask(self, number: int) -> np.ndarray | None:
        split = self._core.split
        return split == number if split.size > 0 else None

    @property
    def train_mask(self) -> np.ndarray | None:
        """Mask of the training nodes; None without a split."""
        return self._mask(1)

    @property
    def val_mask(self) -> np.ndarray | None:
        """Mask of the validation nodes; None without a split."""
        return self._mask(2)

    @property
    def test_mask(self) -> np.ndarray | None:
        """Mask of the test nodes; None without a split."""
        return self._mask(3)

    # ---- Nodes

    def index(self, nodes: Any) -> np.ndarray:
        """Numbers of nodes, given their names.

        A name may be an integer, as in a table with integer ids. Raises ValueError if there is no
        such node.
        """
        given = _arrays.to_numpy(nodes)
        single = given.ndim == 0
        given = given.reshape(-1)
        if self._numbered() and given.dtype.kind in "iu":
            if given.size > 0 and not (0 <= given.min() and given.max() < self.num_nodes):
                wrong = given[(given < 0) | (given >= self.num_nodes)][0]
                raise ValueError(f"the graph has no node {wrong}; it has {self.num_nodes} nodes")
            result = given.astype(np.int64)
        else:
            position = self._positions()
            try:
                result = np.array([position[str(name)] for name in given], dtype=np.int64)
            except KeyError as error:
                raise ValueError(f"the graph has no node {error.args[0]!r}") from None
        return result[0] if single else result

    def _numbered(self) -> bool:
        if not hasattr(self, "_is_numbered"):
            self._is_numbered = self._core.numbered
        return self._is_numbered

    def _positions(self) -> dict[str, int]:
        if not hasattr(self, "_position"):
            self._position = {name: i for i, name in enumerate(self.names)}
        return self._position

    def with_labels(
        self,
        y: Any,
        *,
        nodes: Any = None,
        split: Any = "same",
        task: str | None = None,
        class_names: Sequence[str] | None = None,
    ) -> Graph:
        """Make a graph with other labels, which shares all other data.

        Parameters
        ----------
        y : array
            Labels as for :class:`Graph`, of all nodes or of `nodes`; None to remove the labels.
        nodes : sequence, optional
            Names of the labeled nodes. All others are unlabeled.
        split : array of str, optional
            The new split. By default, the same; None for no split.
        task, class_names : optional
            As for :class:`Graph`.
        """
        parts = None
        if y is not None:
            values = _arrays.to_numpy(y)
            if nodes is None:
                parts = _arrays.labels(values, task, class_names, self.num_nodes)
            else:
                index = self.index(nodes)
                if np.unique(index).size < index.size:
                    raise ValueError("nodes: contains a node twice")
                given = _arrays.labels(values, task, class_names, len(index))
                unknown = -1 if given["task"] == "single-label" else np.nan
                shape = (self.num_nodes, *given["values"].shape[1:])
                parts = {**given, "values": np.full(shape, unknown, dtype=given["values"].dtype)}
                parts["values"][index] = given["values"]
        if isinstance(split, str) and split == "same":
            numbers = self._core.split if self._core.split.size > 0 else None
        else:
            numbers = _arrays.split({}, split, self.num_nodes)
        return Graph._of(self._core.with_labels(parts, numbers), self.notes)

    def with_split(self, split: Any = "60/20/20", seed: int = 1) -> Graph:
        """Make a graph with another split, which shares all other data.

        Parameters
        ----------
        split : str or array of str
            Percentages of a random split, stratified by label, such as '60/20/20'; or a word (train,
            val, test or none) for every node.
        seed : int, default=1
            Random seed.
        """
        numbers = (
            self._core.stratified_split(split, seed)
            if isinstance(split, str)
            else _arrays.split({}, split, self.num_nodes)
        )
        return self._with_split(numbers)

    def _with_split(self, numbers: np.ndarray | None) -> Graph:
        labels = self._core.labels if self.task is not None else None
        return Graph._of(self._core.with_labels(labels, numbers), self.notes)

    def describe(self) -> dict[str, Any]:
        """Sizes, splits and classes, as printed by `lase info --json`."""
        return self._core.describe()

    def __repr__(self) -> str:
        parts = [f"{self.num_nodes} nodes", f"{self.num_links} links"]
        if self.feature_names:
            parts.append(f"{len(self.feature_names)} node features")
        if self.attribute_names:
            parts.append(f"{len(self.attribute_names)} link attributes")
        if self.task is not None:
            what = "targets" if self.task == "regression" else "classes"
            parts.append(f"{len(self.class_names)} {what}")
        return f"Graph({', '.join(parts)})"

    def __str__(self) -> str:
        return self._core.text().rstrip()


def open(path: str | os.PathLike[str], *, check: bool = True) -> Graph:
    """Open a graph file.

    Parameters
    ----------
    path : str or path
        A file written by :meth:`Graph.save` or `lase import`.
    check : bool, default=True
        Verify checksums and indices, which reads the whole file once. Without it, opening takes
        milliseconds, but a damaged file may crash the process.

    Returns
    -------
    Graph
        The file is memory-mapped: arrays are read from it when they are used.
    """
    return Graph._of(_graph.open(_arrays.path_text(path), check))


def is_partitioned(graph: Any) -> bool:
    """Whether this is the folder of a partitioned graph."""
    return isinstance(graph, (str, os.PathLike)) and _graph.is_partitioned(os.fsdecode(graph))


def as_graph(graph: Any) -> Graph:
    """The graph itself, or the graph in a file."""
    if isinstance(graph, Graph):
        return graph
    if isinstance(graph, (str, os.PathLike)):
        return open(graph)
    raise TypeError(f"expected a lase.Graph or the path of a graph file, not {type(graph).__name__}")


def _from_bytes(data: bytes, notes: list[str]) -> Graph:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "graph")
        with builtins.open(path, "wb") as file:
            file.write(data)
        # The file stays mapped after it is removed.
        return Graph._of(_graph.open(path, True), notes)


def _link_ends(
    edge_index: Any, edge_attr: Any, num_nodes: int | None
) -> tuple[np.ndarray, np.ndarray, Any, int | None]:
    if _arrays.is_sparse(edge_index):
        matrix = edge_index.tocoo()
        if matrix.shape[0] != matrix.shape[1]:
            raise ValueError(f"edge_index: has shape {matrix.shape}, expected a square matrix")
        source = np.ascontiguousarray(matrix.row, dtype=np.int64)
        target = np.ascontiguousarray(matrix.col, dtype=np.int64)
        if num_nodes is not None and num_nodes != matrix.shape[0]:
            raise ValueError(f"num_nodes {num_nodes}: the adjacency matrix has {matrix.shape[0]} rows")
        return source, target, matrix.data if edge_attr is None else edge_attr, matrix.shape[0]
    array = _arrays.to_numpy(edge_index)
    if array.ndim != 2 or array.shape[0] != 2:
        raise ValueError(
            f"edge_index: has shape {tuple(array.shape)}, expected (2, links): sources and targets"
        )
    source, target = (_arrays.integers(ends, "edge_index") for ends in array)
    return source, target, edge_attr, num_nodes


def _frame(values: Any, names: list[str]) -> pandas.DataFrame:
    import pandas

    if _arrays.is_sparse(values):
        return pandas.DataFrame.sparse.from_spmatrix(values, columns=names)
    return pandas.DataFrame(np.asarray(values), columns=names)
