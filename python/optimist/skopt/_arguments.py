"""Arguments of scikit-optimize: what each means here, or what to use instead."""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Mapping
from typing import Any

from .._policy import GoUcb

#: The models of scikit-optimize that have a name; GO-UCB takes the place of all but the last.
MODELS = ("GP", "RF", "ET", "GBRT", "DUMMY")

#: How scikit-optimize weighs a model's predictions.
ACQUISITIONS = ("gp_hedge", "EI", "LCB", "MES", "PVRS", "PI", "EIps", "PIps")

#: How scikit-optimize spreads its first points.
GENERATORS = ("random", "sobol", "halton", "hammersly", "lhs", "grid")

#: What scikit-optimize's functions take unless they are told otherwise, and what a change of it would have meant.
IGNORED: dict[str, tuple[tuple[Any, ...], str]] = {
    "acq_func": (("gp_hedge", "EI", "LCB"), "the engine has an acquisition function of its own; base_estimator='gp-pi' has PI"),
    "acq_optimizer": (("auto", "lbfgs", "sampling"), "the engine has its own"),
    "n_points": ((10_000,), "the engine decides how long it looks for the next point"),
    "n_restarts_optimizer": ((5,), "the engine decides how long it looks for the next point"),
    "xi": ((0.01,), "to explore more, give base_estimator=op.GoUcb(aim='regret', exploration=2)"),
    "kappa": ((1.96,), "to explore more, give base_estimator=op.GoUcb(aim='regret', exploration=2)"),
    "initial_point_generator": (("random",), "the engine spreads its first points itself; give points of your own as x0"),
}


def method_of(base_estimator: Any, n_initial_points: int) -> str | dict[str, Any] | GoUcb:
    """Which optimizer of Optimist takes the place of a model of scikit-optimize."""
    if isinstance(base_estimator, (GoUcb, Mapping)):
        return base_estimator if isinstance(base_estimator, GoUcb) else dict(base_estimator)
    if isinstance(base_estimator, str) and base_estimator.upper() == "DUMMY":
        return "random"
    if base_estimator is None or (isinstance(base_estimator, str) and base_estimator.upper() in MODELS):
        # 10 is what everybody has who says nothing
        return "go-ucb" if n_initial_points == 10 else {"name": "go-ucb", "explore_trials": max(1, n_initial_points)}
    if isinstance(base_estimator, str):
        return base_estimator
    raise TypeError(
        f"base_estimator cannot be {type(base_estimator).__name__}: Optimist's model is its own. Leave it out; or name another "
        "optimizer, such as 'gp-ei' or 'tpe'; or write a model of your own as op.GoUcb(family=op.Family(…))"
    )


def check_acquisition(acq_func: str) -> None:
    """Whether scikit-optimize knows it, and whether there is anything like it here."""
    if acq_func not in ACQUISITIONS:
        raise ValueError(f"acq_func must be one of {', '.join(ACQUISITIONS)}, got {acq_func!r}")
    if acq_func.endswith("ps"):
        raise ValueError(
            f"acq_func={acq_func!r} has no counterpart: Optimist takes no times. "
            "Return the value alone, or a value that counts the time as well, and leave acq_func out"
        )


def check_generator(generator: Any) -> None:
    """Whether scikit-optimize knows it."""
    if isinstance(generator, str) and generator.lower() not in GENERATORS:
        raise ValueError(f"initial_point_generator must be one of {', '.join(GENERATORS)}, got {generator!r}")


def warn_of_ignored(stacklevel: int, **given: Any) -> None:
    """Says which arguments change nothing, and what would."""
    for name, value in given.items():
        usual, advice = IGNORED[name]
        if not any(type(value) is type(one) and value == one for one in usual):
            warnings.warn(f"{name}={value!r} changes nothing: {advice}", UserWarning, stacklevel=stacklevel + 1)


def noise_of(noise: Any) -> float | None:
    """The standard deviation of values, of what scikit-optimize calls `noise`: a variance, or `"gaussian"` if it is unknown."""
    if noise is None or noise == "gaussian":
        return None
    if isinstance(noise, numbers.Real) and not isinstance(noise, bool) and 0 <= float(noise) < float("inf"):
        return math.sqrt(float(noise))
    raise ValueError(f"noise must be 'gaussian', or the variance of the values, got {noise!r}")
