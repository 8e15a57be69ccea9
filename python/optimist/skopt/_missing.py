"""What scikit-optimize has and Optimist doesn't: it can be imported, and when it's called, an error says what to use."""

from __future__ import annotations

from typing import Any


def placeholder(module: str, name: str, advice: str) -> type[Any]:
    """Stands for a class or function without counterpart. Scripts often import one that they don't use."""

    def refuse(self: Any, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(f"skopt.{module}.{name} has no counterpart in Optimist: {advice}")

    return type(name, (), {"__init__": refuse, "__module__": f"optimist.skopt.{module}"})
