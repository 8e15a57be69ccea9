"""Optuna's directions and constraints as goals of the engine.

The engine takes only a few outcomes. Constraints beyond that are combined into one outcome, the worst of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ._trials import Row

#: How many outcomes the engine takes.
MAX_OUTCOMES = 8

Told = tuple[float, float | None] | None


@dataclass(frozen=True)
class Goals:
    """The number of values to maximize, and the names of the constraints, which hold at 0 or below."""

    n_values: int = 1
    constraints: tuple[str, ...] = ()

    def to_list(self) -> list[dict[str, Any]]:
        """The goals as the engine has them."""
        limits = [{"goal": "at_least", "bound": 0.0} for _ in self._groups()]
        return [*({"goal": "maximize"} for _ in range(self.n_values)), *limits]

    def outcomes(self, row: Row) -> list[Told]:
        """The result of a trial for each goal; `None` where it failed."""
        values: list[Told] = [None] * self.n_values
        if row.outcomes is not None:
            values = [(one.y, one.noise_std) for one in row.outcomes]
        return [*values, *(self._margin(row, names) for names in self._groups())]

    def _groups(self) -> list[tuple[str, ...]]:
        """The constraints that each outcome stands for."""
        n_alone = MAX_OUTCOMES - self.n_values
        if len(self.constraints) > n_alone > 0:
            n_alone -= 1
            return [*((name,) for name in self.constraints[:n_alone]), self.constraints[n_alone:]]
        return [(name,) for name in self.constraints]

    def _margin(self, row: Row, names: tuple[str, ...]) -> Told:
        """By how much constraints hold. Optuna counts a constraint that a trial hasn't set as met; here that's by 0."""
        is_over = row.outcomes is not None
        found = [row.constraints.get(name, 0.0 if is_over else math.nan) for name in names]
        worst = max(found, key=lambda one: math.inf if math.isnan(one) else one)
        return (-worst, None) if math.isfinite(worst) else None
