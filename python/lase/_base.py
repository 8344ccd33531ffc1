"""Training, saving and loading, which all estimators share."""

from __future__ import annotations

import os
import tempfile
import warnings
from typing import Any, ClassVar

import numpy as np

from . import _torch  # noqa: F401  # isort: skip  # before _core
from . import _arrays, _core
from ._graph_type import Graph
from ._params import Params
from ._processes import of_group
from ._progress import Progress

# Help texts that differ from those of `lase train`.
_HELP = {
    "checkpoint": "Path of the checkpoint file; no checkpoints are written if it is empty",
    "resume": "Resume from the checkpoint file if it exists; requires checkpoint",
}
OPTIONS = [
    {**option, "help": _HELP.get(option["name"], option["help"])}
    for option in _core.train_options()
    if option["name"] != "task"  # each estimator has its own
]
# Options that apply only to links as targets.
LINK_OPTIONS = {
    "decoder",
    "decoder_width",
    "link_split",
    "negatives",
    "negative_sampling",
    "negative_file",
    "ranking",
}
NODE_OPTIONS = [option for option in OPTIONS if option["name"] not in LINK_OPTIONS]


class Estimator(Params):
    """Base class of all estimators that train a model."""

    _predicts: ClassVar[str] = "nodes"  # the option `task` of `lase train`
    _library: ClassVar[list[str]] = []  # names of the options of `lase train`

    def _train(self, graph: Graph | str, process_group: Any = None) -> None:
        """Trains on a graph, or on the folder of a partitioned one."""
        if self.resume and not self.checkpoint:  # type: ignore[attr-defined]
            raise ValueError("resume: requires the option checkpoint, the path of a checkpoint file")
        self.history_: list[dict[str, Any]] = []
        options = {name: _arrays.plain_path(getattr(self, name)) for name in self._library}
        options["task"] = self._predicts
        processes = of_group(process_group)
        with Progress(self.quiet or processes.rank > 0) as progress:

            def show(epochs: list[dict[str, Any]], latest: dict[str, Any]) -> None:
                self.history_ += epochs
                progress.show(_progress_text(latest))

            group = (processes.group, processes.store, processes.device)
            if isinstance(graph, str):
                trained = _core.train_on_parts(graph, options, show, self.threads, group)
            else:
                trained = _core.train(graph._core, options, show, self.threads, group)
            model, result, interrupt = trained
        self._set_model(model, result)
        self._warn(result)
        if interrupt is not None:
            raise interrupt

    def _warn(self, result: dict[str, Any]) -> None:
        for message in result["unused"]:
            warnings.warn(message, stacklevel=4)
        if result["diverged"]:
            warnings.warn(
                f"{result['diverged']}; the last good weights are kept", RuntimeWarning, stacklevel=4
            )
        if result["checkpoint_error"]:
            warnings.warn(
                f"{result['checkpoint_error']}; training continued without checkpoints",
                RuntimeWarning,
                stacklevel=4,
            )
        few = self._predicts == "nodes" and 10 * result["training_links"] < result["links"]
        if few:
            warnings.warn(
                f"training used only {result['training_links']} of {result['links']} links, those "
                "between training nodes and nodes that belong to no split; use transductive=True to "
                "train on all links",
                stacklevel=4,
            )

    def _set_model(self, model: Any, result: dict[str, Any] | None = None) -> None:
        self.model_ = model
        self.feature_names_in_ = np.array(model.feature_names, dtype=object)
        self.n_features_in_ = len(self.feature_names_in_)
        self.attribute_names_in_ = np.array(model.attribute_names, dtype=object)
        if result is not None:
            self.result_ = result
            self.n_iter_ = result["epochs"]
            self.best_epoch_ = result["best_epoch"]
            self.best_score_ = result["val"].get(result["metric"])
        self._set_outputs()

    def _set_outputs(self) -> None:
        """Set attributes that depend on the outputs of the model."""

    def _fitted(self) -> Any:
        if hasattr(self, "model_"):
            return self.model_
        message = f"this {type(self).__name__} is not fitted yet; call fit() first"
        try:
            from sklearn.exceptions import NotFittedError
        except ImportError:
            raise ValueError(message) from None
        raise NotFittedError(message)

    def _device(self) -> dict[str, Any]:
        """Options that choose where to compute."""
        return {name: getattr(self, name) for name in ("device", "precision")}

    # ---- Files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, which :func:`lase.load` and the program `lase` read."""
        self._fitted().save(_arrays.path_text(path))

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        if "model_" in state:
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "model")
                state["model_"].save(path)
                with open(path, "rb") as file:
                    state["model_"] = file.read()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "model_" in state:
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "model")
                with open(path, "wb") as file:
                    file.write(state["model_"])
                self.model_ = _core.load(path)


def _progress_text(state: dict[str, Any]) -> str:
    if "features" in state:
        return f"learning node features {100 * state['features']:.0f} %"
    text = f"epoch {state['epoch']}/{state['epochs']}"
    if "batch" in state:
        text += f"  batch {state['batch']}/{state['batches']}"
    text += f"  loss {state['loss']:.4f}"
    if "best" in state:
        text += f"  best {state['metric']} {state['best']:.4f} in epoch {state['best_epoch']}"
    if "links_per_second" in state:
        text += f"  {state['links_per_second'] / 1e6:.1f} M links/s"
    return text
