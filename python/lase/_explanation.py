"""The explanation of a prediction."""

from __future__ import annotations

import copy
import os
from typing import Any


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

        rows = [
            {
                "layer": layer["layer"],
                "node": neighbor["node"],
                "gate": neighbor["gate"],
                "effect": neighbor["effect"],
            }
            for layer in self._parts["data"]["layers"]
            for neighbor in layer["neighbors"]
        ]
        return pandas.DataFrame(rows, columns=["layer", "node", "gate", "effect"])

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
        data = self._parts["data"]
        several = len(data["layers"]) > 1
        bars = [
            (neighbor["node"] + (f" (layer {layer['layer']})" if several else ""), neighbor["effect"])
            for layer in data["layers"]
            for neighbor in layer["neighbors"]
        ]
        bars.sort(key=lambda bar: abs(bar[1]))
        names = [name for name, _ in bars]
        effects = [effect for _, effect in bars]
        ax.barh(range(len(bars)), effects, color=["C0" if e >= 0 else "C3" for e in effects])
        ax.set_yticks(range(len(bars)), names)
        ax.axvline(0, color="black", linewidth=0.8)
        ax.set_xlabel(f"effect of the link on the score of {data['output']}")
        ax.set_title(f"node {data['node']}")
        return ax

    def __str__(self) -> str:
        return self._parts["text"].rstrip()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return self._parts["svg"]
