"""Functions that read graphs from files and data frames."""

from __future__ import annotations

import inspect
import os
import tempfile
import warnings
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from . import _arrays, _graph, _options
from ._graph_type import Graph

if TYPE_CHECKING:
    import pandas

_FORMATS: dict[str, dict[str, Any]] = {entry["name"]: entry for entry in _graph.formats()}


def _import(format: str, options: dict[str, Any], threads: int) -> Graph:
    lists = {option["name"] for option in _FORMATS[format]["options"] if option["kind"] == "strs"}
    given = {name: _arrays.plain_path(value) for name, value in options.items() if value is not None}
    for name in lists & given.keys():
        if isinstance(given[name], str):
            given[name] = [given[name]]
    core, about = _graph.import_files(format, given, threads)
    for warning in about["warnings"]:
        warnings.warn(warning, stacklevel=4)
    return Graph._of(core, about["notes"])


def _reader(format: str, summary: str) -> Callable[..., Graph]:
    declared = _FORMATS[format]["options"]
    first, *required = [option for option in declared if option["required"]]
    others = [*required, *(option for option in declared if not option["required"])]
    names = [option["name"] for option in others]

    def read(path: Any, /, *, threads: int = 0, **options: Any) -> Graph:
        _options.check_names(f"read_{format}", options, names)
        for option in required:
            if option["name"] not in options:
                raise TypeError(
                    f"read_{format}() missing 1 required keyword-only argument: {option['name']!r}"
                )
        is_parquet = isinstance(path, (str, os.PathLike)) and str(path).endswith(".parquet")
        if is_parquet or str(options.get("nodes", "")).endswith(".parquet"):
            return _read_parquet(format, path, {**options, "threads": threads})
        return _import(format, {first["name"]: path, **options}, threads)

    parameter = inspect.Parameter(first["name"], inspect.Parameter.POSITIONAL_ONLY)
    end = inspect.Parameter("threads", inspect.Parameter.KEYWORD_ONLY, default=0)
    plain = _options.signature(others, [parameter])
    read.__signature__ = plain.replace(parameters=[*plain.parameters.values(), end])  # type: ignore[attr-defined]
    read.__name__ = read.__qualname__ = f"read_{format}"
    read.__doc__ = (
        f"{summary}\n\nParameters\n----------\n"
        + _options.document([first, *others])
        + "\nthreads : int, default=0\n    Number of threads (0 = all cores).\n\n"
        + "Returns\n-------\nGraph\n    The same graph as from `lase import "
        + f"{format}`. `Graph.notes` describes how the tables were read.\n"
    )
    return read


def _read_parquet(format: str, path: Any, options: dict[str, Any]) -> Graph:
    import pandas

    def read(table: Any) -> pandas.DataFrame:
        if str(table).endswith(".parquet"):
            return pandas.read_parquet(table)
        return pandas.read_csv(table, dtype=str, keep_default_na=False)  # as it is

    nodes = options.pop("nodes", None)
    return read_frames(format, read(path), None if nodes is None else read(nodes), options)


def read_frames(
    format: str, links: pandas.DataFrame, nodes: pandas.DataFrame | None, options: dict[str, Any]
) -> Graph:
    """Read data frames as if they were CSV files."""
    import pandas

    names = [option["name"] for option in _FORMATS[format]["options"]]
    threads = options.pop("threads", 0)
    _options.check_names("from_pandas", options, names)
    tables = {"links": links}
    if nodes is not None:
        tables["nodes"] = nodes.reset_index() if nodes.index.name and "id" not in nodes else nodes
    with tempfile.TemporaryDirectory(prefix="lase-") as folder:
        paths = {}
        for name, table in tables.items():
            if not isinstance(table, pandas.DataFrame):
                raise TypeError(f"{name}: expected a DataFrame, not {type(table).__name__}")
            if len(set(map(str, table.columns))) < len(table.columns):
                raise ValueError(f"{name}: two columns have the same name")
            paths[name] = os.path.join(folder, name)
            _write_csv(table, paths[name])
        fixed = {"delimiter": ",", "header": "yes"}
        if nodes is not None:
            fixed.update({"nodes": paths["nodes"], "nodes_delimiter": ",", "nodes_header": "yes"})
        fixed = {key: value for key, value in fixed.items() if key in names}
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                graph = _import(format, {"file": paths["links"], **options, **fixed}, threads)
        except ValueError as error:
            raise ValueError(str(error).replace(folder + os.sep, "")) from None
        for warning in caught:
            warnings.warn(str(warning.message).replace(folder + os.sep, ""), stacklevel=3)
        graph.notes = [note.replace(folder + os.sep, "") for note in graph.notes]
        return graph


def _write_csv(table: pandas.DataFrame, path: str) -> None:
    """Write a table so that reading it gives the same values.

    Integers that pandas holds as floating-point numbers, because some are missing, are written as
    integers, and times with a time zone in UTC.
    """
    import pandas

    table = table.copy(deep=False)
    table.columns = [str(name) for name in table.columns]
    for name, column in list(table.items()):
        if isinstance(column.dtype, pandas.DatetimeTZDtype):
            table[name] = column.dt.tz_convert("UTC").dt.tz_localize(None)
        elif getattr(column.dtype, "kind", "O") == "f":
            known = column.dropna().to_numpy(dtype=np.float64)
            if known.size > 0 and (np.abs(known) < 2**53).all() and (known == np.floor(known)).all():
                table[name] = column.astype("Int64")
    table.to_csv(path, index=False)


read_links = _reader("links", "Read links with attribute columns.")
read_contacts = _reader("contacts", "Read contacts over time, counted per time slice.")
read_typed = _reader("typed", "Read links of several relations.")
read_sets = _reader("sets", "Read items that are linked by the members they share.")
read_authors = _reader("authors", "Read the data files published by the paper's authors.")
read_ogb = _reader("ogb", "Read a data set in OGB's raw CSV layout.")
read_hgb = _reader("hgb", "Read a data set of the Heterogeneous Graph Benchmark.")


def generate(kind: str, path: str | os.PathLike[str], **options: Any) -> None:
    """Generate data to try lase on.

    Parameters
    ----------
    kind : {'mail', 'payments', 'planted'}
        Emails within a company (contacts.csv, people.csv); payments between accounts, some of them
        fraudulent (payments.csv, accounts.csv); or a graph file with planted classes.
    path : str or path
        Folder to write to; for 'planted', the graph file.
    **options
        The options of `lase generate`, such as accounts, payments and seed.
    """
    _graph.generate(kind, options, _arrays.path_text(path))
