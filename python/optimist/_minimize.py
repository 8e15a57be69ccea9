"""`minimize` and `maximize`: the best input of a function, in one call."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ._errors import StudyError
from ._space import SpaceLike
from ._study import Study
from ._trial import Best, Trial

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from ._policy import GoUcb


def minimize(
    objective: Callable[..., Any],
    space: SpaceLike | None = None,
    *,
    trials: int = 50,
    workers: int | None = None,
    seed: int = 0,
    executor: Executor | None = None,
    timeout: float | None = None,
    name: str | None = None,
    storage: str | os.PathLike[str] | None = None,
    optimizer: str | Mapping[str, Any] | GoUcb = "go-ucb",
    constraints: str | Iterable[str] = (),
    callbacks: Sequence[Callable[[Study, Trial], Any]] = (),
    progress: bool | None = None,
    **plan: Any,
) -> Best:
    """Finds the input that minimizes a function.

    Args:
        objective: A function with an argument for each parameter, which returns a number; see `Study.run`.
        space: Parameters by name; leave it out if the objective declares them itself.
        trials: How many times the function may be called.
        workers, executor, timeout, callbacks, progress: See `Study.run`.
        name, storage, optimizer, seed, constraints, plan: See `Study`. The default name is that of the function.

    >>> best = minimize(lambda x, y: (x - 0.3) ** 2 + y, {"x": (-1.0, 1.0), "y": [0, 1]}, trials=15)
    >>> best.params["y"], abs(best.params["x"] - 0.3) < 0.2
    (0, True)
    """
    study = Study(
        name or str(getattr(objective, "__name__", "study")),
        space,
        direction="minimize",
        trials=trials,
        seed=seed,
        storage=storage,
        optimizer=optimizer,
        constraints=constraints,
        **plan,
    )
    study.run(objective, workers=workers, executor=executor, timeout=timeout, callbacks=callbacks, progress=progress)
    return _answer(study)


def maximize(
    objective: Callable[..., Any],
    space: SpaceLike | None = None,
    *,
    trials: int = 50,
    workers: int | None = None,
    seed: int = 0,
    executor: Executor | None = None,
    timeout: float | None = None,
    name: str | None = None,
    storage: str | os.PathLike[str] | None = None,
    optimizer: str | Mapping[str, Any] | GoUcb = "go-ucb",
    constraints: str | Iterable[str] = (),
    callbacks: Sequence[Callable[[Study, Trial], Any]] = (),
    progress: bool | None = None,
    **plan: Any,
) -> Best:
    """Finds the input that maximizes a function. Takes the arguments of `minimize`."""
    study = Study(
        name or str(getattr(objective, "__name__", "study")),
        space,
        direction="maximize",
        trials=trials,
        seed=seed,
        storage=storage,
        optimizer=optimizer,
        constraints=constraints,
        **plan,
    )
    study.run(objective, workers=workers, executor=executor, timeout=timeout, callbacks=callbacks, progress=progress)
    return _answer(study)


def _answer(study: Study) -> Best:
    best = study.best if len(study) else None
    if best is None:
        reasons = [trial.reason for trial in study.trials if trial.reason]
        last = f"; the last one failed with: {reasons[-1]}" if reasons else ""
        n = len(study)
        raise StudyError(f"{'the only trial returned no' if n == 1 else f'none of the {n} trials returned a'} value{last}")
    return best
