"""Utilities, as in `skopt.utils`: results in files, arguments by name, points as dictionaries, the lowest expected value."""

from __future__ import annotations

import copy
import functools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult

from .._packages import needed
from ._dimensions import Dimension, Integer, Real, check_random_state
from ._missing import placeholder
from ._result import create_result

__all__ = [
    "create_result",
    "dimensions_aslist",
    "dump",
    "expected_minimum",
    "expected_minimum_random_sampling",
    "load",
    "point_asdict",
    "point_aslist",
    "use_named_args",
]

#: How many points around the best one to compare, and how far away they are, as a share of each range.
REFINED, STEPS = 400, (0.1, 0.03, 0.01, 0.003, 0.001)


def __getattr__(name: str) -> Any:
    if name.startswith("cook_"):
        return placeholder("utils", name, "the engine has its own model and spreads its first points itself; pass points as x0")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def dump(res: OptimizeResult, filename: str | os.PathLike[str], store_objective: bool = True, **kwargs: Any) -> None:
    """Writes a result to a file with joblib, which compresses it if the name ends in `.gz`, `.bz2`, `.xz` or `.lzma`.

    A function that cannot be pickled, such as one in a notebook, needs `store_objective=False`.
    """
    joblib = _joblib()
    if not store_objective and res.specs and "func" in res.specs["args"]:
        res = copy.copy(res)
        arguments = {name: value for name, value in res.specs["args"].items() if name not in ("func", "callback")}
        res.specs = {**res.specs, "args": arguments}
    joblib.dump(res, os.fspath(filename), **kwargs)


def load(filename: str | os.PathLike[str], **kwargs: Any) -> OptimizeResult:
    """Reads a result that `dump` wrote. Like any pickle, it can run code: open only files that you trust."""
    return _joblib().load(os.fspath(filename), **kwargs)


def _joblib() -> Any:
    return needed("joblib", "optimist.skopt.dump", "joblib", "optimist[skopt]")


def expected_minimum(res: OptimizeResult, n_random_starts: int = 20, random_state: Any = None) -> tuple[list[Any], float]:
    """Returns the point with the lowest mean of the last model, and that mean. It may be a point that wasn't tried."""
    rng = check_random_state(random_state)
    starts = max(1000, n_random_starts)
    best, lowest = expected_minimum_random_sampling(res, starts, rng)
    for step in STEPS:
        around = [_moved(res.space.dimensions, best, step, rng) for _ in range(REFINED)]
        around = [point for point in around if point in res.space]
        if around:
            means = res.models[-1].at(around)[:, 0]
            if means.min() < lowest:
                best, lowest = around[int(means.argmin())], float(means.min())
    return best, lowest


def expected_minimum_random_sampling(
    res: OptimizeResult, n_random_starts: int = 100_000, random_state: Any = None
) -> tuple[list[Any], float]:
    """Returns the point with the lowest mean of the last model among random points and the best one tried, and that mean."""
    if not res.models:
        raise ValueError("the result has no model; random search makes none")
    points = [res.x, *res.space.rvs(n_random_starts, random_state=random_state)]
    means = res.models[-1].at(points)[:, 0]
    return points[int(means.argmin())], float(means.min())


def _moved(dimensions: Sequence[Dimension], point: Sequence[Any], step: float, rng: np.random.RandomState) -> list[Any]:
    """A point near another one: its numbers are a little different, its choices the same."""
    moved = list(point)
    for i, one in enumerate(dimensions):
        if isinstance(one, (Real, Integer)) and point[i] is not None:
            low, high, at = one._scaled([one.low, one.high, point[i]])
            moved[i] = one.from_engine(one._unscaled(at + step * (high - low) * rng.standard_normal()))
    return moved


def dimensions_aslist(search_space: Mapping[str, Any]) -> list[Any]:
    """Returns the dimensions in a dictionary, sorted by name.

    >>> dimensions_aslist({"b": (0, 1), "a": (2, 3)})
    [(2, 3), (0, 1)]
    """
    return [search_space[name] for name in sorted(search_space)]


def point_asdict(search_space: Mapping[str, Any], point_as_list: Sequence[Any]) -> dict[str, Any]:
    """Returns a point as a dictionary; its values are in the order of the sorted names.

    >>> point_asdict({"b": (0, 1), "a": (2, 3)}, [2, 0])
    {'a': 2, 'b': 0}
    """
    return dict(zip(sorted(search_space), point_as_list, strict=True))


def point_aslist(search_space: Mapping[str, Any], point_as_dict: Mapping[str, Any]) -> list[Any]:
    """Returns a point as a list, in the order of the sorted names.

    >>> point_aslist({"b": (0, 1), "a": (2, 3)}, {"b": 0, "a": 2})
    [2, 0]
    """
    return [point_as_dict[name] for name in sorted(search_space)]


def use_named_args(dimensions: Sequence[Dimension]) -> Callable[[Callable[..., Any]], Callable[[Sequence[Any]], Any]]:
    """Decorator that lets a function of named arguments take a list, for dimensions with names.

    >>> from optimist.skopt.space import Real
    >>> @use_named_args([Real(0, 1, name="a"), Real(0, 1, name="b")])
    ... def weigh(a, b):
    ...     return a + 10 * b
    >>> weigh([1, 2])
    21
    """
    unnamed = [one for one in dimensions if getattr(one, "name", None) is None]
    if unnamed:
        raise ValueError(f"each dimension needs a name, as in Real(0, 1, name='a'); these have none: {unnamed}")
    names = [str(one.name) for one in dimensions]

    def decorate(func: Callable[..., Any]) -> Callable[[Sequence[Any]], Any]:
        @functools.wraps(func)
        def of_list(x: Sequence[Any]) -> Any:
            if len(x) != len(names):
                raise ValueError(f"expected {len(names)} values, one for each of {', '.join(names)}; got {len(x)}")
            return func(**dict(zip(names, x, strict=True)))

        return of_list

    return decorate
