"""The model after a number of trials, to look at: predictions, and averages over a space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._optimizer import Optimizer as Engine
from .space import Space

#: How many points to predict at a time.
BLOCK = 50_000


class Surrogate:
    """The model after `n` trials. It's fitted again whenever it's used, so keeping it costs nothing.

    Args:
        space: What is searched.
        X, y, noise: Points, values and noise of all trials; lists that may grow.
        n: How many of them count.
    """

    def __init__(self, space: Space, X: list[Any], y: list[float], noise: list[float | None], n: int) -> None:
        self.space, self.n = space, n
        self._told = (X, y, noise)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The mean at transformed points (`space.transform(points)`), and the standard deviation with `return_std`."""
        found = self.at(self.space.inverse_transform(np.asarray(X)))
        return (found[:, 0], found[:, 1]) if return_std else found[:, 0]

    def at(self, points: Sequence[Sequence[Any]]) -> Any:
        """Mean and standard deviation at points: an array with two columns."""
        engine = self._engine()
        return self._predictions(engine, np.array([engine.encode(self.space.to_engine(point)) for point in points]))

    def average(self, points: Sequence[Sequence[Any]], grid: dict[int, list[Any]]) -> Any:
        """The mean, averaged over `points`, for each combination of values of some dimensions."""
        engine, columns = self._engine(), self._columns()
        base = np.array([engine.encode(self.space.to_engine(point)) for point in points])
        rows, shape = base[None], []
        for dimension, values in grid.items():
            changed = [[*points[0][:dimension], value, *points[0][dimension + 1 :]] for value in values]
            encoded = np.array([engine.encode(self.space.to_engine(point)) for point in changed])[:, columns[dimension]]
            rows = np.repeat(rows, len(values), axis=0)
            rows[..., columns[dimension]] = np.tile(encoded, (len(rows) // len(values), 1))[:, None, :]
            shape.append(len(values))
        means = self._predictions(engine, rows.reshape(-1, base.shape[1]))[:, 0]
        return means.reshape(*shape, len(points)).mean(axis=-1)

    def _engine(self) -> Engine:
        engine = Engine(self.space.engine, "go-ucb", trials=max(1, self.n), direction="minimize")
        for x, y, noise in zip(*(told[: self.n] for told in self._told), strict=True):
            engine.tell(self.space.to_engine(x), y, noise if np.isfinite(y) else None)
        return engine

    def _predictions(self, engine: Engine, encoded: Any) -> Any:
        found: list[Any] = []
        for start in range(0, len(encoded), BLOCK):
            predicted = engine.predict(encoded[start : start + BLOCK].tolist())
            if predicted is None:
                raise ValueError("there is no model yet; tell more values")
            found += predicted
        return np.array(found).reshape(-1, 2)

    def _columns(self) -> list[slice]:
        """The columns of each dimension in an encoded point."""
        columns, start = [], 0
        for one in self.space.dimensions:
            if one.when:
                raise ValueError("cannot average over a space with conditional dimensions")
            columns.append(slice(start, start + one.n_columns))
            start += one.n_columns
        return columns

    def __repr__(self) -> str:
        return f"<optimist.skopt.Surrogate after {self.n} trials>"
