"""Optuna's trials as what the engine learns from.

Given: trials as Optuna stores them. Gives: rows, each with the values of a trial's parameters and its result.
Does not know: the engine, the sampler.

* COMPLETE: its values. If one is infinite, the trial counts as failed.
* PRUNED: the value it was heading for (`Curves`); without a report it counts as failed.
* FAIL: failed; the engine avoids regions where many trials fail.
* RUNNING, and WAITING with fixed parameters: pending.
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

#: What the sampler has suggested for a trial, stored with the trial: it may end before it has asked for all of it, and other
#: processes must know what's pending.
OFFERED = "optimist:offered"
#: The same for parameters whose range is known only when they're asked for: positions in that range.
PLACES = "optimist:places"
#: How many gains are remembered for each step.
MEMORY = 64
#: How many gains at a step it takes to trust their spread.
ENOUGH = 4
#: Gains that differ by less than this share of the largest count as equal.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Outcome:
    """A value to maximize, and its standard deviation if that's known."""

    y: float
    noise_std: float | None = None


@dataclass
class Row:
    """A trial: its parameters by name, in Optuna's internal representation, and its result."""

    number: int
    values: dict[str, float]
    distributions: dict[str, BaseDistribution]
    places: dict[str, float]
    #: Fixed parameters, as the user has them: without a distribution there's no internal representation.
    fixed: dict[str, Any]
    #: The constraints that the trial has set, which hold at 0 or below.
    constraints: dict[str, float]
    #: It ran to its end, so it doesn't need parameters that it hasn't asked for.
    is_complete: bool = False
    #: One for each objective; `None` if the trial has failed.
    outcomes: tuple[Outcome, ...] | None = None


def row_of(trial: FrozenTrial) -> Row:
    """A trial without its result. If it isn't complete, it also has what it was offered."""
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
    """The constraints of a trial, as Optuna 5 stores them and as samplers of all versions do. Optuna 4 can't read the former."""
    listed = {str(i): float(one) for i, one in enumerate(attributes.get("constraints") or ())}
    start = "constraints:"
    return listed | {key[len(start) :]: float(one) for key, one in attributes.items() if key.startswith(start)}


@dataclass
class Curves:
    """What a report is worth: how much complete trials gained after the same step.

    Trials are compared at equal steps. A pruned trial counts with its last report plus the median gain of complete trials from
    that step to their end; the spread of these gains is its noise. It was pruned because it wasn't promising, so it never
    counts as better than the best complete trial. Only trials that had ended by then are used, so its value never changes.
    """

    #: The latest gains at each step.
    gains: dict[int, deque[float]] = field(default_factory=dict)
    steps: list[int] = field(default_factory=list)
    best: float = -math.inf

    def add(self, reports: dict[int, float], final: float) -> None:
        """Learns from a complete trial. All values are to be maximized."""
        self.best = max(self.best, final)
        for step, reported in reports.items():
            if not math.isfinite(reported):
                continue
            if step not in self.gains:
                self.gains[step] = deque(maxlen=MEMORY)
                insort(self.steps, step)
            self.gains[step].append(final - reported)

    def expected(self, reports: dict[int, float]) -> Outcome | None:
        """What a pruned trial would have reached; `None` if nothing is known."""
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
        if len(gains) >= ENOUGH:  # two thirds of normal values lie within one standard deviation
            spread = (gains[-1 - len(gains) // 6] - gains[len(gains) // 6]) / 2
            if spread <= ROUNDING * max(map(abs, gains)):
                spread = None
        return Outcome(min(reported + median(gains), self.best), spread)

    def _gains_near(self, step: int) -> deque[float] | list[float]:
        """The gains at the nearest step that has any."""
        place = bisect_left(self.steps, step)
        near = self.steps[max(place - 1, 0) : place + 1]
        return self.gains[min(near, key=lambda one: abs(one - step))] if near else []
