"""Progress in terminals and notebooks."""

from __future__ import annotations

import sys
import time
from typing import Any


def _notebook() -> Any:
    """IPython's display function in a notebook, else None."""
    if "IPython" not in sys.modules:
        return None
    from IPython import get_ipython

    shell = get_ipython()
    if shell is None or type(shell).__name__ != "ZMQInteractiveShell":
        return None
    from IPython.display import display

    return display


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


class Progress:
    """Shows one line of text, which each call replaces.

    At the end, a terminal removes the line, and a notebook keeps the last one.
    """

    _INTERVAL = 0.1  # seconds

    def __init__(self, quiet: bool) -> None:
        self._next = 0.0
        self._text = ""
        self._display = None if quiet else _notebook()
        self._handle: Any = None
        self._terminal = not quiet and self._display is None and _is_terminal()

    def show(self, text: str) -> None:
        self._text = text
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + self._INTERVAL
        if self._terminal:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
        elif self._display is not None:
            self._show_in_notebook()

    def _show_in_notebook(self) -> None:
        data = {"text/plain": self._text}
        if self._handle is None:
            self._handle = self._display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: Any) -> None:
        if self._terminal and self._next > 0:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
        elif self._handle is not None:
            self._show_in_notebook()
