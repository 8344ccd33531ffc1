"""Parameters of estimators, as in scikit-learn."""

from __future__ import annotations

from typing import Any, ClassVar

from . import _options

_EXTRA = [
    {
        "name": "threads",
        "help": "Number of threads (0 = all cores)",
        "kind": "int",
        "valid": "",
        "words": [],
        "default": 0,
    },
    {
        "name": "quiet",
        "help": "Disable the progress display",
        "kind": "bool",
        "valid": "",
        "words": [],
        "default": False,
    },
]


class Params:
    """Stores keyword arguments as attributes and implements get_params and set_params."""

    _declared: ClassVar[list[dict[str, Any]]] = []
    _names: ClassVar[list[str]] = []  # options of the library
    threads: int
    quiet: bool

    def __init__(self, **options: Any) -> None:
        _options.check_names(type(self).__name__, options, list(self._defaults()))
        for name, default in self._defaults().items():
            setattr(self, name, options.get(name, default))

    @classmethod
    def _declare(cls) -> None:
        """Complete a class whose options are declared."""
        import inspect

        cls._names = [option["name"] for option in cls._declared]
        first = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]

        def init(self: Any, **options: Any) -> None:
            Params.__init__(self, **options)

        init.__name__ = "__init__"
        init.__signature__ = _options.signature([*cls._declared, *_EXTRA], first)  # type: ignore[attr-defined]
        cls.__init__ = init  # type: ignore[method-assign]

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        return {option["name"]: _options.default_of(option) for option in [*cls._declared, *_EXTRA]}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get the parameters as a dictionary."""
        return {name: getattr(self, name) for name in self._defaults()}

    def set_params(self, **params: Any) -> Any:
        """Set parameters and return the estimator."""
        _options.check_names("set_params", params, list(self._defaults()))
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = self._defaults()
        changed = {k: v for k, v in self.get_params().items() if repr(v) != repr(defaults[k])}
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in changed.items())})"
