"""A trial: a point that is or was tried, and the best of them."""

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
    """The calls by which an objective declares its parameters as it runs."""

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
        """Declares a categorical parameter and returns its value in this trial: one of the objects you give."""
        return self._declare(name, Choice(options))

    def _declare(self, name: str, parameter: Parameter) -> Any:
        raise NotImplementedError


@dataclass(frozen=True)
class Trial(Declaring):
    """A point to measure, or one that was measured; a snapshot, which does not change.

    `trial["lr"]` is short for `trial.params["lr"]`.
    """

    #: Counted from 0, in the order of asking.
    number: int
    #: The active parameters, as Python's own types; choices are the objects that were given.
    params: dict[str, Any]
    #: `running`, `waiting`, `complete`, `failed` or `cancelled`.
    state: str = "running"
    #: Who wanted this point: `suggested`, `enqueued`, `replicate` or `imported`.
    source: str = "suggested"
    #: How the optimizer found it, as the log has it.
    why: Mapping[str, Any] | None = None
    #: What was measured; of several measurements the mean.
    value: float | None = None
    noise_std: float | Mapping[str, float] | None = None
    metrics: Mapping[str, Any] = field(default_factory=dict)
    note: str | None = None
    #: In which way it failed, such as `crashed`.
    failure: str | None = None
    #: Why it failed, or was last put back.
    reason: str | None = None
    #: The end of the traceback, or of what the command wrote to standard error.
    stderr: str | None = None
    attempts: int = 1
    #: How long it took.
    seconds: float | None = None
    worker: str | None = None
    #: What the log said before it was amended, the first first.
    amended: Sequence[Mapping[str, Any]] = ()
    asked_at: datetime | None = None
    ended_at: datetime | None = None
    study: Study | None = field(default=None, repr=False, compare=False)
    #: What was measured of each of several outcomes; of several measurements the mean. A trial that failed may have some.
    values: Mapping[str, float] = field(default_factory=dict)
    #: Whether it keeps all constraints on outcomes; `None` if there are none, or too little was measured.
    feasible: bool | None = None

    def __getitem__(self, name: str) -> Any:
        return self.params[name]

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
        """Stores its value: :meth:`Study.tell`."""
        self._of().tell(self, value, noise_std=noise_std, metrics=metrics, note=note, seconds=seconds, params=params)

    def fail(self, reason: str = "failed", *, values: Mapping[str, float] | None = None) -> None:
        """Marks it as failed: :meth:`Study.fail`."""
        self._of().fail(self, reason, values=values)

    def cancel(self) -> None:
        """Gives it up: :meth:`Study.cancel`."""
        self._of().cancel(self)

    def _declare(self, name: str, parameter: Parameter) -> Any:
        return self._of()._define(self, name, parameter)

    def _of(self) -> Study:
        if self.study is None:
            raise ValueError(f"trial {self.number} belongs to no study; tell it with `study.tell({self.number}, value)`")
        return self.study


@dataclass(frozen=True)
class Best:
    """The point with the best expected value; with noise, that need not be the best observed one."""

    params: dict[str, Any]
    #: What its trial measured; `None` if nobody tried it.
    value: float | None
    #: What the model expects there.
    mean: float
    #: How unsure that is, one standard deviation; `None` if the optimizer has no model.
    std: float | None
    #: The number of the first trial that tried it.
    trial: int | None
    study: Study = field(repr=False, compare=False)
    #: How likely all constraints on outcomes are kept; `None` if there are none.
    feasible: float | None = None
    #: What is known of each outcome, if they have names. `value`, `mean` and `std` are those of the goal; without one, `mean`
    #: is NaN.
    outcomes: Mapping[str, Expected] = field(default_factory=dict)


@dataclass(frozen=True)
class Expected:
    """What is known of an outcome at a point."""

    #: What its trial measured; `None` if nobody tried it.
    value: float | None
    #: What the model expects there.
    mean: float
    #: How unsure that is, one standard deviation; `None` if the optimizer has no model.
    std: float | None


@dataclass(frozen=True)
class FrontPoint:
    """A point of a front: no other is expected to be better in every goal."""

    params: dict[str, Any]
    #: What is known of each outcome there.
    outcomes: Mapping[str, Expected]
    #: How likely all constraints on outcomes are kept; `None` if there are none.
    feasible: float | None
    #: Whether it gives up little of anything.
    is_knee: bool
    #: The number of the first trial that tried it.
    trial: int | None

    @property
    def values(self) -> dict[str, float | None]:
        """What its trial measured."""
        return {name: one.value for name, one in self.outcomes.items()}


@dataclass(frozen=True)
class Front:
    """What there is to choose from where several goals are traded off; `for point in front`."""

    points: Sequence[FrontPoint]
    #: What the feasible trials cover beyond the reference; `None` if none is feasible, or it would take too long to compute.
    hypervolume: float | None
    #: For each goal, what is worth nothing: as you said, or inferred from the trials.
    reference: Mapping[str, float]
    study: Study = field(repr=False, compare=False)

    @property
    def knee(self) -> FrontPoint:
        """The point that gives up little of anything."""
        return next((point for point in self.points if point.is_knee), self.points[0])

    def __iter__(self) -> Iterator[FrontPoint]:
        return iter(self.points)

    def __len__(self) -> int:
        return len(self.points)


@dataclass(frozen=True)
class Verification:
    """The result of repeating every suggestion. True if all came out the same."""

    records: int
    suggestions: int
    #: Trials whose suggestion came out differently.
    mismatches: list[int]
    #: Suggestions that another engine made, which cannot be made again here.
    by_other_engines: int

    def __bool__(self) -> bool:
        return not self.mismatches


def instant(milliseconds: int | None) -> datetime | None:
    """A time of the log."""
    return None if milliseconds is None else datetime.fromtimestamp(milliseconds / 1000, tz=timezone.utc)
