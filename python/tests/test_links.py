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


def test_calibrates_probabilities(payments):
    graph = read(payments, link_label="status")
    options = dict(epochs=5, seed=1, features="none", quiet=True)
    plain = lase.LinkClassifier(**options).fit(graph)
    model = lase.LinkClassifier(**options, calibrate=True).fit(graph)
    assert plain.temperature_ == 1 and model.temperature_ != 1
    assert model.temperature_ == model.result_["temperature"]
    assert model.evaluate(graph, "val")["log_loss"] < plain.evaluate(graph, "val")["log_loss"]
    p = np.log(plain.predict_proba(graph)).astype(float) / model.temperature_
    expected = np.exp(p) / np.exp(p).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(graph), expected, atol=1e-5)
    regression = read(payments, link_regress=["next"])
    with pytest.raises(ValueError, match="calibrate: the task has no classes"):
        lase.LinkRegressor(epochs=1, calibrate=True, quiet=True).fit(regression)


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


def test_explains_labels_of_links(payments):
    graph = read(payments, link_label="status")
    model = lase.LinkClassifier(epochs=30, seed=1, widths=(8,), features="none", quiet=True)
    model.fit(graph)
    table = model.predict_table(graph)
    source, target = table["source"][0], table["target"][0]
    explanation = model.explain(graph, source=source, target=target, neighbors=3)
    data = explanation.to_dict()
    assert (data["source"], data["target"], data["row"]) == (source, target, 0)
    assert data["output"] == table["label"][0]
    assert [entry["name"] for entry in data["attributes"]["inputs"]] == ["amount"]
    assert data == model.explain(graph, row=0, neighbors=3).to_dict()
    assert len(data["ends"]["source"]["layers"][0]["neighbors"]) == 3
    assert list(explanation.to_pandas()["end"]) == ["source"] * 3 + ["target"] * 3
    assert f"link {source} → {target}" in str(explanation)
    assert explanation._repr_html_().startswith("<svg")
    other = model.explain(graph, row=0, output=model.classes_[0])
    assert other.to_dict()["output"] == model.classes_[0]
    for arguments, message in [
        ({"source": source}, "source and target, or row"),
        ({"source": source, "target": source}, "must differ"),
        ({"row": 10**6}, "no target link in row"),
        ({"row": 0, "output": "nothing"}, "expected one of"),
        ({"row": 0, "relation": "r"}, "relation"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.explain(graph, **arguments)


def test_explains_numbers_of_links(payments):
    graph = read(payments, link_regress="next")  # or ["next"]
    model = lase.LinkRegressor(epochs=5, seed=1, widths=(8,), features="none", quiet=True)
    model.fit(graph)
    test = 5
    text = str(model.explain(graph, row=test))
    assert f"row {test}: next " in text


def test_explains_partners(communities):
    pytest.importorskip("matplotlib").use("agg")
    graph = lase.Graph(communities)
    model = lase.LinkPredictor(epochs=3, seed=1, widths=(8,), features="none", quiet=True)
    model.fit(graph)
    best = model.top(graph, 1, nodes=["5"])
    explanation = model.explain(graph, "5", best["target"][0])
    data = explanation.to_dict()
    assert "row" not in data
    assert data["score"] == pytest.approx(best["score"][0], abs=1e-5)
    assert len(data["statistics"]["inputs"]) > 0
    assert explanation.plot().get_title() == f"link 5 → {best['target'][0]}"


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
    assert model.evaluate(graph)["ranking"] == "sampled"
    other = lase.Graph(communities[:, ::2])  # all of its links are in no split
    assert model.evaluate(other, "none")["links"] > 0
    with pytest.raises(ValueError, match="use split none"):
        model.evaluate(other)
    with pytest.warns(UserWarning, match="link_split has no effect, because the graph has a split"):
        split = lase.Graph.from_pandas(
            pandas.DataFrame(communities.T, columns=["source", "target"]), link_split="60/20/20"
        )
        lase.LinkPredictor(epochs=1, features="none", quiet=True, link_split="50/25/25").fit(split)
    with pytest.raises(ValueError, match="must be train, val, test or none"):
        model.evaluate(graph, "never")
    with pytest.raises(ValueError, match="relation"):
        model.top(graph, relation="likes")
