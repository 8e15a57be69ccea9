"""A trial: a point that is or was tried, and the best of them."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
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
    noise_std: float | None = None
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

    def __getitem__(self, name: str) -> Any:
        return self.params[name]

    def tell(
        self,
        value: float,
        *,
        noise_std: float | None = None,
        metrics: Mapping[str, Any] | None = None,
        note: str | None = None,
        seconds: float | None = None,
        params: Mapping[str, Any] | None = None,
    ) -> None:
        """Stores its value: :meth:`Study.tell`."""
        self._of().tell(self, value, noise_std=noise_std, metrics=metrics, note=note, seconds=seconds, params=params)

    def fail(self, reason: str = "failed") -> None:
        """Marks it as failed: :meth:`Study.fail`."""
        self._of().fail(self, reason)

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
