"""How far trials of Ray Tune came, and what those that were stopped would have reached.

Given: what trials report. Gives: the value that the study is told. Does not know: Tune.

The rule. A trial is finished if its function returned, which Tune tells by ending it with a report that it has shown before, or
if it came as far as any other. Any other was stopped, by a scheduler or a `stop` criterion, and is unfinished: it is told at its
last value plus the mean change, from that time to the end, of the trials that came furthest, and as uncertain as these changes
differ. When others come further, or there are twice as many of them, that is amended.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from ._space import native

if TYPE_CHECKING:
    from ._study import Study

#: Times, and the value at each.
Curve = list[tuple[float, float]]


class Curves:
    """What each trial has reported, by its number in the study.

    Args:
        time_attr: What says how far a trial has come; `None` takes all trials as finished.
    """

    def __init__(self, time_attr: str | None) -> None:
        self.time_attr = time_attr
        self.curves: dict[int, Curve] = {}
        #: Trials that did not end by themselves, with what the study knows of them.
        self.stopped: dict[int, tuple[float, float | None]] = {}
        self.judged_at: tuple[float, int] = (0.0, 0)

    def report(self, number: int, result: Mapping[str, Any], value: float | str) -> None:
        """A trial goes on. One that was begun again reports the same times again."""
        time = self._time(result)
        if time is not None and isinstance(value, float):
            curve = self.curves.setdefault(number, [])
            del curve[bisect_right(curve, (time, float("-inf"))) :]
            curve.append((time, value))

    def end(self, number: int, result: Mapping[str, Any], value: float, study: Study) -> None:
        """A trial has ended with this value: tells the study."""
        time, curve = self._time(result), self.curves.get(number, [])
        has_returned = time is None or (bool(curve) and curve[-1][0] == time)
        self.report(number, result, value)
        if has_returned:
            study.tell(number, value)
        else:
            self._tell(number, study)

    def stop(self, number: int, study: Study) -> bool:
        """A trial was stopped after its last report, and says no more; whether there was one."""
        is_known = bool(self.curves.get(number))
        if is_known:
            self._tell(number, study)
        return is_known

    def forget(self, number: int) -> None:
        """A trial failed: what it reported says nothing of others."""
        self.curves.pop(number, None)

    def judge(self, study: Study) -> None:
        """Amends what was told of stopped trials, if others have come further since, or twice as many as far."""
        furthest = self._furthest()
        n_far = sum(curve[-1][0] == furthest for curve in self.curves.values())
        if (furthest, n_far.bit_length()) == self.judged_at:
            return
        self.judged_at = furthest, n_far.bit_length()
        for number, known in self.stopped.items():
            value, noise_std = self.expected(*self.curves[number][-1])
            if (value, noise_std) != known:
                study.amend(number, value, noise_std=noise_std, reason=f"others have come to {self.time_attr} {furthest:g}")
                self.stopped[number] = value, noise_std

    def expected(self, time: float, value: float) -> tuple[float, float | None]:
        """What a trial with this value at this time would have reached, and how uncertain that is; `None` if it got there."""
        furthest = self._furthest()
        if time >= furthest:
            return value, None
        far = [curve for curve in self.curves.values() if curve[-1][0] == furthest and curve[0][0] <= time]
        changes = [curve[-1][1] - curve[bisect_right(curve, (time, float("inf"))) - 1][1] for curve in far]
        if not changes:
            return value, None  # nobody reported as early
        return value + fmean(changes), stdev(changes) if len(changes) > 1 else abs(changes[0])

    def _tell(self, number: int, study: Study) -> None:
        time, last = self.curves[number][-1]
        value, noise_std = self.stopped[number] = self.expected(time, last)
        note = None if noise_std is None else f"stopped at {self.time_attr} {time:g} with {last:g}"
        study.tell(number, value, noise_std=noise_std, note=note)

    def _furthest(self) -> float:
        return max((curve[-1][0] for curve in self.curves.values()), default=0.0)

    def _time(self, result: Mapping[str, Any]) -> float | None:
        time = native(result.get(self.time_attr)) if self.time_attr is not None else None
        return float(time) if isinstance(time, (int, float)) else None
