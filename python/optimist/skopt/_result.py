"""The result of a search, as in `skopt`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult

__all__ = ["OptimizeResult", "create_result"]


def create_result(
    Xi: Sequence[Any],
    yi: Sequence[float],
    space: Any = None,
    rng: Any = None,
    specs: dict[str, Any] | None = None,
    models: list[Any] | None = None,
) -> OptimizeResult:
    """The best point `x` with its value `fun`, all points `x_iters` with their values `func_vals`, and the models.

    A value that is NaN or infinite is a failure. `x` and `fun` are `None` and NaN while all have failed.
    """
    values = np.asarray(yi, dtype=float)
    finite = np.flatnonzero(np.isfinite(values))
    best = int(finite[values[finite].argmin()]) if len(finite) else None
    return OptimizeResult(
        x=None if best is None else Xi[best],
        fun=np.nan if best is None else float(values[best]),
        func_vals=values,
        x_iters=list(Xi),
        models=list(models or []),
        space=space,
        random_state=rng,
        specs=specs,
    )
