"""Optimizers by name, with their settings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class GoUcb:
    """GO-UCB with settings, as the table `[optimizer]` of a study file has them; `None` leaves one to the preset.

    >>> GoUcb(preset="paper", hidden=[25]).table()
    {'name': 'go-ucb', 'preset': 'paper', 'hidden': [25]}
    """

    preset: Literal["default", "paper", "theory"] = "default"
    family: str | Sequence[str] | None = None
    explore_trials: int | None = None
    exploration: float | None = None
    trust_region: bool | None = None
    warp: bool | None = None
    hidden: Sequence[int] | None = None
    activation: Literal["sigmoid", "tanh"] | None = None
    range: float | None = None
    constants: Mapping[str, float] | None = None

    def table(self) -> dict[str, Any]:
        """As a study file has it."""
        return {"name": "go-ucb", **{key: value for key, value in asdict(self).items() if value is not None}}


def table_of(optimizer: str | Mapping[str, Any] | GoUcb) -> dict[str, Any]:
    """An optimizer as a study file has it: `go-ucb:paper` and `go-ucb:family=anova:warp=false` are words for one."""
    if isinstance(optimizer, GoUcb):
        return optimizer.table()
    if isinstance(optimizer, Mapping):
        return dict(optimizer)
    if not isinstance(optimizer, str):
        raise TypeError(f"optimizer must be a name, a dictionary or op.GoUcb(…), got {type(optimizer).__name__}")
    name, *settings = optimizer.split(":")
    table: dict[str, Any] = {"name": name}
    for setting in settings:
        key, is_named, value = setting.partition("=")
        table |= {key: _read(value)} if is_named else {"preset": key}
    return table


def _read(word: str) -> Any:
    try:
        return json.loads(word)
    except ValueError:
        return word
