"""No counterpart of `skopt.sampler`: what's imported from here raises an error when it's called, and says what to use."""

from typing import Any

from ._missing import placeholder

ADVICE = "the engine spreads its first points itself; draw points with Space.rvs or scipy.stats.qmc and give them as x0"


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return placeholder("sampler", name, ADVICE)
