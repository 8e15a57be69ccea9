"""Checks of arguments; the errors say what was expected."""

from __future__ import annotations

import math
from typing import Any

from ._errors import StudyError
from ._space import native


def text(value: Any, what: str) -> str:
    """Checks a string that will be stored."""
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a string, got {value!r}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise StudyError(f"{what} {value!r} has a character that cannot be stored: {error.reason}") from None
    return value


def whole(value: Any, what: str, low: int = 1, high: int = 2**63 - 1) -> int:
    """Checks an integer from `low` to `high`."""
    value = native(value)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        limit = f"of {low} or more" if high == 2**63 - 1 else f"from {low} to {high}"
        raise StudyError(f"{what} must be a whole number {limit}, got {value!r}")
    return value


def finite(value: Any, what: str) -> float:
    """Checks a finite number."""
    value = native(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise StudyError(f"{what} must be a finite number, got {value!r}")
    return float(value)


def positive(value: Any, what: str, high: float = math.inf) -> float:
    """Checks a finite number above 0."""
    number = finite(value, what)
    if not 0 < number < high:
        raise StudyError(f"{what} must be above 0{'' if high == math.inf else f' and below {high:g}'}, got {number:g}")
    return number


def several(values: Any, what: str) -> list[Any]:
    """Checks that there is a number for each weight."""
    try:
        return list(values)
    except TypeError:
        raise TypeError(f"{what} must be a list with a number for each weight, got {values!r}") from None


def seed(value: Any) -> int:
    """Checks a seed."""
    value = native(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**64:
        raise StudyError(f"seed must be a whole number from 0 to 2^64 - 1, got {value!r}")
    return value


def direction(value: Any) -> str:
    """Checks a direction."""
    if value not in ("minimize", "maximize"):
        raise StudyError(f'direction must be "minimize" or "maximize", got {value!r}')
    return str(value)


#: The longest duration that the library can store, in seconds.
LONGEST = 1e15


def plan(keys: dict[str, Any]) -> dict[str, Any]:
    """Checks the keys of a plan, which may change while a study runs."""
    checks = {
        "trials": whole,
        "workers": whole,
        "lease": _seconds,
        "max_attempts": whole,
        "max_failures": whole,
        "replicates": whole,
        "max_time": _seconds,
        "target": finite,
        "min_gain": positive,
    }
    for key in keys:
        if key not in checks:
            from difflib import get_close_matches

            near = get_close_matches(key, checks, 1)
            hint = f"did you mean `{near[0]}`?" if near else f"choose from {', '.join(checks)}"
            raise TypeError(f"a study has no `{key}`; {hint}")
    return {key: checks[key](value, key) for key, value in keys.items() if value is not None}


def _seconds(value: Any, what: str) -> float:
    return positive(value, what, LONGEST)
