"""No counterpart of `skopt.sampler`: importing a name from here raises an error that says what to use."""

from typing import Any


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise ImportError(
        f"skopt.sampler.{name} has no counterpart in Optimist: "
        "the engine spreads its first points itself; draw points with Space.rvs or scipy.stats.qmc and give them as x0"
    )
