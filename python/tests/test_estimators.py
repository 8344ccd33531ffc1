from __future__ import annotations

import inspect
import multiprocessing
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest
from safetensors_weights import weights

import lase


def test_classifies_nodes(mail: lase.Graph, model: lase.NodeClassifier) -> None:
    assert model.score(mail) > 0.4
    predicted = model.predict(mail)
    assert predicted.shape == (200,) and set(predicted) <= set(model.classes_)
    chances = model.predict_proba(mail, nodes=["p0003", "p0001"])
    assert chances.shape == (2, len(model.classes_))
    np.testing.assert_allclose(chances.sum(1), 1, rtol=1e-5)
    np.testing.assert_array_equal(chances[1], model.predict_proba(mail)[mail.index("p0001")])
    assert model.transform(mail).shape[0] == 200
    assert 1 <= model.best_epoch_ <= model.n_iter_ <= 20
    assert [epoch["epoch"] for epoch in model.history_] == list(range(1, model.n_iter_ + 1))
    scores = model.evaluate(mail)
    assert scores["accuracy"] == model.score(mail)
    assert set(scores["classes"]) == set(model.classes_)
    table = model.predict_table(mail)
    assert list(table.columns[:3]) == ["node", "label", "probability"]
    np.testing.assert_array_equal(table["label"], predicted)


def test_known_labels_are_inputs(mail: lase.Graph, tmp_path: pathlib.Path) -> None:
    model = lase.NodeClassifier(epochs=3, label_inputs="on").fit(mail)
    names = [f"label={name}" for name in model.classes_]
    assert list(model.feature_names_in_)[-len(names) :] == names
    model.save(tmp_path / "mail.model")
    loaded = lase.load(tmp_path / "mail.model")
    np.testing.assert_array_equal(loaded.predict_proba(mail), model.predict_proba(mail))


def test_common_neighbors_are_a_link_attribute(mail: lase.Graph, tmp_path: pathlib.Path) -> None:
    model = lase.NodeClassifier(epochs=3, common_neighbors="on").fit(mail)
    plain = lase.NodeClassifier(epochs=3, common_neighbors="off").fit(mail)
    assert model.predict_proba(mail).shape == plain.predict_proba(mail).shape
    model.save(tmp_path / "mail.model")
    loaded = lase.load(tmp_path / "mail.model")
    np.testing.assert_array_equal(loaded.predict_proba(mail), model.predict_proba(mail))
    names = {
        attribute["name"]
        for layer in loaded.explain(mail, mail.names[0], attributes=1000).to_dict()["layers"]
        for neighbor in layer["neighbors"]
        for attribute in neighbor["attributes"]
    }
    assert "common neighbors" in names


def test_labels_of_predicted_nodes_are_not_inputs(mail: lase.Graph) -> None:
    graph = mail._with_split(None)
    names = np.array(graph.names)
    train, held_out = names[::2], names[1::2]
    y = np.array(graph.class_names)[graph.y]
    other = y.copy()
    other[1::2] = np.roll(y[1::2], 1)
    changed = graph.with_labels(other)
    assert (other != y).any()
    model = lase.NodeClassifier(epochs=3, label_inputs="on").fit(graph, nodes=train)
    expected = model.predict_proba(graph, nodes=held_out)
    np.testing.assert_array_equal(model.predict_proba(changed, nodes=held_out), expected)
    assert (model.predict_proba(changed) != model.predict_proba(graph)).any()
    scores = model.evaluate(graph, nodes=held_out, y=y[1::2])
    assert scores["accuracy"] == model.score(graph, nodes=held_out)
    right = model.predict(graph, nodes=held_out) == y[1::2]
    assert scores["accuracy"] == pytest.approx(right.mean())
    # Bound to a graph, predictions read the labels given to fit() only.
    chances = [
        lase.NodeClassifier(epochs=3, label_inputs="on")
        .on(of)
        .fit(train, y[::2])
        .predict_proba(names)
        for of in (graph, changed, mail)
    ]
    np.testing.assert_array_equal(chances[1], chances[0])
    np.testing.assert_array_equal(chances[2], chances[0])


def test_fit_has_the_options_of_the_program() -> None:
    signature = inspect.signature(lase.NodeClassifier)
    assert signature.parameters["epochs"].default == 200
    assert signature.parameters["widths"].default == (128, 128)
    assert "learning_rate : float, default=0.01" in (lase.NodeClassifier.__doc__ or "")
    with pytest.raises(TypeError, match="did you mean 'epochs'"):
        lase.NodeClassifier(epoch=3)
    assert repr(lase.NodeClassifier(epochs=3, seed=2)) == "NodeClassifier(epochs=3, seed=2)"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(epochs=0), "epochs 0: "),
        (dict(learning_rate="fast"), "learning_rate 'fast'"),
        (dict(model="gat"), "model 'gat'"),
        (dict(widths=(8, "x")), "widths"),
        (dict(transductive=True, strict_inductive=True), "mutually exclusive"),
    ],
)
def test_invalid_options_give_one_sentence(mail: lase.Graph, options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        lase.NodeClassifier(**options).fit(mail)


def test_unfitted_and_unlabeled(mail: lase.Graph) -> None:
    with pytest.raises(ValueError, match="not fitted"):
        lase.NodeClassifier().predict(mail)
    with pytest.raises(ValueError, match="has no labels"):
        lase.NodeClassifier().fit(mail.with_labels(None))
    with pytest.raises(ValueError, match="use NodeClassifier"):
        lase.NodeRegressor().fit(mail)
    with pytest.raises(ValueError, match="use NodeRegressor"):
        lase.NodeClassifier().fit(lase.Graph([[0], [1]], y=[0.5, 1.5]))


def test_one_class_is_too_few() -> None:
    links = [[0, 1, 2], [1, 2, 3]]
    with pytest.raises(ValueError, match="1 class.*negative integers mean unknown.*as strings"):
        lase.NodeClassifier().fit(lase.Graph(links, y=[-1, 1, -1, 1]))
    graph = lase.Graph(links, y=["-1", "1", "-1", "1"])
    assert lase.NodeClassifier(epochs=1).fit(graph).classes_.tolist() == [-1, 1]


def test_predictions_need_the_columns_of_the_training_graph() -> None:
    random = np.random.default_rng(1)
    links = random.integers(40, size=(2, 150))
    arrays = dict(edge_attr=random.random((150, 2)), x=random.random((40, 3)))
    names = dict(feature_names=["age", "size", "sum"], attribute_names=["amount", "count"])
    trained_on = lase.Graph(links, **arrays, **names, y=np.arange(40) % 2)
    model = lase.NodeClassifier(epochs=1).fit(trained_on)
    methods = [model.predict, model.transform, model.evaluate, lambda g: model.explain(g, 0)]
    for changed, message in (
        (dict(feature_names=["size", "age", "sum"]), "column 1 of the node features is 'size'"),
        (dict(attribute_names=["count", "amount"]), "column 1 of the link attributes is 'count'"),
        (dict(attribute_names=None), "'attribute 0', but the model was trained on 'amount'"),
    ):
        other = lase.Graph(links, **arrays, **{**names, **changed}, y=np.arange(40) % 2)
        for method in methods:
            with pytest.raises(ValueError, match=message):
                method(other)
    # The same number of columns, but those of one direction.
    first = lase.Graph(links, arrays["edge_attr"], attribute_names=["out a", "in a"])
    separate = lase.Graph(links, arrays["edge_attr"][:, :1], attribute_names=["a"], y=np.arange(40) % 2,
                          separate_directions=True)
    with pytest.raises(ValueError, match="the same attributes in both directions"):
        lase.NodeClassifier(epochs=1).fit(separate).predict(first)


@pytest.mark.parametrize("features", ["none", "line"])
@pytest.mark.parametrize("own", [True, False])
def test_graphs_from_arrays_have_the_same_columns(features: str, own: bool) -> None:
    random = np.random.default_rng(1)
    x = random.random((2, 40, 3)) if own else [None, None]
    first, second = (
        lase.Graph(random.integers(40, size=(2, 150)), random.random((150, 2)), x=x[i],
                   y=np.arange(40) % 2)
        for i in range(2)
    )
    model = lase.NodeClassifier(epochs=1, features=features, features_width=8).fit(first)
    for graph in (first, second):
        assert model.predict_proba(graph).shape == (40, 2)
        assert str(model.explain(graph, 3))


def test_checkpoints(mail: lase.Graph, tmp_path: pathlib.Path) -> None:
    options = dict(epochs=4, checkpoint=tmp_path / "a.checkpoint", checkpoint_every=2)
    first = lase.NodeClassifier(**options).fit(mail)
    assert (tmp_path / "a.checkpoint").exists()
    resumed = lase.NodeClassifier(**options, resume=True).fit(mail)
    assert len(resumed.history_) < len(first.history_)
    np.testing.assert_array_equal(resumed.transform(mail), first.transform(mail))
    with pytest.raises(ValueError, match="resume: requires the option checkpoint"):
        lase.NodeClassifier(resume=True).fit(mail)
    assert "OUT.checkpoint" not in (lase.NodeClassifier.__doc__ or "")


def test_predictions_use_the_tuned_threshold(tmp_path: pathlib.Path) -> None:
    random = np.random.default_rng(1)
    y = (np.arange(300) % 10 == 0).astype(int)
    links = random.integers(300, size=(2, 1200))
    graph = lase.Graph(links, x=random.random((300, 3)), y=y).with_split("50/30/20")
    for select, argmax in (("auto", False), ("accuracy", True)):
        model = lase.NodeClassifier(epochs=3, select=select).fit(graph)
        highest = model.classes_[model.predict_proba(graph).argmax(1)]
        assert (highest == model.predict(graph)).all() == argmax


def test_options_without_effect_give_a_warning(mail: lase.Graph) -> None:
    with pytest.warns(UserWarning, match="depth has no effect on the model lase"):
        lase.NodeClassifier(epochs=1, depth=3).fit(mail)


def test_files_are_those_of_the_program(
    mail: lase.Graph, model: lase.NodeClassifier, tmp_path: pathlib.Path
) -> None:
    model.save(tmp_path / "a.model")
    loaded = lase.load(tmp_path / "a.model")
    assert isinstance(loaded, lase.NodeClassifier)
    assert loaded.epochs == 20
    np.testing.assert_array_equal(loaded.predict_proba(mail), model.predict_proba(mail))
    with pytest.raises(FileNotFoundError):
        lase.load(tmp_path / "b.model")
    program = os.environ.get("LASE_PROGRAM")
    if not program:
        pytest.skip("LASE_PROGRAM does not name the program")
    mail.save(tmp_path / "mail.graph")
    command = [program, "train", tmp_path / "mail.graph", "--epochs", "20", "--out"]
    subprocess.run([*command, tmp_path / "b.model"], check=True, capture_output=True)
    trained = lase.load(tmp_path / "b.model")
    # The same weights, bit for bit.
    np.testing.assert_array_equal(trained.transform(mail), model.transform(mail))
    for name, value in weights(tmp_path / "a.model").items():
        assert value == weights(tmp_path / "b.model")[name], name


def test_models_and_estimators_can_be_pickled(mail: lase.Graph, model: lase.NodeClassifier) -> None:
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict_proba(mail), model.predict_proba(mail))
    assert pickle.loads(pickle.dumps(lase.NodeClassifier(epochs=3))).epochs == 3


def test_the_same_seed_gives_the_same_model(mail: lase.Graph) -> None:
    first = lase.NodeClassifier(epochs=3, seed=5, threads=1).fit(mail)
    second = lase.NodeClassifier(epochs=3, seed=5, threads=2).fit(mail)
    np.testing.assert_array_equal(first.transform(mail), second.transform(mail))


def test_fit_on_some_nodes(mail: lase.Graph) -> None:
    nodes = mail.names[:150]
    y = np.array(mail.class_names)[np.asarray(mail.y)[:150]]
    plain = mail.with_labels(None).with_split(["none"] * 200)
    model = lase.NodeClassifier(epochs=20).fit(plain, nodes, y)
    assert model.result_["val_nodes"] == 15
    others = mail.names[150:]
    truth = np.array(mail.class_names)[np.asarray(mail.y)[150:]]
    assert model.score(plain, others, truth) > 0.5
    assert model.score(plain, others, truth) == np.mean(model.predict(plain, others) == truth)
    integers = lase.NodeClassifier(epochs=2).fit(plain, nodes, np.arange(150) % 3)
    assert integers.classes_.tolist() == [0, 1, 2]
    assert integers.predict(plain).dtype.kind == "i"


def test_regression_and_several_labels(mail: lase.Graph) -> None:
    degree = np.diff(mail._core.row_ptr).astype(float)
    regressor = lase.NodeRegressor(epochs=30).fit(mail.with_labels(degree))
    assert regressor.predict(mail).shape == (200,)
    test = np.array(mail.names)[mail.test_mask]
    same = regressor.score(mail, test, degree[mail.test_mask])
    assert regressor.score(mail.with_labels(degree)) == pytest.approx(same) and same > 0
    both = mail.with_labels(np.stack([degree, -degree], 1))
    two = lase.NodeRegressor(epochs=2).fit(both)
    assert two.predict(mail).shape == (200, 2)
    member = (np.asarray(mail.y)[:, None] == np.arange(3)).astype(int)
    classifier = lase.NodeClassifier(epochs=10).fit(mail.with_labels(member))
    assert classifier.predict(mail).shape == (200, 3)
    assert set(np.unique(classifier.predict(mail))) <= {0, 1}
    assert 0 <= classifier.score(mail.with_labels(member)) <= 1
    assert list(classifier.predict_table(mail).columns) == ["node", "0", "1", "2"]


def test_explanations(mail: lase.Graph, model: lase.NodeClassifier) -> None:
    explanation = model.explain(mail, node="p0017", neighbors=3)
    assert "p0017" in str(explanation)
    data = explanation.to_dict()
    assert data["node"] == "p0017" and len(data["layers"][0]["neighbors"]) <= 3
    assert explanation._repr_html_().startswith("<svg")
    assert len(explanation.to_pandas()) <= 6
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    assert explanation.plot().get_title() == "node p0017"
    other = model.explain(mail, "p0017", output=model.classes_[0])
    assert other.to_dict()["output"] == model.classes_[0]
    with pytest.raises(ValueError, match="expected one of"):
        model.explain(mail, "p0017", output="nothing")


def test_scikit_learn(mail: lase.Graph) -> None:
    sklearn_base = pytest.importorskip("sklearn.base")
    from sklearn.model_selection import GridSearchCV, cross_val_score

    estimator = lase.NodeClassifier(epochs=5, widths=(16, 16), quiet=True)
    clone = sklearn_base.clone(estimator)
    assert clone is not estimator and clone.get_params() == estimator.get_params()
    assert sklearn_base.is_classifier(estimator)
    assert sklearn_base.is_regressor(lase.NodeRegressor())
    assert estimator.set_params(epochs=6).epochs == 6
    nodes = np.array(mail.names)
    y = np.array(mail.class_names)[np.asarray(mail.y)]
    graph = mail.with_labels(None)
    scores = cross_val_score(estimator.on(graph), nodes, y, cv=3)
    assert scores.shape == (3,) and (scores > 0.1).all()
    search = GridSearchCV(estimator.on(graph), {"epochs": [1, 3]}, cv=2).fit(nodes, y)
    assert search.best_params_["epochs"] in (1, 3)
    assert search.predict(nodes[:3]).shape == (3,)


def test_joblib(mail: lase.Graph, model: lase.NodeClassifier, tmp_path: pathlib.Path) -> None:
    joblib = pytest.importorskip("joblib")
    joblib.dump(model, tmp_path / "a.joblib")
    loaded = joblib.load(tmp_path / "a.joblib")
    np.testing.assert_array_equal(loaded.predict(mail), model.predict(mail))


def _predict(graph: lase.Graph, model: lase.NodeClassifier, queue: object) -> None:
    queue.put((model.predict(graph), lase.NodeClassifier(epochs=1).fit(graph).n_iter_))  # type: ignore[attr-defined]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes(mail: lase.Graph, model: lase.NodeClassifier, method: str) -> None:
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    process = context.Process(target=_predict, args=(mail, model, queue))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # fork with threads
        process.start()
    predicted, epochs = queue.get(timeout=120)
    process.join(30)
    assert process.exitcode == 0 and epochs == 1
    np.testing.assert_array_equal(predicted, model.predict(mail))


def test_other_threads_run_during_training(mail: lase.Graph) -> None:
    counted = 0
    done = threading.Event()

    def count() -> None:
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    lase.NodeClassifier(epochs=20, patience=0).fit(mail)
    done.set()
    thread.join()
    assert counted > 10


def _interrupt_when(condition: object) -> None:
    while not condition():  # type: ignore[operator]
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)


def test_an_interrupt_keeps_the_best_weights(mail: lase.Graph) -> None:
    model = lase.NodeClassifier(epochs=1_000_000, patience=0)
    started = lambda: len(getattr(model, "history_", ())) > 0
    thread = threading.Thread(target=_interrupt_when, args=(started,))
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(mail)
    thread.join()
    assert model.result_["stopped"] and model.n_iter_ < 1_000_000
    assert model.predict(mail).shape == (200,)


def test_an_interrupt_ends_other_work() -> None:
    links = np.random.default_rng(1).integers(100_000, size=(2, 1_000_000))
    graph = lase.Graph(links, num_nodes=100_000)
    begin = time.monotonic()
    late = lambda: time.monotonic() > begin + 0.3
    thread = threading.Thread(target=_interrupt_when, args=(late,))
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        lase.DeepWalk(walks=1000).fit_transform(graph)
    thread.join()


def test_torch_is_imported_only_when_needed() -> None:
    code = "import sys, lase; lase.Graph([[0], [1]]); assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_another_version_of_torch_is_refused() -> None:
    code = (
        "import lase._build_info as b; b.torch_version = '0.1'\n"
        "try:\n    import lase; lase.NodeClassifier\nexcept ImportError as e:\n    print(e)"
    )
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert run.stdout.startswith("lase was built with torch 0.1, but torch")


def test_documentation_of_embeddings() -> None:
    for method in (lase.LINE, lase.DeepWalk):
        text = method.__doc__ or ""
        assert "Parameters\n----------\n" in text and "threads : int" in text
        assert "LINE:" not in text and "DeepWalk:" not in text


def test_embeddings(mail: lase.Graph) -> None:
    rows = lase.LINE(width=16, seed=3).fit_transform(mail)
    assert rows.shape == (200, 16)
    np.testing.assert_array_equal(rows, lase.LINE(width=16, seed=3, threads=1).fit(mail).embedding_)
    assert lase.DeepWalk(width=8, walks=2).fit_transform(mail).shape == (200, 8)
    with pytest.raises(ValueError, match="width 0"):
        lase.LINE(width=0).fit_transform(mail)
    with pytest.raises(TypeError):
        lase.LINE(walks=3)


def test_types_of_options_are_up_to_date() -> None:
    from lase import _option_types, _write_option_types

    expected = pathlib.Path(_option_types.__file__ or "").read_text()
    assert _write_option_types.text() == expected, "run python -m lase._write_option_types"


@pytest.mark.parametrize("task", ["regression", "multi-label"])
def test_scores_do_not_depend_on_the_names_of_outputs(mail: lase.Graph, task: str) -> None:
    degree = np.diff(mail._core.row_ptr).astype(np.float32)
    y = degree if task == "regression" else (np.asarray(mail.y)[:, None] == [0, 1]).astype(int)
    names = ["degree"] if task == "regression" else ["a", "b"]
    graph = mail.with_labels(y, task=task, class_names=names)
    estimator = lase.NodeRegressor if task == "regression" else lase.NodeClassifier
    model = estimator(epochs=10).fit(graph)
    test = np.array(mail.names)[mail.test_mask]
    assert model.score(graph) == pytest.approx(model.score(mail, test, y[mail.test_mask]))
    with pytest.raises(ValueError, match="has 3 columns, but the model has"):
        model.score(mail, test, np.zeros((len(test), 3)))


def test_scores_per_class_have_the_right_names(mail: lase.Graph, model: lase.NodeClassifier) -> None:
    predicted = model.predict(mail)
    of_two = np.isin(predicted, model.classes_[[2, 5]])
    nodes = np.array(mail.names)[of_two]
    scores = model.evaluate(mail, nodes, predicted[of_two])
    found = {name: each["nodes"] for name, each in scores["classes"].items() if each["nodes"] > 0}
    assert found == {c: (predicted == c).sum() for c in model.classes_[[2, 5]]}
    with pytest.raises(ValueError, match="the classes of the model are"):
        model.score(mail, nodes, np.zeros(len(nodes), dtype=int))


def test_a_daemon_thread_may_train_at_exit() -> None:
    code = (
        "import threading, time, numpy as np, lase\n"
        "graph = lase.Graph(np.random.default_rng(1).integers(50, size=(2, 300)), y=np.arange(50) % 2)\n"
        "model = lase.NodeClassifier(epochs=10**6, patience=0)\n"
        "threading.Thread(target=model.fit, args=(graph,), daemon=True).start()\n"
        "while len(getattr(model, 'history_', ())) == 0: time.sleep(0.05)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=120)
    assert run.returncode == 0, run.stderr
