"""Where values lie: Optuna's distributions as parameters of the engine, and its values as the engine's and back.

Values are in Optuna's internal representation, a float each: categories by their index, since choices may be `None`, or `1`
beside `True`. A parameter whose range changes from trial to trial has no distribution here: what counts is *where in its range* a
value lies, from 0 to 1. The engine sees ranges that are too wide for it in the same way.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

from .._space import Choice, Float, Int, Parameter, When

#: One of Optuna's three distributions, whose common class says nothing of their bounds, or `None` of a range that changes.
Axis: TypeAlias = Any
#: Levels up to which every whole number is a float.
MAX_LEVELS = 2**53


def parameter(axis: Axis, when: When | None = None) -> Parameter:
    """The parameter that the engine searches."""
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
    """Whether the engine can make other parameters wait for one of its values."""
    return axis is not None and not isinstance(parameter(axis), Float)


def is_within(value: float, axis: Axis) -> bool:
    """Whether the value can be tried."""
    return axis is None or bool(axis._contains(value))


def coordinate(value: float, axis: Axis) -> int | float:
    """What the engine calls a value."""
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
    """The value of a coordinate: the other way round."""
    if axis is None or isinstance(axis, CategoricalDistribution):
        return float(coordinate)
    if _is_too_wide(axis):
        return placed(coordinate, axis)
    if is_stepped(axis):
        return float(min(axis.low + coordinate * axis.step, axis.high))
    return float(min(max(coordinate, axis.low), axis.high))


def middle(axis: Axis) -> int | float:
    """The coordinate of a parameter that a trial did without: the engine, too, puts inactive parameters in the middle."""
    return 0 if isinstance(axis, CategoricalDistribution) else coordinate(placed(0.5, axis) if axis else 0.5, axis)


def position(value: float, axis: Axis) -> float:
    """Where in its range a value lies, from 0 to 1."""
    low, high, value = _scaled(axis, axis.low), _scaled(axis, axis.high), _scaled(axis, value)
    if is_stepped(axis):
        level: int = round((value - low) / axis.step)
        return min(max((level + 0.5) / (_last_level(axis) + 1), 0.0), 1.0)
    if high == low:
        return 0.5
    return min(max((value / 2 - low / 2) / (high / 2 - low / 2), 0.0), 1.0)  # halves: the range may be all floats


def placed(position: float, axis: Axis) -> float:
    """The value at this place of the range."""
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
