"""`GoUcb`, `Family`, and optimizers by name."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from . import _arguments
from ._errors import StudyError
from ._packages import needed


@dataclass(frozen=True)
class Family:
    """Your own family of functions f(w, x), with which GO-UCB models the objective.

    Args:
        value: The function f(w, x), which returns a number. It gets numpy arrays if numpy is installed, and lists otherwise.
        n_weights: The number of weights in w.
        grad_w: The gradient in w. If you leave it out, it comes from the library named by `differentiate`, or from finite
            differences.
        grad_x: The gradient in x; the same applies.
        prior_mean, prior_std: The prior mean and standard deviation of each weight; by default 0 and 1.
        scaled: Whether x is scaled to [-1, 1] and y standardized. By default, both are in their own units, and nothing is warped.
        differentiate: `"jax"`, which also compiles `value`, or `"autograd"`; `value` must be written for that library.

    >>> import optimist as op
    >>> line = op.Family(lambda w, x: w[0] + w[1] * x[0], n_weights=2, grad_w=lambda w, x: [1.0, x[0]])
    >>> optimizer = op.Optimizer({"x": (0.0, 2.0)}, op.GoUcb(family=line), trials=6)
    >>> for _ in range(6):
    ...     point = optimizer.ask()
    ...     optimizer.tell(point, 3 + point["x"])
    >>> optimizer.recommend().params
    {'x': 2.0}
    """

    value: Callable[[Any, Any], float]
    n_weights: int
    grad_w: Callable[[Any, Any], Any] | None = None
    grad_x: Callable[[Any, Any], Any] | None = None
    prior_mean: Sequence[float] | None = None
    prior_std: Sequence[float] | None = None
    scaled: bool = False
    differentiate: Literal["jax", "autograd"] | None = None

    def table(self) -> dict[str, Any]:
        """The family as the engine calls it."""
        value, grad_w, grad_x = self.value, self.grad_w, self.grad_x
        for name, function in (("value", value), ("grad_w", grad_w), ("grad_x", grad_x)):
            if not (callable(function) or (function is None and name != "value")):
                raise TypeError(f"the {name} of a family must be a function of w and x, got {type(function).__name__}")
        if self.differentiate == "jax":
            jax = needed("jax", 'differentiate="jax"', "JAX", "jax")
            value, grad_w, grad_x = (
                partial(_in_jax, jax.jit(function))
                for function in (value, grad_w or jax.grad(value, 0), grad_x or jax.grad(value, 1))
            )
        elif self.differentiate == "autograd":
            autograd = needed("autograd", 'differentiate="autograd"', "autograd", "autograd")
            grad_w, grad_x = grad_w or autograd.grad(value, 0), grad_x or autograd.grad(value, 1)
        elif self.differentiate is not None:
            raise StudyError(f'differentiate must be "jax" or "autograd", got {self.differentiate!r}')
        return {
            "value": partial(_numbers, value),
            "n_weights": _arguments.whole(self.n_weights, "n_weights", 1, 100_000),
            "grad_w": None if grad_w is None else partial(_numbers, grad_w),
            "grad_x": None if grad_x is None else partial(_numbers, grad_x),
            "prior_mean": self._prior("prior_mean", _arguments.finite),
            "prior_std": self._prior("prior_std", _arguments.positive),
            "scaled": self.scaled,
        }

    def _prior(self, name: str, check: Callable[[Any, str], float]) -> list[float] | None:
        """The prior's mean or standard deviation, checked."""
        values = getattr(self, name)
        return None if values is None else [check(one, name) for one in _arguments.several(values, name)]


class GoUcb:
    """GO-UCB and its settings: any key of the `[optimizer]` table of a study file.

    Args:
        preset: `"default"`, `"paper"` (the constants of the paper's experiments) or `"theory"` (those of its proofs).
        family: The name of a family of functions, such as `"mlp"`, the paper's network; a list of names; or your own
            `Family`.
        settings: More settings, such as `exploration`, `explore_trials`, `warp`, `hidden` or, with the preset `"theory"`,
            `constants`. Whatever you leave out comes from the preset. `docs/study-file.md` explains them all.

    >>> GoUcb("paper", hidden=[25])
    GoUcb(preset='paper', hidden=[25])
    """

    def __init__(
        self,
        preset: Literal["default", "paper", "theory"] = "default",
        *,
        family: str | Sequence[str] | Family | None = None,
        **settings: Any,
    ) -> None:
        self.preset = preset
        self.family = family
        self.settings = settings

    def table(self) -> dict[str, Any]:
        """The settings as a study file has them, without your own family."""
        family = {} if self.family is None or isinstance(self.family, Family) else {"family": self.family}
        return {"name": "go-ucb", "preset": self.preset, **family, **self.settings}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GoUcb) and self.__dict__ == other.__dict__

    def __repr__(self) -> str:
        family = {} if self.family is None else {"family": self.family}
        words = {"preset": self.preset, **family, **self.settings}
        return f"GoUcb({', '.join(f'{key}={value!r}' for key, value in words.items())})"


def table_of(optimizer: str | Mapping[str, Any] | GoUcb) -> dict[str, Any]:
    """An optimizer as a study file has it; `"go-ucb:paper"` and `"go-ucb:family=anova:warp=false"` are short for such a table."""
    if isinstance(optimizer, GoUcb):
        if isinstance(optimizer.family, Family):
            raise StudyError("a study cannot store your own family; search with op.Optimizer(space, method=…)")
        return optimizer.table()
    if isinstance(optimizer, Mapping):
        return dict(optimizer)
    if not isinstance(optimizer, str):
        raise TypeError(f"optimizer must be a name, a dictionary or op.GoUcb(…), got {type(optimizer).__name__}")
    name, *settings = optimizer.split(":")
    table: dict[str, Any] = {"name": name}
    for setting in settings:
        key, is_named, value = setting.partition("=")
        table |= {key: _read(value)} if is_named else {"preset": key}
    return table


def _numbers(function: Callable[[Any, Any], Any], w: list[float], x: list[float]) -> list[float]:
    """Calls a function of a family and returns its result as a list."""
    try:
        import numpy
    except ImportError:
        found = function(w, x)
    else:
        found = function(numpy.asarray(w), numpy.asarray(x))
    return [float(one) for one in found] if getattr(found, "__len__", None) and getattr(found, "ndim", 1) else [float(found)]


def _in_jax(compiled: Callable[[Any, Any], Any], w: Any, x: Any) -> Any:
    """Calls a function that JAX has compiled, with 64 bits: with 32, rounding would look like noise."""
    import jax

    place: Any = jax if hasattr(jax, "enable_x64") else importlib.import_module("jax.experimental")  # older versions
    with place.enable_x64(True):
        return compiled(w, x)


def _read(word: str) -> Any:
    try:
        return json.loads(word)
    except ValueError:
        return word
