"""Estimators for links."""

import pickle

import numpy as np
import pandas
import pytest

import lase

NODES = 60


@pytest.fixture(scope="module")
def payments():
    """Payments, which are bad if the amount is high."""
    random = np.random.default_rng(1)
    rows = 900
    source = random.integers(NODES, size=rows)
    target = (source + random.integers(1, NODES, size=rows)) % NODES
    amount = random.normal(size=rows)
    return pandas.DataFrame(
        {
            "source": [f"n{u}" for u in source],
            "target": [f"n{v}" for v in target],
            "amount": amount,
            "status": np.where(amount > 0.3, "bad", "good"),
            "next": 2 * amount + 1,
        }
    )


@pytest.fixture(scope="module")
def communities():
    """Two groups of nodes, linked within each."""
    random = np.random.default_rng(2)
    source = random.integers(NODES, size=500)
    target = (source + 2 * random.integers(1, NODES // 2, size=500)) % NODES  # of the same parity
    return np.stack([source, target])


def read(links, **options):
    return lase.Graph.from_pandas(links, attributes=["amount"], link_split="60/20/20", **options)


def test_classifies_links_by_their_own_attributes(payments, tmp_path):
    graph = read(payments, link_label="status")
    model = lase.LinkClassifier(epochs=30, seed=1, features="none", quiet=True).fit(graph)
    assert model.score(graph) > 0.95
    assert list(model.classes_) == list(model.model_.label_names)
    probabilities = model.predict_proba(graph)
    assert probabilities.shape == (len(payments), 2)
    assert np.allclose(probabilities.sum(axis=1), 1, atol=1e-5)
    table = model.predict_table(graph)
    assert list(table.columns) == ["source", "target", "label", *model.model_.label_names]
    assert list(table["source"]) == list(payments["source"])
    assert (table["label"] == payments["status"]).mean() > 0.95
    assert (model.predict(graph) == table["label"]).all()
    path = tmp_path / "links.model"
    model.save(path)
    loaded = lase.load(path)
    assert isinstance(loaded, lase.LinkClassifier)
    assert loaded.evaluate(graph) == model.evaluate(graph)
    assert pickle.loads(pickle.dumps(model)).evaluate(graph, "val") == model.evaluate(graph, "val")


def test_predicts_numbers_of_links(payments):
    graph = read(payments, link_regress=["next"])
    model = lase.LinkRegressor(epochs=60, seed=1, features="none", quiet=True).fit(graph)
    assert model.predict(graph).shape == (len(payments),)
    assert model.score(graph) > 0.8


@pytest.mark.parametrize("decoder", ["dot", "bilinear", "mlp"])
def test_predicts_links(communities, decoder):
    graph = lase.Graph(communities)
    model = lase.LinkPredictor(epochs=20, seed=1, decoder=decoder, features="line", quiet=True)
    model.fit(graph)
    scores = model.evaluate(graph)
    assert scores["roc_auc"] > 0.65
    assert 0 <= model.score(graph) <= 1
    assert model.decision_function(graph).shape == (graph.num_links,)
    best = model.top(graph, 3, nodes=["5", "8"])
    assert list(best["source"]) == ["5"] * 3 + ["8"] * 3
    linked = {frozenset(pair) for pair in communities.T.tolist()}
    assert not any(frozenset((int(u), int(v))) in linked for u, v in zip(best.source, best.target))


def test_learns_embeddings_without_labels(communities):
    model = lase.Embedder(epochs=5, seed=1, widths=(8, 8), features="none", quiet=True)
    embedding = model.fit_transform(lase.Graph(communities))
    assert embedding.shape == (NODES, 16)
    assert np.isfinite(embedding).all()


def test_tells_what_is_wrong(communities):
    graph = lase.Graph(communities)
    with pytest.raises(ValueError, match="task links: the graph has no labels of links"):
        lase.LinkClassifier(quiet=True).fit(graph)
    with pytest.raises(TypeError, match="task"):
        lase.LinkClassifier(task="nodes")
    model = lase.LinkPredictor(epochs=1, features="none", quiet=True).fit(graph)
    with pytest.raises(ValueError, match="must be train, val or test"):
        model.evaluate(graph, "never")
    with pytest.raises(ValueError, match="relation"):
        model.top(graph, relation="likes")
