"""What is measured in a trial, and what is wanted of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from . import _arguments
from ._errors import StudyError


@dataclass(frozen=True)
class Minimize:
    """A goal: as small as possible. With several goals, values above `reference` are worth nothing.

    >>> Minimize(reference=50)
    Minimize(reference=50)
    """

    reference: float | None = None


@dataclass(frozen=True)
class Maximize:
    """A goal: as large as possible. With several goals, values below `reference` are worth nothing."""

    reference: float | None = None


@dataclass(frozen=True)
class AtMost:
    """A constraint on what is measured: no more than `bound`.

    >>> AtMost(8)
    AtMost(bound=8)
    """

    bound: float


@dataclass(frozen=True)
class AtLeast:
    """A constraint on what is measured: no less than `bound`."""

    bound: float


Wanted = Minimize | Maximize | AtMost | AtLeast | Literal["minimize", "maximize"]


def written(outcomes: Mapping[str, Wanted]) -> list[dict[str, Any]]:
    """Outcomes as a definition has them."""
    if not isinstance(outcomes, Mapping):
        raise TypeError(f"outcomes must be a dictionary of names and what is wanted, got {type(outcomes).__name__}")
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
    """The outcomes of a definition; of a study without named ones, the one that is called `value`."""
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
    """The names of outcomes; `None` if there is one, without a name."""
    return tuple(one["name"] for one in definition["outcomes"]) if "outcomes" in definition else None
