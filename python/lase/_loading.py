"""Loading of model files."""

from __future__ import annotations

import os
from typing import Any

from . import _torch  # noqa: F401  # isort: skip  # before _core
from . import _arrays, _core
from ._estimators import NodeClassifier, NodeRegressor
from ._links import Embedder, LinkClassifier, LinkPredictor, LinkRegressor


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model file written by `save` or by `lase train`.

    Returns
    -------
    NodeClassifier, NodeRegressor, LinkClassifier, LinkRegressor, LinkPredictor or Embedder
        A fitted estimator with the options that the model was trained with, but without the
        attributes that describe training, such as `history_`.
    """
    model = _core.load(_arrays.path_text(path))
    regression = model.task == "regression"
    kind = {
        "nodes": NodeRegressor if regression else NodeClassifier,
        "links": LinkRegressor if regression else LinkClassifier,
        "link-prediction": LinkPredictor,
        "embedding": Embedder,
    }[model.predicts]
    stored = model.training.get("options", {})
    options = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in stored.items()
        if name in kind._library
    }
    estimator = kind(**options)
    estimator._set_model(model)
    return estimator
