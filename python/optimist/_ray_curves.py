"""How far trials of Ray Tune came, and what those that were stopped would have reached.

Given: what trials report. Gives: the value that the study is told. Does not know: Tune.

The rule: a trial has finished if its function returned, in which case Tune ends it with a report that it has shown before, or if
it came as far as any other. Any other trial was stopped, by a scheduler or a `stop` criterion, and is unfinished. The study is
told its last value plus the mean change, from that time to the end, of the trials that came furthest; the standard deviation of
these changes is the noise. When others come further, or twice as many come as far, the estimate is amended.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping
from operator import itemgetter
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from ._space import native

if TYPE_CHECKING:
    from ._study import Study

#: A value, or the value of each of several metrics.
Told = float | dict[str, float]

#: Times, and what was reported at each.
Curve = list[tuple[float, Told]]


class Curves:
    """What each trial has reported, by its number in the study.

    Args:
        time_attr: The reported value that says how far a trial has come; with `None`, every trial counts as finished.
    """

    def __init__(self, time_attr: str | None) -> None:
        self.time_attr = time_attr
        self.curves: dict[int, Curve] = {}
        #: What the study was told of trials that were stopped: values and noise.
        self.stopped: dict[int, tuple[Told, Told | None]] = {}
        self.judged_at: tuple[float, int] = (0.0, 0)

    def report(self, number: int, result: Mapping[str, Any], told: Told) -> None:
        """Records a report. A trial that was restarted reports the same times again."""
        time = self._time(result)
        if time is not None:
            curve = self.curves.setdefault(number, [])
            del curve[bisect_left(curve, time, key=_time_of) :]
            curve.append((time, told))

    def end(self, number: int, result: Mapping[str, Any], told: Told, study: Study) -> None:
        """A trial has ended with this result: tells the study."""
        time, curve = self._time(result), self.curves.get(number, [])
        has_returned = time is None or (bool(curve) and curve[-1][0] == time)
        self.report(number, result, told)
        if has_returned:
            study.tell(number, told)
        else:
            self._tell(number, study)

    def stop(self, number: int, study: Study) -> bool:
        """A trial was stopped and won't report again: tells the study its last report. Returns whether there was one."""
        is_known = bool(self.curves.get(number))
        if is_known:
            self._tell(number, study)
        return is_known

    def forget(self, number: int) -> None:
        """A trial failed: its reports say nothing about others."""
        self.curves.pop(number, None)

    def judge(self, study: Study) -> None:
        """Amends what was told of stopped trials, if others have come further since, or twice as many have come as far."""
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

    def expected(self, time: float, told: Told) -> tuple[Told, Told | None]:
        """What a trial with this report at this time would have reached, and its noise; `None` if it got there."""
        if not isinstance(told, dict):
            return self._expected(time, told, _number)
        found = {name: self._expected(time, one, itemgetter(name)) for name, one in told.items()}
        noise: dict[str, float] = {name: std for name, (_, std) in found.items() if std is not None}
        return {name: one for name, (one, _) in found.items()}, noise or None

    def _expected(self, time: float, value: float, of: Callable[[Any], float]) -> tuple[float, float | None]:
        """The same for one metric, which is `of` a report."""
        furthest = self._furthest()
        if time >= furthest:
            return value, None
        far = [curve for curve in self.curves.values() if curve[-1][0] == furthest and curve[0][0] <= time]
        changes = [of(curve[-1][1]) - of(curve[bisect_right(curve, time, key=_time_of) - 1][1]) for curve in far]
        if not changes:
            return value, None  # none of them reported this early
        return value + fmean(changes), stdev(changes) if len(changes) > 1 else abs(changes[0])

    def _tell(self, number: int, study: Study) -> None:
        time, last = self.curves[number][-1]
        told, noise_std = self.stopped[number] = self.expected(time, last)
        words = ", ".join(f"{name} {one:g}" for name, one in last.items()) if isinstance(last, dict) else f"{last:g}"
        note = None if noise_std is None else f"stopped at {self.time_attr} {time:g} with {words}"
        study.tell(number, told, noise_std=noise_std, note=note)

    def _furthest(self) -> float:
        return max((curve[-1][0] for curve in self.curves.values()), default=0.0)

    def _time(self, result: Mapping[str, Any]) -> float | None:
        time = native(result.get(self.time_attr)) if self.time_attr is not None else None
        return float(time) if isinstance(time, (int, float)) else None


def _time_of(report: tuple[float, Told]) -> float:
    return report[0]


def _number(told: Any) -> float:
    return float(told)
