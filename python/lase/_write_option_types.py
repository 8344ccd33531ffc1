"""Writes _option_types.py: the types of the training options, for editors and type checkers.

    python -m lase._write_option_types > python/lase/_option_types.py
"""

from __future__ import annotations

from typing import Any

_KINDS = {
    "bool": "bool",
    "int": "int",
    "float": "float",
    "str": "str",
    "ints": "int | Sequence[int]",
    "strs": "str | Sequence[str]",
}


def _type(option: dict[str, Any]) -> str:
    words = ", ".join(f'"{word}"' for word in option["words"])
    if option["kind"] == "word":
        return f"Literal[{words}]"
    if option["kind"] == "ints" and words:
        return "str | int | Sequence[int | str]"
    return _KINDS[option["kind"]] + (f" | Literal[{words}]" if words else "")


def text() -> str:
    """The contents of _option_types.py."""
    from . import _base

    lines = [
        '"""Types of the training options. Written by lase._write_option_types; do not edit."""',
        "",
        "from __future__ import annotations",
        "",
        "from typing import Literal, Sequence, TypedDict",
        "",
        "",
        "class TrainOptions(TypedDict, total=False):",
        '    """The training options of `lase train`."""',
        "",
    ]
    for option in _base.OPTIONS:
        lines.append(f"    {option['name']}: {_type(option)}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(text(), end="")
