"""Options, as declared once in the library: checks of names, signatures and docstrings."""

from __future__ import annotations

import difflib
import inspect
import textwrap
from typing import Any, Iterable, Mapping, Sequence

_TYPES = {
    "bool": "bool",
    "int": "int",
    "float": "float",
    "str": "str",
    "word": "str",
    "ints": "int or sequence of int",
    "strs": "str or sequence of str",
}


def default_of(option: Mapping[str, Any]) -> Any:
    """The default of an option, as an immutable value."""
    value = option["default"]
    return tuple(value) if isinstance(value, list) else value


def type_of(option: Mapping[str, Any]) -> str:
    """The type of an option for its documentation: "float or 'auto'"."""
    words = ", ".join(repr(word) for word in option["words"])
    if option["kind"] == "word":
        return "{" + words + "}"
    return _TYPES[option["kind"]] + (f" or {words}" if words else "")


def document(options: Iterable[Mapping[str, Any]]) -> str:
    """The options as the section "Parameters" of a NumPy-style docstring."""
    lines = []
    for option in options:
        default = "" if option.get("required") else f", default={default_of(option)!r}"
        lines.append(f"{option['name']} : {type_of(option)}{default}")
        text = option["help"] + (f" ({option['valid']})" if option["valid"] else "") + "."
        lines += textwrap.wrap(text, 90, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)


def signature(
    options: Sequence[Mapping[str, Any]], first: Sequence[inspect.Parameter] = ()
) -> inspect.Signature:
    """A signature with the given parameters, followed by the options as keywords."""
    keywords = [
        inspect.Parameter(
            option["name"],
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if option.get("required") else default_of(option),
        )
        for option in options
    ]
    return inspect.Signature([*first, *keywords])


def check_names(function: str, given: Iterable[str], known: Sequence[str]) -> None:
    """Raise TypeError if a name is not known, with the closest one that is."""
    for name in given:
        if name in known:
            continue
        close = difflib.get_close_matches(name, known, 1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise TypeError(f"{function}() got an unexpected keyword argument {name!r}{hint}")
