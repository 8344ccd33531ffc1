"""The explanation of a prediction."""

from __future__ import annotations

import copy
import os
from typing import Any


def _rows(layers: list[dict[str, Any]], **more: Any) -> list[dict[str, Any]]:
    return [
        {
            **more,
            "layer": layer["layer"],
            "node": neighbor["node"],
            "gate": neighbor["gate"],
            "effect": neighbor["effect"],
        }
        for layer in layers
        for neighbor in layer["neighbors"]
    ]


def _link_bars(layers: list[dict[str, Any]], suffix: str = "") -> list[tuple[str, float]]:
    several = len(layers) > 1
    return [
        (row["node"] + suffix + (f" (layer {row['layer']})" if several else ""), row["effect"])
        for row in _rows(layers)
    ]


class Explanation:
    """Explains the prediction for a node by the effects of its features and links.

    The effect of a link is the score minus the score without that link. Printing it gives a text; a
    notebook shows a picture.
    """

    def __init__(self, parts: dict[str, Any]) -> None:
        self._parts = parts

    def to_dict(self) -> dict[str, Any]:
        """All numbers as nested dictionaries and lists."""
        return copy.deepcopy(self._parts["data"])

    def to_svg(self, path: str | os.PathLike[str] | None = None) -> str:
        """The picture as SVG, also written to a file if a path is given."""
        if path is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(self._parts["svg"])
        return self._parts["svg"]

    def to_pandas(self) -> Any:
        """The effects of links as a table: layer, node, gate, effect."""
        import pandas

        rows = _rows(self._parts["data"]["layers"])
        return pandas.DataFrame(rows, columns=["layer", "node", "gate", "effect"])

    def _bars(self) -> list[tuple[str, float]]:
        """Names and values of the bars of the chart."""
        return _link_bars(self._parts["data"]["layers"])

    def _title(self) -> str:
        return f"node {self._parts['data']['node']}"

    def plot(self, ax: Any = None) -> Any:
        """Draw the effects of the links as a bar chart with matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw. By default, a new figure.

        Returns
        -------
        matplotlib.axes.Axes
        """
        if ax is None:
            import matplotlib.pyplot as plt

            _, ax = plt.subplots(layout="constrained")
        bars = self._bars()
        bars.sort(key=lambda bar: abs(bar[1]))
        names = [name for name, _ in bars]
        effects = [effect for _, effect in bars]
        ax.barh(range(len(bars)), effects, color=["C0" if e >= 0 else "C3" for e in effects])
        ax.set_yticks(range(len(bars)), names)
        ax.axvline(0, color="black", linewidth=0.8)
        output = self._parts["data"]["output"]
        ax.set_xlabel("effect on the score" + ("" if output == "score" else f" of {output}"))
        ax.set_title(self._title())
        return ax

    def __str__(self) -> str:
        return self._parts["text"].rstrip()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return self._parts["svg"]


class LinkExplanation(Explanation):
    """Explains the prediction for a link by its attributes and by both of its nodes.

    The effects of the features and links of one node are those through its embedding, with the
    embedding of the other node fixed.
    """

    def to_pandas(self) -> Any:
        """The effects of the nodes' links as a table: end, layer, node, gate, effect."""
        import pandas

        rows = [
            row
            for name, end in self._parts["data"]["ends"].items()
            for row in _rows(end["layers"], end=name)
        ]
        return pandas.DataFrame(rows, columns=["end", "layer", "node", "gate", "effect"])

    def _bars(self) -> list[tuple[str, float]]:
        data = self._parts["data"]
        bars = [
            (entry["name"], entry["effect"])
            for group in ("attributes", "statistics")
            for entry in data[group]["inputs"]
        ]
        for end in data["ends"].values():
            bars += _link_bars(end["layers"], f" – {end['node']}")
        return bars

    def _title(self) -> str:
        data = self._parts["data"]
        return f"link {data['source']} → {data['target']}"
