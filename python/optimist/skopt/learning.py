"""No counterpart of `skopt.learning`: importing a name from here raises an error that says what to use."""

from typing import Any


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise ImportError(
        f"skopt.learning.{name} has no counterpart in Optimist: "
        "the engine has a model of its own; leave base_estimator out, or give it op.GoUcb(family=op.Family(…))"
    )
