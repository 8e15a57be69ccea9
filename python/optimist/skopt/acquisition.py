"""No counterpart of `skopt.acquisition`: what's imported from here raises an error when it's called, and says what to use."""

from typing import Any

from ._missing import placeholder

ADVICE = "the engine has an acquisition function of its own; op.GoUcb(…) has settings, as base_estimator="


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return placeholder("acquisition", name, ADVICE)
