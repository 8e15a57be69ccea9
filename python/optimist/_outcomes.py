"""Outcomes: what a trial measures, and what you want of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from . import _arguments
from ._errors import StudyError


@dataclass(frozen=True)
class Minimize:
    """A goal for an outcome: as small as possible.

    Args:
        reference: With several goals, values above it are worth nothing. By default, it's inferred from the trials.

    >>> import optimist as op
    >>> outcomes = {"accuracy": "maximize", "latency_ms": op.Minimize(reference=50), "memory_gb": op.AtMost(8)}
    >>> op.Study("net", {"depth": (1, 12)}, outcomes=outcomes).outcomes["latency_ms"]
    Minimize(reference=50.0)
    """

    reference: float | None = None
    """With several goals, values above it are worth nothing."""


@dataclass(frozen=True)
class Maximize:
    """A goal for an outcome: as large as possible.

    Args:
        reference: With several goals, values below it are worth nothing. By default, it's inferred from the trials.
    """

    reference: float | None = None
    """With several goals, values below it are worth nothing."""


@dataclass(frozen=True)
class AtMost:
    """A constraint on an outcome: a trial is feasible if it measures no more than `bound`.

    >>> import optimist as op
    >>> study = op.Study("s", {"x": (0.0, 1.0)}, outcomes={"gain": "maximize", "cost": op.AtMost(0.5)}, trials=12)
    >>> study.run(lambda x: {"gain": x, "cost": x**2}).best.params["x"] ** 2 <= 0.5
    True
    """

    bound: float
    """The largest value allowed."""


@dataclass(frozen=True)
class AtLeast:
    """A constraint on an outcome: a trial is feasible if it measures no less than `bound`."""

    bound: float
    """The smallest value allowed."""


Wanted = Minimize | Maximize | AtMost | AtLeast | Literal["minimize", "maximize"]


def written(outcomes: Mapping[str, Wanted]) -> list[dict[str, Any]]:
    """Outcomes as a definition has them."""
    if not isinstance(outcomes, Mapping):
        raise TypeError(f'outcomes must be a dictionary such as {{"cost": "minimize"}}, got {type(outcomes).__name__}')
    return [{"name": _arguments.text(name, "the name of an outcome"), **_written(name, one)} for name, one in outcomes.items()]


def _written(name: str, wanted: Wanted) -> dict[str, Any]:
    if isinstance(wanted, str) or not isinstance(wanted, (Minimize, Maximize, AtMost, AtLeast)):
        if wanted not in ("minimize", "maximize"):
            raise StudyError(
                f'outcome `{name}` must be "minimize", "maximize", op.Minimize(…), op.Maximize(…), op.AtMost(…) or '
                f"op.AtLeast(…), got {wanted!r}"
            )
        return {"goal": wanted}
    if isinstance(wanted, (AtMost, AtLeast)):
        key = "at_most" if isinstance(wanted, AtMost) else "at_least"
        return {key: _arguments.finite(wanted.bound, f"the bound of outcome `{name}`")}
    goal = {"goal": "minimize" if isinstance(wanted, Minimize) else "maximize"}
    if wanted.reference is None:
        return goal
    return {**goal, "reference": _arguments.finite(wanted.reference, f"the reference of outcome `{name}`")}


def read(definition: Mapping[str, Any]) -> dict[str, Wanted]:
    """The outcomes of a definition; an unnamed one is called `value`."""
    if "outcomes" not in definition:
        return {"value": Minimize() if definition["direction"] == "minimize" else Maximize()}
    return {one["name"]: _read(one) for one in definition["outcomes"]}


def _read(one: Mapping[str, Any]) -> Wanted:
    if "at_most" in one:
        return AtMost(one["at_most"])
    if "at_least" in one:
        return AtLeast(one["at_least"])
    return (Minimize if one["goal"] == "minimize" else Maximize)(one.get("reference"))


def names_of(definition: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The names of the outcomes; `None` if the only one has no name."""
    return tuple(one["name"] for one in definition["outcomes"]) if "outcomes" in definition else None
