"""No counterpart of `skopt.acquisition`: importing a name from here raises an error that says what to use."""

from typing import Any


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise ImportError(
        f"skopt.acquisition.{name} has no counterpart in Optimist: "
        "the engine has an acquisition function of its own; op.GoUcb(…) has settings, as base_estimator="
    )
