"""An optimizer that follows the trials of a study.

Given: parameters and rows. Gives: points. It's kept from trial to trial and told only what's new; one that is created later and
told everything suggests the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .. import _native
from ._axes import Axis
from ._goals import Goals
from ._layout import Layout, Point
from ._trials import Row


class Engine:
    """Suggests values for some of a study's parameters."""

    def __init__(
        self,
        axes: Mapping[str, Axis],
        whens: Mapping[str, Mapping[str, float]],
        method: dict[str, Any],
        trials: int,
        seed: int,
        goals: Goals,
    ) -> None:
        self._layout = Layout(axes, whens)
        self._goals = goals
        self._native = _native.Optimizer(self._layout.space.to_dict(), method, trials, seed, None, goals.to_list())
        self._n_learnt = 0
        #: Encoded points by trial number.
        self._pending: dict[int, list[float]] = {}
        #: How often the engine was called.
        self.n_calls = 0

    def learn(self, rows: Sequence[Row]) -> None:
        """Learns from trials that have ended: all of them, in the order in which they ended."""
        for row in rows[self._n_learnt :]:
            point = self._layout.point(row)
            pending = self._pending.pop(row.number, None)
            x = None if point is None else self._native.encode(point)
            if pending is not None and pending != x:
                self._call("withdraw", pending)
            if x is not None:
                if pending != x:
                    self._call("propose", x)
                self._call("tell_outcomes", x, self._goals.outcomes(row))
        self._n_learnt = len(rows)

    def expect(self, rows: Iterable[Row]) -> None:
        """Takes these trials as pending, and no others."""
        points = {row.number: self._layout.point(row, is_over=False) for row in rows}
        expected = {number: self._native.encode(point) for number, point in points.items() if point is not None}
        for number in [number for number, x in self._pending.items() if expected.get(number) != x]:
            self._call("withdraw", self._pending.pop(number))
        for number, x in expected.items():
            if number not in self._pending:
                self._call("propose", x)
                self._pending[number] = x

    def suggest(self, stream: int) -> Point:
        """Returns the next point, drawn from this stream of random numbers."""
        x, _ = self._call("suggest", stream)
        return self._native.decode(x)

    def _call(self, what: str, *arguments: Any) -> Any:
        self.n_calls += 1
        return getattr(self._native, what)(*arguments)
