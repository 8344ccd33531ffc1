from typing import Any, Callable

import numpy as np

from ._graph import Graph

torch_version: str
most_attributes_on_gpu: int  # of the fused kernel

class Model:
    task: str
    predicts: str
    label_names: list[str]
    feature_names: list[str]
    attribute_names: list[str]
    label_inputs: bool
    common_neighbors: bool
    temperature: float
    training: dict[str, Any]
    def save(self, path: str) -> None: ...
    def predict(
        self, graph: Graph, fanout: list[int], seed: int, threads: int
    ) -> tuple[np.ndarray, np.ndarray]: ...
    def probabilities(self, outputs: np.ndarray) -> np.ndarray: ...
    def classes(self, outputs: np.ndarray) -> np.ndarray: ...
    def score(self, graph: Graph, outputs: np.ndarray, nodes: np.ndarray) -> dict[str, Any]: ...
    def explain(
        self, graph: Graph, node: int, output: int, shown: dict[str, int], threads: int
    ) -> dict[str, Any]: ...
    def explain_link(
        self,
        graph: Graph,
        link: dict[str, Any],
        output: int,
        shown: dict[str, int],
        threads: int,
    ) -> dict[str, Any]: ...
    def evaluate_links(self, graph: Graph, split: str, threads: int) -> dict[str, Any]: ...
    def predict_links(
        self, graph: Graph, threads: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]: ...
    def partners(
        self, graph: Graph, nodes: np.ndarray, count: int, relation: str, threads: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]: ...
    def embed_links(self, graph: Graph, threads: int) -> np.ndarray: ...

def supports_gpu(device: str) -> bool: ...
def load(path: str) -> Model: ...
def train(
    graph: Graph,
    options: dict[str, Any],
    show: Callable[[list[dict[str, Any]], dict[str, Any]], None],
    threads: int,
    group: tuple[Any, Any, str],
) -> tuple[Model, dict[str, Any], BaseException | None]: ...
def train_on_parts(
    folder: str,
    options: dict[str, Any],
    show: Callable[[list[dict[str, Any]], dict[str, Any]], None],
    threads: int,
    group: tuple[Any, Any, str],
) -> tuple[Model, dict[str, Any], BaseException | None]: ...
def train_options() -> list[dict[str, Any]]: ...
