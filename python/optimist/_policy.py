"""Optimizers by name, with their settings."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from ._errors import StudyError
from ._packages import needed


@dataclass(frozen=True)
class Family:
    """A family of functions f(w, x) for GO-UCB: what it may believe about the objective.

    Args:
        value: f(w, x) as a number, of arrays of numpy if that is installed, and of lists if not.
        n_weights: How many weights it has.
        grad_w: The gradient in w. If you leave it out, it comes from the library that `differentiate` names, or from finite
            differences.
        grad_x: The gradient in x, likewise.
        prior_mean, prior_std: Of each weight; 0 and 1 if they are left out.
        scaled: Whether x is scaled to [-1, 1] and y standardised; otherwise both are in their own units, and nothing is warped.
        differentiate: `"jax"`, which also compiles `value`, or `"autograd"`; `value` must be written for it.
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
        """As the engine calls it."""
        value, grad_w, grad_x = self.value, self.grad_w, self.grad_x
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
            "n_weights": self.n_weights,
            "grad_w": None if grad_w is None else partial(_numbers, grad_w),
            "grad_x": None if grad_x is None else partial(_numbers, grad_x),
            "prior_mean": None if self.prior_mean is None else [float(one) for one in self.prior_mean],
            "prior_std": None if self.prior_std is None else [float(one) for one in self.prior_std],
            "scaled": self.scaled,
        }


class GoUcb:
    """GO-UCB with settings: any key of the `[optimizer]` table of a study file.

    Args:
        preset: `"default"`, `"paper"` (the constants of the paper's experiments) or `"theory"` (those of its proofs).
        family: The name of a family of functions, such as `"mlp"`, the paper's network, a list of names, or your own
            :class:`Family`.
        settings: Further settings, such as `exploration`, `explore_trials`, `warp`, `hidden` or, with preset `"theory"`,
            `constants`. What you leave out is the preset's. `docs/study-file.md` explains them all.

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
        """As a study file has it, but for a family of your own."""
        family = {} if self.family is None or isinstance(self.family, Family) else {"family": self.family}
        return {"name": "go-ucb", "preset": self.preset, **family, **self.settings}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GoUcb) and self.__dict__ == other.__dict__

    def __repr__(self) -> str:
        family = {} if self.family is None else {"family": self.family}
        words = {"preset": self.preset, **family, **self.settings}
        return f"GoUcb({', '.join(f'{key}={value!r}' for key, value in words.items())})"


def table_of(optimizer: str | Mapping[str, Any] | GoUcb) -> dict[str, Any]:
    """An optimizer as a study file has it: `go-ucb:paper` and `go-ucb:family=anova:warp=false` are words for one."""
    if isinstance(optimizer, GoUcb):
        if isinstance(optimizer.family, Family):
            raise StudyError("a family of your own cannot be stored in a study; search with op.Optimizer(space, method=…)")
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
    """What a function of a family gives, as a list."""
    try:
        import numpy
    except ImportError:
        found = function(w, x)
    else:
        found = function(numpy.asarray(w), numpy.asarray(x))
    return [float(one) for one in found] if getattr(found, "__len__", None) and getattr(found, "ndim", 1) else [float(found)]


def _in_jax(compiled: Callable[[Any, Any], Any], w: Any, x: Any) -> Any:
    """Calls a function that JAX has compiled, with 64 bits: with 32, its rounding would look like noise."""
    import jax

    place: Any = jax if hasattr(jax, "enable_x64") else importlib.import_module("jax.experimental")  # older versions
    with place.enable_x64(True):
        return compiled(w, x)


def _read(word: str) -> Any:
    try:
        return json.loads(word)
    except ValueError:
        return word
