"""Optuna's parameters as a space of Optimist, and rows as its points.

If a trial doesn't have an unconditional parameter, its value is the middle of the range, where the engine puts inactive
parameters, too.
"""

from __future__ import annotations

from collections.abc import Mapping

from .._space import Space
from ._axes import Axis, coordinate, is_within, middle, parameter, position
from ._trials import Row

#: The coordinates of the active parameters by name.
Point = dict[str, int | float]


class Layout:
    """A space for some of a study's parameters.

    Args:
        axes: The parameters by name. None comes before those that it depends on.
        whens: Their conditions, as values of Optuna. Conditions on parameters that aren't in `axes` are ignored.
    """

    def __init__(self, axes: Mapping[str, Axis], whens: Mapping[str, Mapping[str, float]]) -> None:
        self.axes = dict(axes)
        self._whens = {name: _among(whens.get(name, {}), axes) for name in axes}
        self.space = Space({name: parameter(axis, self._whens[name] or None) for name, axis in axes.items()})

    def point(self, row: Row, *, is_over: bool = True) -> Point | None:
        """The point of a trial; `None` if it has none of these parameters or lies outside their ranges, or if it's still running
        and its point isn't known yet.
        """
        point: Point = {}
        is_known = False
        for name, axis in self.axes.items():
            if any(point.get(other) != level for other, level in self._whens[name].items()):
                continue
            value = _value(row, name, axis)
            if (value is None and not is_over) or (value is not None and not is_within(value, axis)):
                return None
            is_known = is_known or value is not None
            point[name] = middle(axis) if value is None else coordinate(value, axis)
        return point if is_known else None


def _among(when: Mapping[str, float], axes: Mapping[str, Axis]) -> Point:
    """A condition as coordinates, as far as it's about these parameters."""
    return {other: coordinate(value, axes[other]) for other, value in when.items() if other in axes}


def _value(row: Row, name: str, axis: Axis) -> float | None:
    """The value of a parameter in a trial, or its position in its range; `None` if the trial doesn't have it."""
    if axis is None:
        own = row.distributions.get(name)
        return row.places.get(name) if own is None else position(row.values[name], own)
    if name in row.values:
        return row.values[name]
    try:
        return axis.to_internal_repr(row.fixed[name]) if name in row.fixed else None
    except ValueError:  # Optuna raises it when the trial asks for the parameter
        return None
