from __future__ import annotations

import gc
import inspect
import pathlib
import pickle

import numpy as np
import pytest
import scipy.sparse

import lase

LINKS = np.array([[0, 1, 2, 3], [1, 2, 3, 0]])
ATTRIBUTES = np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 1.0], [4.0, 0.0]], dtype=np.float32)


def test_from_arrays() -> None:
    graph = lase.Graph(
        LINKS, ATTRIBUTES, x=np.eye(4), y=[0, 1, 0, -1], train_mask=[0, 1], test_mask=[2]
    )
    assert (graph.num_nodes, graph.num_links) == (4, 4)
    assert graph.names == ["0", "1", "2", "3"]
    np.testing.assert_array_equal(graph.edge_attr, ATTRIBUTES)
    np.testing.assert_array_equal(graph.x, np.eye(4))
    assert graph.task == "single-label"
    assert list(graph.y) == [0, 1, 0, -1]
    assert list(graph.split) == ["train", "train", "test", "none"]
    assert repr(graph) == "Graph(4 nodes, 4 links, 4 node features, 2 link attributes, 2 classes)"
    assert "nodes            4" in str(graph)


def test_tensors_frames_and_sparse_matrices_give_the_same_graph() -> None:
    torch = pytest.importorskip("torch")
    pandas = pytest.importorskip("pandas")
    plain = lase.Graph(LINKS, ATTRIBUTES, x=np.eye(4))
    for other in (
        lase.Graph(torch.tensor(LINKS), torch.tensor(ATTRIBUTES), x=torch.eye(4)),
        lase.Graph(LINKS, pandas.DataFrame(ATTRIBUTES), x=pandas.DataFrame(np.eye(4))),
        lase.Graph(LINKS.tolist(), ATTRIBUTES.tolist(), x=np.eye(4).tolist()),
    ):
        assert other._core.fingerprint() == plain._core.fingerprint()
    sparse = lase.Graph(LINKS, scipy.sparse.csr_matrix(ATTRIBUTES), x=scipy.sparse.eye(4))
    np.testing.assert_array_equal(sparse.edge_attr.toarray(), ATTRIBUTES)
    np.testing.assert_array_equal(sparse.x.toarray(), np.eye(4))


def test_sparse_adjacency() -> None:
    weights = scipy.sparse.coo_matrix((ATTRIBUTES[:, 0], LINKS), shape=(5, 5))
    graph = lase.Graph(weights)
    assert (graph.num_nodes, graph.num_links) == (5, 4)
    np.testing.assert_array_equal(graph.edge_attr, ATTRIBUTES[:, :1])


def test_features_are_shared_and_kept_alive() -> None:
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    graph = lase.Graph(LINKS, x=x)
    assert np.shares_memory(graph.x, x)
    view = graph.x
    del graph, x
    gc.collect()
    np.testing.assert_array_equal(view, np.arange(8).reshape(4, 2))
    with pytest.raises(ValueError):
        view[0, 0] = 1


def test_views_of_a_mapped_file_keep_it_alive(tmp_path: pathlib.Path) -> None:
    lase.Graph(LINKS, ATTRIBUTES).save(tmp_path / "a.graph")
    attributes = lase.open(tmp_path / "a.graph").edge_attr
    (tmp_path / "a.graph").unlink()
    gc.collect()
    np.testing.assert_array_equal(attributes, ATTRIBUTES)
    assert not attributes.flags.writeable


def test_links_listed_in_both_directions_count_once() -> None:
    both = np.concatenate([LINKS, LINKS[::-1]], axis=1)
    twice = np.concatenate([ATTRIBUTES, ATTRIBUTES])
    graph = lase.Graph(both, twice)
    assert graph.num_links == 4
    np.testing.assert_array_equal(np.sort(graph.edge_attr[:, 0]), [1, 2, 3, 4])
    twice[0, 0] = 7  # the directions differ, so they are merged
    assert np.sort(lase.Graph(both, twice).edge_attr[:, 0]).tolist() == [4, 6, 8, 8]
    sparse = lase.Graph(both, scipy.sparse.csr_matrix(np.concatenate([ATTRIBUTES, ATTRIBUTES])))
    np.testing.assert_array_equal(sparse.edge_attr.toarray(), graph.edge_attr)


def test_rules_for_links() -> None:
    links = [[0, 0, 1, 2], [1, 1, 1, 0]]
    weight = [1.0, 2.0, 4.0, 8.0]
    assert lase.Graph(links, weight).edge_attr.ravel().tolist() == [3, 8]
    assert lase.Graph(links, weight, merge="max").edge_attr.ravel().tolist() == [2, 8]
    assert lase.Graph(links, weight, duplicate_links="keep").num_links == 3
    assert lase.Graph(links, weight, self_loops="keep").num_links == 3
    assert lase.Graph(links, weight, directed=True).directed
    assert lase.Graph(links, weight, separate_directions=True).attribute_names == [
        "out attribute 0",
        "in attribute 0",
    ]
    with pytest.raises(ValueError, match="joins node '1' to itself"):
        lase.Graph(links, self_loops="error")
    with pytest.raises(ValueError, match="directed and separate_directions are mutually exclusive"):
        lase.Graph(links, directed=True, separate_directions=True)
    with pytest.raises(ValueError, match="merge 'most': "):
        lase.Graph(links, merge="most")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(edge_index=[[0, 1]]), r"edge_index: has shape \(1, 2\), expected \(2, links\)"),
        (dict(edge_index=[[0.5], [1.0]]), "edge_index: expected integers"),
        (dict(edge_index=[[0], [9]], num_nodes=3), "link 0 has node 9, expected 0 to 2"),
        (dict(edge_index=[[-1], [0]]), "link 0 has node -1"),
        (dict(edge_index=LINKS, edge_attr=[1.0]), "edge_attr: has 1 rows, expected one for each of 4"),
        (dict(edge_index=LINKS, edge_attr=[1, np.nan, 2, 3]), "edge_attr: row 1, column 0 is nan"),
        (dict(edge_index=LINKS, x=[["a"]] * 4), "x: expected numbers"),
        (dict(edge_index=LINKS, x=np.full((4, 1), np.inf)), "x: row 0, column 0 is inf"),
        (dict(edge_index=LINKS, y=[0, 1]), "link 2 has node 2, expected 0 to 1"),
        (dict(edge_index=LINKS, num_nodes=4, y=[0, 1]), "y: has shape"),
        (dict(edge_index=LINKS, train_mask=[0], val_mask=[0]), "also in another mask"),
        (dict(edge_index=LINKS, split=["train", "x", "", "test"]), "split: contains 'x'"),
        (dict(edge_index=LINKS, names=["a", "a", "b", "c"]), "two nodes have the same name"),
        (dict(edge_index=LINKS, x=np.eye(4), feature_names=["a"]), "feature_names: has 1 names"),
        (dict(edge_index=LINKS, y=[0, 1, 2, 5], class_names=["a", "b"]), "y: contains class 5"),
    ],
)
def test_wrong_arrays_give_one_sentence(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        lase.Graph(**arguments)


def test_empty_graphs() -> None:
    graph = lase.Graph(np.zeros((2, 0), dtype=int))
    assert (graph.num_nodes, graph.num_links) == (0, 0)
    graph = lase.Graph(np.zeros((2, 0), dtype=int), num_nodes=3)
    assert (graph.num_nodes, graph.num_links, graph.y) == (3, 0, None)


def test_masks() -> None:
    for mask in ([False, True, False, True], [0, 1, 0, 1], [3, 1]):
        assert lase.Graph(LINKS, train_mask=mask).train_mask.tolist() == [False, True, False, True]
    with pytest.raises(ValueError, match="train_mask: contains a node twice"):
        lase.Graph(LINKS, train_mask=[2, 2])


def test_labels() -> None:
    def labels(y: object, **more: object) -> tuple:
        graph = lase.Graph(LINKS, y=y, **more)
        return graph.task, graph.class_names, np.asarray(graph.y).tolist()

    assert labels(["b", "a", None, "b"]) == ("single-label", ["a", "b"], [1, 0, -1, 1])
    assert labels([10, 9, -1, 10]) == ("single-label", ["9", "10"], [1, 0, -1, 1])
    assert labels([True, False, True, True]) == ("single-label", ["False", "True"], [1, 0, 1, 1])
    assert labels([1, 0, -1, 1], class_names=["x", "y"]) == ("single-label", ["x", "y"], [1, 0, -1, 1])
    task, names, values = labels([[1, 0], [0, 1], [1, 1], [0, 0]])
    assert (task, names, values) == ("multi-label", ["0", "1"], [[1, 0], [0, 1], [1, 1], [0, 0]])
    task, names, values = labels([0.5, 1, 2, np.nan])
    assert (task, names) == ("regression", ["target"])
    assert values[0] == [0.5] and np.isnan(values[3][0])
    classes = ("single-label", ["0", "7"], [0, 1, -1, 1])
    assert labels([0.0, 7.0, np.nan, 7.0])[0] == "regression"
    assert labels([0.0, 7.0, np.nan, 7.0], task="single-label") == classes
    pandas = pytest.importorskip("pandas")
    nullable = pandas.Series([0, 7, None, 7], dtype="Int64")
    assert labels(nullable)[0] == "regression"
    assert labels(nullable, task="single-label") == classes


def test_names_of_nodes_may_be_integers() -> None:
    graph = lase.Graph(LINKS, names=[10, 20, 30, 40])
    assert graph.index([20, "40"]).tolist() == [1, 3]
    assert graph.index(30) == 2
    with pytest.raises(ValueError, match="no node '1'"):
        graph.index([1])
    numbered = lase.Graph(LINKS)
    assert numbered.index(np.array([2, 0])).tolist() == [2, 0]
    with pytest.raises(ValueError, match="no node 4; it has 4 nodes"):
        numbered.index([4])


def test_other_labels_and_splits() -> None:
    graph = lase.Graph(LINKS, ATTRIBUTES)
    labeled = graph.with_labels(["x", "y"], nodes=[3, 0])
    assert np.asarray(labeled.y).tolist() == [1, -1, -1, 0]
    assert np.shares_memory(labeled.edge_attr, graph.edge_attr)
    assert graph.task is None
    split = labeled.with_split(["train", "val", "test", "none"])
    assert list(split.split) == ["train", "val", "test", "none"]
    many = lase.Graph(np.zeros((2, 0), dtype=int), y=np.arange(100) % 2).with_split("50/20/30")
    assert [mask.sum() for mask in (many.train_mask, many.val_mask, many.test_mask)] == [50, 20, 30]


def test_files(tmp_path: pathlib.Path) -> None:
    graph = lase.Graph(LINKS, ATTRIBUTES, y=["a", "b", "a", "b"])
    graph.save(tmp_path / "a.graph")
    opened = lase.open(str(tmp_path / "a.graph"))
    assert opened._core.fingerprint() == graph._core.fingerprint()
    unpickled = pickle.loads(pickle.dumps(graph))
    assert unpickled._core.fingerprint() == graph._core.fingerprint()
    with pytest.raises(FileNotFoundError, match="missing.graph: cannot be opened"):
        lase.open(tmp_path / "missing.graph")
    with pytest.raises(FileNotFoundError):
        graph.save(tmp_path / "no" / "folder.graph")
    (tmp_path / "bad.graph").write_text("no graph")
    with pytest.raises(ValueError, match="bad.graph"):
        lase.open(tmp_path / "bad.graph")
    with pytest.raises(TypeError, match="expected a lase.Graph"):
        lase.LINE().fit_transform(3)


def test_pandas(tmp_path: pathlib.Path) -> None:
    pandas = pytest.importorskip("pandas")
    links = pandas.DataFrame(
        {
            "from": ["a", "b", "c"],
            "to": ["b", "c", "a"],
            "amount": [1.5, np.nan, 3.0],
            "kind": pandas.Categorical(["x", "y", "x"]),
            "when": pandas.to_datetime(["2020-01-01", "2020-01-02", None]),
        }
    )
    nodes = pandas.DataFrame({"name": ["a", "b", "c"], "team": ["r", "g", "r"], "age": [1, 2, 3]})
    options = dict(source="from", target="to", id="name", label="team")
    graph = lase.Graph.from_pandas(links, nodes, **options)
    links.to_csv(tmp_path / "links.csv", index=False)
    nodes.to_csv(tmp_path / "nodes.csv", index=False)
    same = lase.read_links(tmp_path / "links.csv", nodes=tmp_path / "nodes.csv", **options)
    assert graph._core.fingerprint() == same._core.fingerprint()
    assert "amount" in graph.attribute_names
    table, people = graph.to_pandas()
    assert list(table.columns[:2]) == ["source", "target"]
    assert len(table) == 3 and list(people["label"]) == ["r", "g", "r"]
    with pytest.raises(ValueError, match="^links: .*no column"):
        lase.Graph.from_pandas(links, source="nobody")
    with pytest.raises(TypeError, match="did you mean 'source'"):
        lase.Graph.from_pandas(links, sources="from")


def test_parquet(tmp_path: pathlib.Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    links = pandas.DataFrame({"source": [1, 2], "target": [2, 3], "weight": [0.5, 0.25]})
    links.to_parquet(tmp_path / "links.parquet")
    graph = lase.read_links(tmp_path / "links.parquet")
    assert graph.edge_attr.ravel().tolist() == [0.5, 0.25]


def test_networkx() -> None:
    networkx = pytest.importorskip("networkx")
    source = networkx.Graph()
    source.add_node("a", size=1.0, group="x")
    source.add_node("b", size=2.0, group="y")
    source.add_node("alone", size=3.0, group="y")
    source.add_edge("a", "b", weight=0.5)
    graph = lase.Graph.from_networkx(source, label="group")
    assert (graph.num_nodes, graph.num_links) == (3, 1)
    assert graph.attribute_names == ["weight"]
    assert graph.class_names == ["x", "y"]
    assert "size" in graph.feature_names
    assert lase.Graph.from_networkx(source.to_directed()).directed


def test_pyg() -> None:
    torch = pytest.importorskip("torch")
    pyg = pytest.importorskip("torch_geometric.data")
    graph = lase.Graph(LINKS, ATTRIBUTES, x=np.eye(4), y=[0, 1, 0, 1], train_mask=[0, 1])
    data = graph.to_pyg()
    assert data.is_undirected()
    assert data.edge_index.shape == (2, 8)
    assert data.y.dtype == torch.int64
    back = lase.Graph.from_pyg(data)
    assert back.num_links == 4
    np.testing.assert_array_equal(back.x, graph.x)
    np.testing.assert_array_equal(np.sort(back.edge_attr[:, 0]), [1, 2, 3, 4])
    directed = lase.Graph.from_pyg(
        pyg.Data(edge_index=torch.tensor([[0], [1]]), num_nodes=2), directed=True
    )
    assert np.diff(directed._core.row_ptr).tolist() == [0, 1]  # node 1 aggregates from node 0


def test_ids_of_data_frames() -> None:
    pandas = pytest.importorskip("pandas")
    links = pandas.DataFrame({"source": ["a", "b"], "target": ["b", "a"]})
    columns = {"first": ["a", "b"], "other": ["b", "a"]}
    nodes = pandas.DataFrame(columns)

    def names(table: object, **options: object) -> list[str]:
        return lase.Graph.from_pandas(links, table, **options).names

    assert names(nodes) == ["a", "b"]
    assert names(nodes, id="other") == ["b", "a"]
    assert names(nodes.set_index("other")) == ["b", "a"]
    assert names(nodes.rename(columns={"other": "id"}).set_index("first")) == ["b", "a"]
    assert names(nodes.rename(columns={"other": "id"})) == ["b", "a"]


def test_directions() -> None:
    networkx = pytest.importorskip("networkx")
    degrees = lambda graph: np.diff(graph._core.row_ptr).tolist()  # noqa: E731
    assert degrees(lase.Graph([[0], [1]], directed=True)) == [1, 0]  # node 0 aggregates from node 1
    assert degrees(lase.Graph([[0], [1]])) == [1, 1]
    assert degrees(lase.Graph.from_networkx(networkx.DiGraph([(0, 1)]))) == [1, 0]
    assert degrees(lase.Graph.from_networkx(networkx.DiGraph([(0, 1)]), directed=False)) == [1, 1]


def test_signatures_of_readers(tmp_path: pathlib.Path) -> None:
    parameters = inspect.signature(lase.read_sets).parameters
    assert parameters["file"].kind is inspect.Parameter.POSITIONAL_ONLY
    assert parameters["members"].default is inspect.Parameter.empty
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'members'"):
        lase.read_sets(tmp_path / "papers.csv")


def test_reading_reports_what_is_wrong(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "links.csv"
    path.write_text("source,target,weight\na,b,1\nb,c,x\n" + "c,d,1\n" * 200)
    with pytest.raises(ValueError, match="links.csv: line 3"):
        lase.read_links(path, types=["weight=number"])
    with pytest.raises(FileNotFoundError):
        lase.read_links(tmp_path / "none.csv")
    with pytest.raises(TypeError, match="did you mean 'source'"):
        lase.read_links(path, sorce="a")
    with pytest.raises(ValueError, match="self_loops 'x'"):
        lase.read_links(path, self_loops="x")
    help_text = lase.read_links.__doc__ or ""
    assert "separate_directions : bool, default=False" in help_text


def test_suspicious_columns_give_a_warning(tmp_path: pathlib.Path) -> None:
    rows = [f"n{i},n{(i + 1) % 100},1" for i in range(100)]
    (tmp_path / "links.csv").write_text("source,target,w\n" + "\n".join(rows))
    people = [f"n{i},{i % 2},{i % 2}" for i in range(100)]
    (tmp_path / "nodes.csv").write_text("id,label,copy\n" + "\n".join(people))
    with pytest.warns(UserWarning, match="'copy' alone predicts the label"):
        lase.read_links(tmp_path / "links.csv", nodes=tmp_path / "nodes.csv", label="label")


def test_ids_labels_and_times_of_data_frames_are_exact() -> None:
    pandas = pytest.importorskip("pandas")
    links = pandas.DataFrame({"a": [12345678901.0, 12345678902.0, np.nan], "b": [1.0, 2.0, 3.0]})
    graph = lase.Graph.from_pandas(links[:2], source="a", target="b")
    assert graph.names == ["12345678901", "1", "12345678902", "2"]
    nullable = pandas.DataFrame({"f": pandas.array([1, 2, 3, 4], dtype="Int64")})
    assert lase.Graph(LINKS, x=nullable).x.ravel().tolist() == [1, 2, 3, 4]
    labels = pandas.array(["b", pandas.NA, "a", ""], dtype="string")
    assert np.asarray(lase.Graph(LINKS, y=labels).y).tolist() == [1, -1, 0, -1]


def test_parallel_links_in_both_directions_count_once_in_any_order() -> None:
    ends = [[0, 0, 1, 1], [1, 1, 0, 0]]
    for weights in ([1.0, 2.0, 1.0, 2.0], [1.0, 2.0, 2.0, 1.0]):
        assert lase.Graph(ends, weights).edge_attr.tolist() == [[3.0]]
        assert lase.Graph(ends, weights, duplicate_links="keep").num_links == 2


def test_large_node_numbers_are_refused_at_once() -> None:
    with pytest.raises(ValueError, match="nodes in edge_index are numbered from 0"):
        lase.Graph([[0, 2**40], [1, 0]])
    with pytest.raises(ValueError, match="-3 nodes"):
        lase.Graph(np.zeros((2, 0), dtype=int), num_nodes=-3)


def test_sparse_matrices_are_checked_and_not_changed() -> None:
    matrix = scipy.sparse.csr_matrix(([1.0, 2.0, 3.0], [1, 1, 0], [0, 2, 3, 3, 3]), shape=(4, 2))
    assert lase.Graph(LINKS, x=matrix).x.toarray()[0].tolist() == [0, 3]
    assert matrix.nnz == 3
    matrix.indices[0] = 700_000_000
    with pytest.raises(ValueError, match="x: is not a valid sparse matrix"):
        lase.Graph(LINKS, x=matrix)
