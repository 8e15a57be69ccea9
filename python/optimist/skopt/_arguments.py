"""Arguments of scikit-optimize: what each of them means here, or what to use instead."""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Mapping
from typing import Any

from .._policy import GoUcb

#: scikit-optimize's models by name; GO-UCB replaces all but the last.
MODELS = ("GP", "RF", "ET", "GBRT", "DUMMY")

#: scikit-optimize's acquisition functions.
ACQUISITIONS = ("gp_hedge", "EI", "LCB", "MES", "PVRS", "PI", "EIps", "PIps")

#: scikit-optimize's generators of initial points.
GENERATORS = ("random", "sobol", "halton", "hammersly", "lhs", "grid")

#: Arguments without effect: their usual values, and advice for those who pass another one.
IGNORED: dict[str, tuple[tuple[Any, ...], str]] = {
    "acq_func": (("gp_hedge", "EI", "LCB"), "the engine has its own acquisition function; for PI use base_estimator='gp-pi'"),
    "acq_optimizer": (("auto", "lbfgs", "sampling"), "the engine has its own optimizer"),
    "n_points": ((10_000,), "the engine decides how long to search for the next point"),
    "n_restarts_optimizer": ((5,), "the engine decides how long to search for the next point"),
    "xi": ((0.01,), "to explore more, use base_estimator=op.GoUcb(aim='regret', exploration=2)"),
    "kappa": ((1.96,), "to explore more, use base_estimator=op.GoUcb(aim='regret', exploration=2)"),
    "initial_point_generator": (("random",), "the engine chooses its initial points itself; pass your own as x0"),
}


def method_of(base_estimator: Any, n_initial_points: int) -> str | dict[str, Any] | GoUcb:
    """The optimizer that replaces a model of scikit-optimize."""
    if isinstance(base_estimator, (GoUcb, Mapping)):
        return base_estimator if isinstance(base_estimator, GoUcb) else dict(base_estimator)
    if isinstance(base_estimator, str) and base_estimator.upper() == "DUMMY":
        return "random"
    if base_estimator is None or (isinstance(base_estimator, str) and base_estimator.upper() in MODELS):
        # 10 is scikit-optimize's default
        return "go-ucb" if n_initial_points == 10 else {"name": "go-ucb", "explore_trials": max(1, n_initial_points)}
    if isinstance(base_estimator, str):
        return base_estimator
    raise TypeError(
        f"base_estimator cannot be a {type(base_estimator).__name__}: Optimist has its own model. Leave it out, name another "
        "optimizer, such as 'gp-ei' or 'tpe', or pass your own model as op.GoUcb(family=op.Family(…))"
    )


def check_acquisition(acq_func: str) -> None:
    """Checks that scikit-optimize has it, and that there is a counterpart here."""
    if acq_func not in ACQUISITIONS:
        raise ValueError(f"acq_func must be one of {', '.join(ACQUISITIONS)}, got {acq_func!r}")
    if acq_func.endswith("ps"):
        raise ValueError(
            f"acq_func={acq_func!r} has no counterpart: Optimist does not model times. "
            "Return the value alone, or one that includes the time, and leave acq_func out"
        )


def check_generator(generator: Any) -> None:
    """Checks that scikit-optimize has it."""
    if isinstance(generator, str) and generator.lower() not in GENERATORS:
        raise ValueError(f"initial_point_generator must be one of {', '.join(GENERATORS)}, got {generator!r}")


def warn_of_ignored(stacklevel: int, **given: Any) -> None:
    """Warns of arguments that have no effect, and says what to use instead."""
    for name, value in given.items():
        usual, advice = IGNORED[name]
        if not any(type(value) is type(one) and value == one for one in usual):
            warnings.warn(f"{name}={value!r} has no effect: {advice}", UserWarning, stacklevel=stacklevel + 1)


def noise_of(noise: Any) -> float | None:
    """The standard deviation of the noise; scikit-optimize's `noise` is a variance, or `"gaussian"` if it's unknown."""
    if noise is None or noise == "gaussian":
        return None
    if isinstance(noise, numbers.Real) and not isinstance(noise, bool) and 0 <= float(noise) < float("inf"):
        return math.sqrt(float(noise))
    raise ValueError(f"noise must be 'gaussian' or the variance of the noise, got {noise!r}")
