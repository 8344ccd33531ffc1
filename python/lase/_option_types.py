"""Types of the training options. Written by lase._write_option_types; do not edit."""

from __future__ import annotations

from typing import Literal, Sequence, TypedDict


class TrainOptions(TypedDict, total=False):
    """The training options of `lase train`."""

    model: Literal["lase", "sage", "rw", "wl", "concat", "gcn", "graphsage", "raw"]
    widths: int | Sequence[int]
    combine: Literal["auto", "add", "multiply", "concat"]
    amplifier: Literal["auto", "sigmoid", "linear", "none"]
    aggregate: Literal["sum", "mean", "max"]
    gate: Literal["none", "scalar"]
    depth: int
    project: int | Literal["auto"]
    input_dropout: float
    dropout: float
    normalize: bool
    decoder: Literal["auto", "dot", "bilinear", "mlp"]
    decoder_width: int
    scale: Literal["auto", "standard", "row", "l2", "none"]
    features: Literal["none", "line", "deepwalk", "auto"]
    features_order: Literal["first", "second", "both"]
    features_width: int
    features_epochs: int
    features_walks: int
    features_length: int
    features_window: int
    features_negatives: int
    features_learning_rate: float
    features_weighted: bool
    label_inputs: Literal["auto", "on", "off"]
    common_neighbors: Literal["auto", "on", "off"]
    epochs: int
    patience: int
    batch_size: int
    chunks: int
    transductive: bool
    strict_inductive: bool
    learning_rate: float
    schedule: Literal["constant", "cosine", "plateau"]
    weight_decay: float | Literal["auto"]
    clip_value: float
    balance: bool
    ema_decay: float
    select: str
    calibrate: bool
    eval_every: int
    seed: int
    fanout: str | int | Sequence[int | str]
    strategy: Literal["auto", "uniform", "gate", "min_var", "snapshot"]
    replacement: Literal["with", "without"]
    link_dropout: float | Literal["auto"]
    refresh_every: int
    refresh: Literal["auto", "eager", "lazy"]
    link_split: str
    negatives: int | Literal["auto"]
    negative_sampling: Literal["uniform", "degree", "two-hop"]
    negative_file: str
    ranking: Literal["auto", "filtered", "raw", "sampled"]
    device: Literal["auto", "cpu", "cuda"]
    precision: Literal["auto", "fp32", "tf32", "bf16"]
    device_memory: float
    checkpoint: str
    checkpoint_every: int
    resume: bool
