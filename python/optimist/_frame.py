"""Trials as the columns of a data frame, and the rows of a data frame as trials."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ._errors import StudyError
from ._objective import Measured, metrics_of
from ._space import Space, _is_equal, native

Row = tuple[dict[str, Any], Measured | str | tuple[str, Measured]]

#: What a row has in a column that isn't there.
ABSENT = object()

PLAIN = ("state", "value", "noise_std", "seconds", "source", "worker", "attempts", "reason", "note")


def columns_of(records: Sequence[Mapping[str, Any]], space: Space, outcomes: Sequence[str] | None = None) -> dict[str, list[Any]]:
    """One list per column: `number`, `state`, `value`, …, then `params_NAME`, then `metrics_NAME`.

    With several outcomes, `values_NAME`, `feasible` and `noise_std_NAME` take the place of `value` and `noise_std`.
    """
    from datetime import datetime, timezone

    columns: dict[str, list[Any]] = {"number": [one["trial"] for one in records]}
    for key in PLAIN:
        if outcomes is None or key not in ("value", "noise_std"):
            columns[key] = [one.get(key) for one in records]
        elif key == "value":
            for name in outcomes:
                columns[f"values_{name}"] = [one.get("values", {}).get(name) for one in records]
            columns["feasible"] = [one.get("feasible") for one in records]
        else:
            for name in outcomes:
                columns[f"noise_std_{name}"] = [one.get("noise_std", {}).get(name) for one in records]
    columns["attempts"] = [one.get("attempts", 1) for one in records]
    for key, column in (("asked_at", "datetime_start"), ("ended_at", "datetime_complete")):
        times = (one[key] for one in records)
        columns[column] = [None if ms is None else datetime.fromtimestamp(ms / 1000, timezone.utc) for ms in times]
    decoded = [space.decode(one["params"]) for one in records] if space._choices else [one["params"] for one in records]
    for name in space.parameters:
        columns[f"params_{name}"] = [params.get(name) for params in decoded]
    metrics = {name: None for one in records for name in one.get("metrics", ())}
    for name in metrics:
        columns[f"metrics_{name}"] = [one.get("metrics", {}).get(name) for one in records]
    return columns


def imported(trials: Any, space: Space, value: str, outcomes: Sequence[str] | None = None) -> Iterator[Row]:
    """Each row as parameters and a measurement, or the reason why there is none; rows that haven't ended are left out."""
    from ._study import rows

    for number, row in enumerate(rows(trials)):
        if not isinstance(row, Mapping):
            raise TypeError(f"row {number} must be a dictionary, got {type(row).__name__}")
        params = params_in(row, space)
        if not params:
            raise StudyError(f"row {number} has none of the study's parameters; its columns are {', '.join(map(str, row))}")
        if outcomes is not None:
            several = _several(row, number, outcomes)
            if several is not None:
                yield params, several
            continue
        if value not in row and "state" not in row:
            raise StudyError(f'row {number} has no column `{value}`; say which column has the value, as in value="loss"')
        measured = None if has_failed(row) else _number(row.get(value), number, value)
        if measured is None:
            if not has_not_ended(row):
                reason = row.get("reason")
                yield params, reason if isinstance(reason, str) else "failed"
            continue
        yield params, Measured(measured, _number(row.get("noise_std"), number, "noise_std"), *_further(row))


def params_in(row: Mapping[str, Any], space: Space) -> dict[str, Any]:
    """The parameters in a row, in columns called `NAME` or `params_NAME`. Empty cells are parameters that aren't active, unless
    `None` is one of their choices."""
    cells = {name: native(_cell(row, name)) for name in space.parameters}
    params = {name: cell for name, cell in cells.items() if not _is_missing(cell)}
    for name in [name for name, cell in cells.items() if name not in params and cell is not ABSENT]:
        has_none = any(option is None for option in space._choices.get(name, {}).values())
        when = space.parameters[name].when or {}
        if has_none and all(other in params and _is_equal(params[other], value) for other, value in when.items()):
            params[name] = None
    return params


def has_failed(row: Mapping[str, Any]) -> bool:
    """Whether a row says that its trial has failed, in our words or Optuna's."""
    return str(row.get("state")).lower() in ("failed", "fail", "pruned")


def has_not_ended(row: Mapping[str, Any]) -> bool:
    """Whether a row says that its trial has no result yet, or was cancelled."""
    return str(row.get("state")).lower() in ("running", "waiting", "cancelled")


def _several(row: Mapping[str, Any], number: int, outcomes: Sequence[str]) -> Measured | str | tuple[str, Measured] | None:
    """The outcomes in a row, or why some of them are missing; `None` if it hasn't ended."""
    inner = row.get("values")
    values: dict[str, float] = {}
    noise: dict[str, float] = {}
    for name in outcomes:
        cell = inner.get(name) if isinstance(inner, Mapping) else row.get(f"values_{name}", row.get(name))
        value = _number(cell, number, name)
        if value is not None:
            values[name] = value
        std = _number(row.get(f"noise_std_{name}"), number, f"noise_std_{name}")
        if value is not None and std is not None:
            noise[name] = std
    measured = Measured(values, noise or None, *_further(row))
    missing = [name for name in outcomes if name not in values]
    if not missing and not has_failed(row):
        return measured
    if has_not_ended(row):
        return None
    if missing and "state" not in row:
        raise StudyError(
            f"row {number} has no number in the column `values_{missing[0]}`; if the trial failed, write `failed` in `state`"
        )
    reason = row.get("reason")
    why = reason if isinstance(reason, str) else "failed"
    return (why, measured) if values else why


def _further(row: Mapping[str, Any]) -> tuple[str | None, dict[str, Any] | None]:
    """The note and the metrics in a row."""
    note = row.get("note")
    metrics = {str(key)[8:]: cell for key, cell in row.items() if str(key).startswith("metrics_") and not _is_missing(cell)}
    return note if isinstance(note, str) else None, metrics_of(metrics) if metrics else None


def _number(cell: Any, row: int, column: str) -> float | None:
    """The number in a cell; `None` if it's missing or not finite."""
    cell = native(cell)
    if _is_missing(cell):
        return None
    try:
        number = float(cell)
    except (TypeError, ValueError):
        raise StudyError(f"row {row}: `{column}` must be a number, got {cell!r}") from None
    return number if math.isfinite(number) else None


def _cell(row: Mapping[str, Any], name: str) -> Any:
    if f"params_{name}" in row:
        return row[f"params_{name}"]
    inner = row.get("params")
    return inner.get(name, ABSENT) if isinstance(inner, Mapping) else row.get(name, ABSENT)


def _is_missing(value: Any) -> bool:
    if value is None or value is ABSENT or type(value).__name__ in ("NAType", "NaTType"):  # the last two are pandas'
        return True
    value = native(value)
    return isinstance(value, float) and math.isnan(value)
