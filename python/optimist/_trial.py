"""Trials, and the answers of a study: the best point, or a front."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from ._space import Bool, Choice, Float, Int, Parameter

if TYPE_CHECKING:
    from ._study import Study


class Declaring:
    """The calls with which an objective declares its parameters as it runs."""

    def float(
        self,
        name: str,
        low: builtins.float,
        high: builtins.float,
        *,
        log: builtins.bool = False,
        step: builtins.float | None = None,
    ) -> builtins.float:
        """Declares a float parameter and returns its value in this trial."""
        return builtins.float(self._declare(name, Float(low, high, log, step)))

    def int(
        self,
        name: str,
        low: builtins.int,
        high: builtins.int,
        *,
        log: builtins.bool = False,
        step: builtins.int | None = None,
    ) -> builtins.int:
        """Declares an integer parameter and returns its value in this trial."""
        return builtins.int(self._declare(name, Int(low, high, log, step)))

    def bool(self, name: str) -> builtins.bool:
        """Declares a boolean parameter and returns its value in this trial."""
        return builtins.bool(self._declare(name, Bool()))

    def choice(self, name: str, options: Sequence[Any] | Mapping[str, Any]) -> Any:
        """Declares a categorical parameter and returns its value in this trial, which is one of the objects you pass."""
        return self._declare(name, Choice(options))

    def _declare(self, name: str, parameter: Parameter) -> Any:
        raise NotImplementedError


@dataclass(frozen=True)
class Trial(Declaring):
    """A point to measure, or one that was measured.

    A trial is a snapshot: it doesn't change when you tell its value; `Study.get_trial` returns it as it is now.
    `trial["lr"]` is short for `trial.params["lr"]`.
    """

    number: int
    """Counted from 0, in the order of asking."""
    params: dict[str, Any]
    """The active parameters, as plain Python values; choices are the very objects you passed."""
    state: str = "running"
    """`running`, `waiting`, `complete`, `failed` or `cancelled`."""
    source: str = "suggested"
    """Where the point comes from: `suggested`, `enqueued`, `replicate` or `imported`."""
    why: Mapping[str, Any] | None = None
    """How the optimizer found it, as it's stored in the log."""
    value: float | None = None
    """The measured value; the mean, if it was measured several times."""
    noise_std: float | Mapping[str, float] | None = None
    """Standard deviation of its noise, as it was told."""
    metrics: Mapping[str, Any] = field(default_factory=dict)
    """Other results told with the value."""
    note: str | None = None
    """A note told with the value."""
    failure: str | None = None
    """How it failed: `crashed`, `infeasible`, …"""
    reason: str | None = None
    """Why it failed, or why it was last put back."""
    stderr: str | None = None
    """The end of the traceback, or of what the command wrote to standard error."""
    attempts: int = 1
    """How many times it was started."""
    seconds: float | None = None
    """How long it took, in seconds."""
    worker: str | None = None
    """Who measures or measured it."""
    amended: Sequence[Mapping[str, Any]] = ()
    """What the log said before each amendment, the oldest first."""
    asked_at: datetime | None = None
    """When it was asked for, in UTC."""
    ended_at: datetime | None = None
    """When it ended, in UTC."""
    study: Study | None = field(default=None, repr=False, compare=False)
    """Its study."""
    values: Mapping[str, float] = field(default_factory=dict)
    """With several outcomes, the measured values by name; the means, if they were measured several times. A failed trial may
    have some of them."""
    feasible: bool | None = None
    """Whether it satisfies all constraints on outcomes; `None` if there are none, or if too little was measured to tell."""

    def __getitem__(self, name: str) -> Any:
        return self.params[name]

    def __hash__(self) -> builtins.int:
        return hash(self.number)

    def tell(
        self,
        value: float | Mapping[str, float],
        *,
        noise_std: float | Mapping[str, float] | None = None,
        metrics: Mapping[str, Any] | None = None,
        note: str | None = None,
        seconds: float | None = None,
        params: Mapping[str, Any] | None = None,
    ) -> None:
        """Stores its value; see `Study.tell`."""
        self._of().tell(self, value, noise_std=noise_std, metrics=metrics, note=note, seconds=seconds, params=params)

    def fail(self, reason: str = "failed", *, values: Mapping[str, float] | None = None) -> None:
        """Marks it as failed; see `Study.fail`."""
        self._of().fail(self, reason, values=values)

    def cancel(self) -> None:
        """Cancels it; see `Study.cancel`."""
        self._of().cancel(self)

    def _declare(self, name: str, parameter: Parameter) -> Any:
        return self._of()._define(self, name, parameter)

    def _of(self) -> Study:
        if self.study is None:
            raise ValueError(f"trial {self.number} belongs to no study; tell it with `study.tell({self.number}, value)`")
        return self.study


@dataclass(frozen=True)
class Best:
    """The recommended point: the one with the best expected value, which needn't be the best observed one if values are noisy.

    >>> import optimist as op
    >>> best = op.minimize(lambda x: (x - 0.3) ** 2, {"x": (-1.0, 1.0)}, trials=12)
    >>> best.value == best.study.trials[best.trial].value
    True
    """

    params: dict[str, Any]
    """The active parameters of the point."""
    value: float | None
    """The measured value; `None` if the point wasn't tried."""
    mean: float
    """The value that the model expects."""
    std: float | None
    """The standard deviation of that expectation; `None` if the optimizer has no model."""
    trial: int | None
    """The number of the first trial at this point."""
    study: Study = field(repr=False, compare=False)
    """The study that recommends it."""
    feasible: float | None = None
    """The probability that it satisfies all constraints on outcomes; `None` if there are none."""
    outcomes: Mapping[str, Expected] = field(default_factory=dict)
    """Each outcome by name, if they have names. `value`, `mean` and `std` are then those of the goal; without a goal, `mean` is
    NaN."""


@dataclass(frozen=True)
class Expected:
    """One outcome at a point: measured and expected."""

    value: float | None
    """The measured value; `None` if the point wasn't tried."""
    mean: float
    """The value that the model expects."""
    std: float | None
    """The standard deviation of that expectation; `None` if the optimizer has no model."""


@dataclass(frozen=True)
class FrontPoint:
    """A point of a front: no other point is expected to be better in every goal."""

    params: dict[str, Any]
    """The active parameters of the point."""
    outcomes: Mapping[str, Expected]
    """Each outcome by name, measured and expected."""
    feasible: float | None
    """The probability that it satisfies all constraints on outcomes; `None` if there are none."""
    is_knee: bool
    """Whether it's the knee: the compromise that gives up little in every goal."""
    trial: int | None
    """The number of the first trial at this point."""

    @property
    def values(self) -> dict[str, float | None]:
        """The measured value of each outcome; `None` if the point wasn't tried."""
        return {name: one.value for name, one in self.outcomes.items()}


@dataclass(frozen=True)
class Front:
    """The best trade-offs between several goals: `for point in study.front`."""

    points: Sequence[FrontPoint]
    """The points, none of which is expected to be better than another in every goal."""
    hypervolume: float | None
    """The hypervolume that the feasible trials cover beyond the reference; `None` if none is feasible, or if it would take too
    long to compute."""
    reference: Mapping[str, float]
    """For each goal, the value beyond which a point is worth nothing: as you set it, or inferred from the trials."""
    study: Study = field(repr=False, compare=False)
    """The study that it belongs to."""

    @property
    def knee(self) -> FrontPoint:
        """The compromise that gives up little in every goal."""
        return next((point for point in self.points if point.is_knee), self.points[0])

    def __iter__(self) -> Iterator[FrontPoint]:
        return iter(self.points)

    def __len__(self) -> int:
        return len(self.points)


@dataclass(frozen=True)
class Verification:
    """The result of `Study.verify`. It's true if every suggestion came out the same."""

    records: int
    """How many records the log has."""
    suggestions: int
    """How many suggestions were recomputed."""
    mismatches: list[int]
    """The numbers of the trials whose suggestion came out differently."""
    by_other_engines: int
    """How many suggestions were made by another version of the engine and can't be recomputed with this one."""

    def __bool__(self) -> bool:
        return not self.mismatches


def instant(milliseconds: int | None) -> datetime | None:
    """A time in the log, in UTC."""
    return None if milliseconds is None else datetime.fromtimestamp(milliseconds / 1000, tz=timezone.utc)
