"""Conversion of arrays, tensors, data frames and sparse matrices to the arrays of the library."""

from __future__ import annotations

import os
from typing import Any

import numpy as np


def is_sparse(value: Any) -> bool:
    """Whether a value is a SciPy sparse matrix or array."""
    return hasattr(value, "tocsr") and hasattr(value, "nnz")


def to_numpy(value: Any) -> np.ndarray:
    """A NumPy array that shares the memory of the value where possible."""
    if isinstance(value, np.ndarray):
        return value
    if hasattr(value, "detach"):  # a tensor
        return value.detach().cpu().numpy()
    if hasattr(value, "to_numpy"):  # pandas
        array = value.to_numpy()
        if array.dtype.kind == "O" and hasattr(value, "isna"):
            array = _nullable(value, array)
        return array
    if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
        return np.from_dlpack(value)
    return np.asarray(value)


def _nullable(value: Any, array: np.ndarray) -> np.ndarray:
    """Nullable columns of numbers as floating-point numbers with NaN, or as plain numbers."""
    dtypes = list(value.dtypes) if hasattr(value, "columns") else [value.dtype]
    if not all(getattr(dtype, "kind", "O") in "biuf" for dtype in dtypes):
        return array
    missing = value.isna().to_numpy()
    if missing.any():
        return value.to_numpy(dtype=np.float64, na_value=np.nan)
    return array.astype(np.result_type(*(getattr(d, "numpy_dtype", d) for d in dtypes)))


def _missing(value: Any) -> bool:
    """Whether a label is unknown: None, NaN, NaT, pandas.NA or an empty text."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (str, float)) and (value == "" or value != value)


def floats(value: Any, name: str) -> np.ndarray:
    """A contiguous array of float32, shared with the value if it is one already."""
    array = to_numpy(value)
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name}: expected numbers, not values of type {array.dtype}")
    return np.ascontiguousarray(array, dtype=np.float32)


def integers(value: Any, name: str) -> np.ndarray:
    """A contiguous array of int64, shared with the value if it is one already."""
    array = to_numpy(value)
    if array.dtype.kind not in "iu" and array.size > 0:
        raise ValueError(f"{name}: expected integers, not values of type {array.dtype}")
    return np.ascontiguousarray(array, dtype=np.int64)


def matrix(value: Any, name: str, rows: int, what: str) -> dict[str, Any]:
    """The parts of a dense or sparse matrix with the given number of rows."""
    if is_sparse(value):
        csr = value.tocsr()
        try:
            csr.check_format(full_check=True)
        except ValueError as error:
            raise ValueError(f"{name}: is not a valid sparse matrix: {error}") from None
        if not csr.has_canonical_format:
            csr = csr.copy()
            csr.sum_duplicates()
        if csr.shape[0] != rows:
            raise ValueError(f"{name}: has {csr.shape[0]} rows, expected one for each of {rows} {what}")
        return {
            "rows": rows,
            "columns": csr.shape[1],
            "values": np.ascontiguousarray(csr.data, dtype=np.float32),
            "row_ptr": np.ascontiguousarray(csr.indptr, dtype=np.int64),
            "column": np.ascontiguousarray(csr.indices, dtype=np.int32),
        }
    array = floats(value, name)
    if array.ndim == 1:
        array = array.reshape(-1, 1)
    if array.ndim != 2:
        raise ValueError(f"{name}: has {array.ndim} dimensions, expected 1 or 2")
    if array.shape[0] != rows:
        raise ValueError(f"{name}: has {array.shape[0]} rows, expected one for each of {rows} {what}")
    return {"rows": rows, "columns": array.shape[1], "values": array}


def from_parts(parts: dict[str, Any]) -> Any:
    """The inverse of matrix(): a NumPy array, or a SciPy CSR array if it is sparse."""
    if parts["layout"] == "dense":
        return parts["values"]
    if parts["layout"] == "dictionary":
        return parts["values"][parts["code"]]
    import scipy.sparse

    csr = scipy.sparse.csr_matrix(
        (parts["values"], parts["column"], parts["row_ptr"]), shape=parts["shape"], copy=False
    )
    csr.has_sorted_indices = True
    return csr


def labels(y: Any, task: str | None, names: Any, nodes: int) -> dict[str, Any]:
    """The parts of labels: one class or several classes per node, or regression targets."""
    array = to_numpy(y)
    if array.shape[:1] != (nodes,):
        shape = tuple(array.shape)
        raise ValueError(f"y: has shape {shape}, expected one row for each of {nodes} nodes")
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if task is None:
        if array.ndim == 2:
            finite = array[np.isfinite(array)] if array.dtype.kind == "f" else array
            task = "multi-label" if np.isin(finite, (0, 1)).all() else "regression"
        else:
            task = "regression" if array.dtype.kind == "f" else "single-label"
    if task == "single-label":
        return _classes(array, names)
    if task not in ("multi-label", "regression"):
        raise ValueError(f"task {task!r}: expected single-label, multi-label or regression")
    values = floats(array, "y").reshape(nodes, -1)
    count = values.shape[1]
    if task == "multi-label" and not np.isin(values[np.isfinite(values)], (0, 1)).all():
        raise ValueError("y: expected 0 or 1 for every class of a node, or NaN if unknown")
    if np.isinf(values).any():
        raise ValueError("y: contains infinity; use NaN for unknown values")
    default = [str(i) for i in range(count)] if task == "multi-label" else _target_names(count)
    texts = [str(name) for name in names] if names is not None else default
    if len(texts) != count:
        raise ValueError(f"class_names: has {len(texts)} names, expected {count}")
    return {"task": task, "names": texts, "values": values}


def _target_names(count: int) -> list[str]:
    return ["target"] if count == 1 else [f"target {i}" for i in range(count)]


def _classes(array: np.ndarray, names: Any) -> dict[str, Any]:
    if array.ndim != 1:
        raise ValueError(f"y: has {array.ndim} dimensions, expected one class per node")
    if names is not None:  # the values are positions in the names
        texts = [str(name) for name in names]
        codes = integers(array, "y")
        if codes.size > 0 and codes.max() >= len(texts):
            raise ValueError(f"y: contains class {codes.max()}, but there are {len(texts)} class_names")
        return {"task": "single-label", "names": texts, "values": codes.clip(-1).astype(np.int32)}
    if array.dtype.kind == "O":
        known = np.array([not _missing(value) for value in array], dtype=bool)
    elif array.dtype.kind in "US":
        known = array != array.dtype.type()
    elif array.dtype.kind == "f":
        known = np.isfinite(array) & (array >= 0)
    elif array.dtype.kind == "i":
        known = array >= 0
    else:
        known = np.ones(len(array), dtype=bool)
    of_known = array[known]
    if of_known.dtype.kind == "f" and (of_known == np.floor(of_known)).all():
        of_known = of_known.astype(np.int64)
    if of_known.dtype.kind == "O":
        kinds = {type(value) for value in of_known}
        of_known = np.array([str(v) for v in of_known]) if len(kinds) > 1 else np.array(list(of_known))
    classes, positions = np.unique(of_known, return_inverse=True)
    codes = np.full(len(array), -1, dtype=np.int32)
    codes[known] = positions
    return {"task": "single-label", "names": [str(name) for name in classes], "values": codes}


def split(
    masks: dict[str, Any], words: Any, nodes: int
) -> np.ndarray | None:
    """The split as an array of 0 (none), 1 (train), 2 (val) and 3 (test); None without masks."""
    if words is not None and any(mask is not None for mask in masks.values()):
        raise ValueError("split: pass either the split or masks, not both")
    number = {"": 0, "none": 0, "train": 1, "val": 2, "valid": 2, "validation": 2, "test": 3}
    if words is not None:
        array = to_numpy(words)
        if array.shape != (nodes,):
            raise ValueError(f"split: has shape {array.shape}, expected ({nodes},)")
        unknown = sorted({str(word) for word in array} - set(number))
        if unknown:
            raise ValueError(f"split: contains {unknown[0]!r}, expected train, val, test or none")
        return np.array([number[str(word)] for word in array], dtype=np.uint8)
    result = None
    for name, value in (("train", 1), ("val", 2), ("test", 3)):
        mask = masks.get(name)
        if mask is None:
            continue
        array = to_numpy(mask)
        if array.dtype.kind != "b":
            array = _mask_of(integers(array, f"{name}_mask"), f"{name}_mask", nodes)
        if array.shape != (nodes,):
            raise ValueError(f"{name}_mask: has shape {array.shape}, expected ({nodes},)")
        if result is None:
            result = np.zeros(nodes, dtype=np.uint8)
        if (result[array] != 0).any():
            raise ValueError(f"{name}_mask: contains a node that is also in another mask")
        result[array] = value
    return result


def _mask_of(numbers: np.ndarray, name: str, nodes: int) -> np.ndarray:
    """A mask from node numbers, or from a mask of 0 and 1."""
    if numbers.shape == (nodes,) and nodes > 2 and np.isin(numbers, (0, 1)).all():
        return numbers == 1
    if numbers.size > 0 and not (0 <= numbers.min() and numbers.max() < nodes):
        raise ValueError(f"{name}: contains a node outside 0 to {nodes - 1}")
    if np.unique(numbers).size < numbers.size:
        raise ValueError(f"{name}: contains a node twice")
    mask = np.zeros(nodes, dtype=bool)
    mask[numbers] = True
    return mask


def path_text(path: Any) -> str:
    """A path as text."""
    return os.fsdecode(os.fspath(path))


def plain_path(value: Any) -> Any:
    """A path object as text; any other value as it is."""
    return path_text(value) if isinstance(value, os.PathLike) else value
