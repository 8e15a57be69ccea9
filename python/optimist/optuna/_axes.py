"""Optuna's distributions as parameters of the engine, and values from one to the other and back.

Values are in Optuna's internal representation, a float each: categories by index, since choices may be `None`, or `1` next to
`True`. A parameter whose range changes from trial to trial has no distribution here: what counts is *where in its range* a value
lies, from 0 to 1. Ranges that are too wide for the engine are treated the same way.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

from .._space import Choice, Float, Int, Parameter, When

#: One of Optuna's three distributions, or `None` for a range that changes. Their common class doesn't have the bounds.
Axis: TypeAlias = Any
#: Up to this number every integer is exactly a float.
MAX_LEVELS = 2**53


def parameter(axis: Axis, when: When | None = None) -> Parameter:
    """The distribution as a parameter of the engine."""
    if isinstance(axis, CategoricalDistribution):
        return Choice(range(len(axis.choices)), when=when)
    if axis is None or _is_too_wide(axis):
        return Float(0.0, 1.0, when=when)
    if is_stepped(axis):
        return Int(0, _last_level(axis), when=when)
    if isinstance(axis, IntDistribution):
        return Int(axis.low, axis.high, log=True, when=when)
    return Float(axis.low, axis.high, log=axis.log, when=when)


def is_discrete(axis: Axis) -> bool:
    """Whether other parameters can be conditional on one of its values."""
    return axis is not None and not isinstance(parameter(axis), Float)


def is_within(value: float, axis: Axis) -> bool:
    """Whether the value is in the range."""
    return axis is None or bool(axis._contains(value))


def coordinate(value: float, axis: Axis) -> int | float:
    """A value as the engine has it."""
    if isinstance(axis, CategoricalDistribution):
        return int(value)
    if axis is None:
        return min(max(value, 0.0), 1.0)
    if _is_too_wide(axis):
        return position(value, axis)
    if is_stepped(axis):
        level: int = round((value - axis.low) / axis.step)
        return min(max(level, 0), _last_level(axis))
    inside = min(max(value, axis.low), axis.high)
    return int(inside) if isinstance(axis, IntDistribution) else float(inside)


def value(coordinate: int | float, axis: Axis) -> float:
    """A value from the engine; the inverse of `coordinate`."""
    if axis is None or isinstance(axis, CategoricalDistribution):
        return float(coordinate)
    if _is_too_wide(axis):
        return placed(coordinate, axis)
    if is_stepped(axis):
        return float(min(axis.low + coordinate * axis.step, axis.high))
    return float(min(max(coordinate, axis.low), axis.high))


def middle(axis: Axis) -> int | float:
    """The coordinate of a parameter that a trial doesn't have: the middle, where the engine puts inactive parameters, too."""
    return 0 if isinstance(axis, CategoricalDistribution) else coordinate(placed(0.5, axis) if axis else 0.5, axis)


def position(value: float, axis: Axis) -> float:
    """Where in its range a value lies, from 0 to 1."""
    low, high, value = _scaled(axis, axis.low), _scaled(axis, axis.high), _scaled(axis, value)
    if is_stepped(axis):
        level: int = round((value - low) / axis.step)
        return min(max((level + 0.5) / (_last_level(axis) + 1), 0.0), 1.0)
    if high == low:
        return 0.5
    return min(max((value / 2 - low / 2) / (high / 2 - low / 2), 0.0), 1.0)  # halves: all floats are a range, too


def placed(position: float, axis: Axis) -> float:
    """The value at this position of the range."""
    if is_stepped(axis):
        level = min(int(position * (_last_level(axis) + 1)), _last_level(axis))
        return float(min(axis.low + level * axis.step, axis.high))
    between = _scaled(axis, axis.low) * (1 - position) + _scaled(axis, axis.high) * position
    found = math.exp(between) if axis.log else between
    return float(min(max(round(found) if isinstance(axis, IntDistribution) else found, axis.low), axis.high))


def is_stepped(axis: Axis) -> bool:
    """Whether the values are evenly spaced."""
    return isinstance(axis, (FloatDistribution, IntDistribution)) and axis.step is not None and not axis.log


def _last_level(axis: Axis) -> int:
    last: int = round((axis.high - axis.low) / axis.step)
    return last


def _scaled(axis: Axis, value: float) -> float:
    return math.log(value) if axis.log else value


def _is_too_wide(axis: Axis) -> bool:
    if isinstance(axis, IntDistribution) or is_stepped(axis):
        return bool(max(abs(axis.low), abs(axis.high), (axis.high - axis.low) / axis.step) > MAX_LEVELS)
    return not math.isfinite(axis.high - axis.low)
