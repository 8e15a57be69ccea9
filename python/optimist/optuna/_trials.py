"""What became of trials: Optuna's records as what the engine learns from.

Given: trials as they are stored. Gives: rows, each with the values of a trial's parameters and what came of it.
Does not know: the engine, the sampler.

* COMPLETE: its values. An infinite one cannot be placed on any scale: the trial counts as failed.
* PRUNED: what it was heading for (`Curves`); without a report it counts as failed.
* FAIL: failed, and the engine avoids such places if they gather.
* RUNNING, and WAITING with its parameters fixed: pending.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from optuna.distributions import BaseDistribution
from optuna.trial import FrozenTrial, TrialState

#: What the sampler has suggested for a trial, kept with the trial: it may end before it has asked for all of it, and other
#: processes must know what is pending.
OFFERED = "optimist:offered"
#: The same for parameters whose range is not known before they are asked for: where in it.
PLACES = "optimist:places"
#: Trials whose gains at one step are remembered.
MEMORY = 64
#: Gains at one step from which their spread is worth something.
ENOUGH = 4
#: Gains that differ less, as a part of the largest, are the same.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Outcome:
    """A value to be maximised, and how unsure it is where that is known."""

    y: float
    noise_std: float | None = None


@dataclass
class Row:
    """A trial: its parameters by name, in Optuna's internal representation, and what came of it."""

    number: int
    values: dict[str, float]
    distributions: dict[str, BaseDistribution]
    places: dict[str, float]
    #: Not in Optuna's internal representation, for nothing says what it would be.
    fixed: dict[str, Any]
    #: Those that the trial has set: met at 0 or less.
    constraints: dict[str, float]
    #: It ran to its end: what it has not asked for by now it does not need.
    is_complete: bool = False
    #: One for each objective; `None` of a failed trial.
    outcomes: tuple[Outcome, ...] | None = None


def row_of(trial: FrozenTrial) -> Row:
    """A trial without what came of it. One that is not complete also has what it was offered."""
    own = {name: one.to_internal_repr(trial.params[name]) for name, one in trial.distributions.items()}
    is_complete = trial.state == TrialState.COMPLETE
    attributes = trial.system_attrs
    if not is_complete:
        own = {**attributes.get(OFFERED, {}), **own}
    places = {} if is_complete else attributes.get(PLACES, {})
    fixed = {} if trial.state.is_finished() else attributes.get("fixed_params", {})
    constraints = constraints_of(attributes)
    return Row(trial.number, own, dict(trial.distributions), places, fixed, constraints, is_complete)


def constraints_of(attributes: Mapping[str, Any]) -> dict[str, float]:
    """The constraints of a trial, as Optuna 5 stores them, and as samplers of all versions do; Optuna 4 cannot read the first."""
    listed = {str(i): float(one) for i, one in enumerate(attributes.get("constraints") or ())}
    start = "constraints:"
    return listed | {key[len(start) :]: float(one) for key, one in attributes.items() if key.startswith(start)}


@dataclass
class Curves:
    """What reports are worth: how far trials still came that ran to their end.

    Trials are compared at equal steps. From the step that a pruned trial has reached, complete trials gained something until
    their end; the median of these gains is added to its last report, and their spread is how unsure that is. It was pruned
    because it was not promising, so it is not believed to be better than the best complete trial. Only what was known when it
    ended is used, so what was learnt of it never changes.
    """

    #: The last gains at each step.
    gains: dict[int, deque[float]] = field(default_factory=dict)
    steps: list[int] = field(default_factory=list)
    best: float = -math.inf

    def add(self, reports: dict[int, float], final: float) -> None:
        """A trial has ended well. All values are to be maximised."""
        self.best = max(self.best, final)
        for step, reported in reports.items():
            if not math.isfinite(reported):
                continue
            if step not in self.gains:
                self.gains[step] = deque(maxlen=MEMORY)
                insort(self.steps, step)
            self.gains[step].append(final - reported)

    def expected(self, reports: dict[int, float]) -> Outcome | None:
        """What a pruned trial would have come to; `None` if nothing is known."""
        if not reports:
            return None
        step = max(reports)
        reported = reports[step]
        if not math.isfinite(reported):
            return None
        gains = sorted(self._gains_near(step))
        if not gains:
            return Outcome(reported)
        spread = None
        if len(gains) >= ENOUGH:  # half of what two thirds of them lie within: one standard deviation
            spread = (gains[-1 - len(gains) // 6] - gains[len(gains) // 6]) / 2
            if spread <= ROUNDING * max(map(abs, gains)):
                spread = None
        return Outcome(min(reported + median(gains), self.best), spread)

    def _gains_near(self, step: int) -> deque[float] | list[float]:
        """The gains from the nearest step of which they are known."""
        place = bisect_left(self.steps, step)
        near = self.steps[max(place - 1, 0) : place + 1]
        return self.gains[min(near, key=lambda one: abs(one - step))] if near else []
