"""`gp_minimize` and its siblings, as in `skopt`. All of them search with GO-UCB, except `dummy_minimize`."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from scipy.optimize import OptimizeResult

from . import _arguments
from .callbacks import VerboseCallback, check_callback

__all__ = ["base_minimize", "dummy_minimize", "forest_minimize", "gbrt_minimize", "gp_minimize"]


def base_minimize(
    func: Callable[[list[Any]], float],
    dimensions: Any,
    base_estimator: Any,
    n_calls: int = 100,
    n_random_starts: int | None = None,
    n_initial_points: int = 10,
    initial_point_generator: Any = "random",
    acq_func: str = "EI",
    acq_optimizer: str = "lbfgs",
    x0: Any = None,
    y0: Any = None,
    random_state: Any = None,
    verbose: bool = False,
    callback: Any = None,
    n_points: int = 10000,
    n_restarts_optimizer: int = 5,
    xi: float = 0.01,
    kappa: float = 1.96,
    n_jobs: int = 1,
    model_queue_size: int | None = None,
    space_constraint: Any = None,
) -> OptimizeResult:
    """Minimizes a function like `gp_minimize`."""
    return _minimize(func, dimensions, base_estimator, **_rest(locals(), "base_minimize"))


def gp_minimize(
    func: Callable[[list[Any]], float],
    dimensions: Any,
    base_estimator: Any = None,
    n_calls: int = 100,
    n_random_starts: int | None = None,
    n_initial_points: int = 10,
    initial_point_generator: Any = "random",
    acq_func: str = "gp_hedge",
    acq_optimizer: str = "auto",
    x0: Any = None,
    y0: Any = None,
    random_state: Any = None,
    verbose: bool = False,
    callback: Any = None,
    n_points: int = 10000,
    n_restarts_optimizer: int = 5,
    xi: float = 0.01,
    kappa: float = 1.96,
    noise: Any = "gaussian",
    n_jobs: int = 1,
    model_queue_size: int | None = None,
    space_constraint: Any = None,
) -> OptimizeResult:
    """Minimizes a function that takes a list.

    Args:
        func: Takes a list with a value for each dimension and returns a number; NaN says that it failed there.
        dimensions: As of `optimist.skopt.Space`.
        n_calls: How often it may be called.
        n_initial_points: How many points spread over the space come first; 10 leaves it to the engine.
        x0, y0: A point or several to begin with, and their values if they are known.
        random_state: For all that is random.
        verbose: Whether to print how it goes.
        callback: A function of the results so far, or several; one that returns true ends the search.
        noise: The variance of the values, if you know it.
        base_estimator, space_constraint, model_queue_size: As of `optimist.skopt.Optimizer`.

    What remains decides how scikit-optimize uses its models; a warning says if a change of it would be lost.

    >>> result = gp_minimize(lambda x: (x[0] - 0.3) ** 2 + (x[1] == "b"), [(-1.0, 1.0), ["a", "b"]], n_calls=15, random_state=0)
    >>> result.x[1], abs(result.x[0] - 0.3) < 0.1
    ('a', True)
    """
    return _minimize(func, dimensions, base_estimator, **_rest(locals(), "gp_minimize"))


def forest_minimize(
    func: Callable[[list[Any]], float],
    dimensions: Any,
    base_estimator: Any = "ET",
    n_calls: int = 100,
    n_random_starts: int | None = None,
    n_initial_points: int = 10,
    acq_func: str = "EI",
    initial_point_generator: Any = "random",
    x0: Any = None,
    y0: Any = None,
    random_state: Any = None,
    verbose: bool = False,
    callback: Any = None,
    n_points: int = 10000,
    xi: float = 0.01,
    kappa: float = 1.96,
    n_jobs: int = 1,
    model_queue_size: int | None = None,
    space_constraint: Any = None,
) -> OptimizeResult:
    """Minimizes a function like `gp_minimize`."""
    return _minimize(func, dimensions, base_estimator, **_rest(locals(), "forest_minimize"))


def gbrt_minimize(
    func: Callable[[list[Any]], float],
    dimensions: Any,
    base_estimator: Any = None,
    n_calls: int = 100,
    n_random_starts: int | None = None,
    n_initial_points: int = 10,
    initial_point_generator: Any = "random",
    acq_func: str = "LCB",
    acq_optimizer: str = "auto",
    x0: Any = None,
    y0: Any = None,
    random_state: Any = None,
    verbose: bool = False,
    callback: Any = None,
    n_points: int = 10000,
    xi: float = 0.01,
    kappa: float = 1.96,
    n_jobs: int = 1,
    model_queue_size: int | None = None,
    space_constraint: Any = None,
) -> OptimizeResult:
    """Minimizes a function like `gp_minimize`."""
    return _minimize(func, dimensions, base_estimator, **_rest(locals(), "gbrt_minimize"))


def dummy_minimize(
    func: Callable[[list[Any]], float],
    dimensions: Any,
    n_calls: int = 100,
    initial_point_generator: Any = "random",
    x0: Any = None,
    y0: Any = None,
    random_state: Any = None,
    verbose: bool = False,
    callback: Any = None,
    model_queue_size: int | None = None,
    init_point_gen_kwargs: dict[str, Any] | None = None,
    space_constraint: Any = None,
) -> OptimizeResult:
    """Tries random points: the baseline for any other search."""
    rest = _rest(locals(), "dummy_minimize")
    rest.pop("init_point_gen_kwargs")
    return _minimize(func, dimensions, "dummy", n_initial_points=0, **rest)


def _rest(arguments: dict[str, Any], function: str) -> dict[str, Any]:
    rest = {name: value for name, value in arguments.items() if name not in ("func", "dimensions", "base_estimator")}
    return {**rest, "specs": {"args": dict(arguments), "function": function}}


def _minimize(
    func: Callable[[list[Any]], float],
    dimensions: Any,
    base_estimator: Any,
    *,
    n_calls: int,
    specs: dict[str, Any],
    n_initial_points: int,
    n_random_starts: int | None = None,
    x0: Any,
    y0: Any,
    random_state: Any,
    verbose: bool,
    callback: Any,
    model_queue_size: int | None,
    space_constraint: Any,
    noise: Any = "gaussian",
    n_jobs: int = 1,
    acq_func: str = "EI",
    **ignored: Any,
) -> OptimizeResult:
    from .optimizer import Optimizer

    if n_random_starts is not None:
        warnings.warn("n_random_starts is now called n_initial_points", DeprecationWarning, stacklevel=3)
        n_initial_points = n_random_starts
    if isinstance(n_calls, bool) or not isinstance(n_calls, numbers.Integral) or n_calls < 1:
        raise ValueError(f"n_calls must be an integer above 0, got {n_calls!r}")
    _arguments.check_acquisition(acq_func)
    _arguments.check_generator(ignored.get("initial_point_generator"))
    _arguments.warn_of_ignored(3, acq_func=acq_func, **ignored)
    noise_std = _arguments.noise_of(noise)
    first, known = _beginning(x0, y0)
    optimizer = Optimizer(
        dimensions,
        base_estimator,
        n_initial_points=n_initial_points,
        random_state=random_state,
        model_queue_size=model_queue_size,
        space_constraint=space_constraint,
        n_calls=int(n_calls) + len(known),
    )
    if any(len(point) != optimizer.space.n_dims for point in first):
        raise ValueError(f"each point of x0 needs {optimizer.space.n_dims} values, one for each dimension; got {first}")
    optimizer.specs = specs
    callbacks = list(check_callback(callback))
    if verbose:
        callbacks.append(VerboseCallback(n_total=int(n_calls), n_init=len(first) - len(known), n_random=n_initial_points))
    result = optimizer.tell(first, known, noise_std=noise_std) if known else None
    if result is not None and _is_over(callbacks, result):
        return result
    remaining = first[len(known) :]
    for call in range(int(n_calls)):
        x = remaining[call] if call < len(remaining) else optimizer.ask()
        result = optimizer.tell(x, func(x), noise_std=noise_std)
        if _is_over(callbacks, result):
            break
    return result


def _beginning(x0: Any, y0: Any) -> tuple[list[list[Any]], list[float]]:
    """The initial points, and their values if they're known."""
    if x0 is None:
        if y0 is not None and (not isinstance(y0, Iterable) or len(list(y0))):
            raise ValueError("y0 has values, but there are no points for them; pass the points as x0")
        return [], []
    points = list(x0)
    if points and not isinstance(points[0], (list, tuple)):
        points = [points]
    if y0 is None:
        return [list(point) for point in points], []
    values = [float(y) for y in (y0 if isinstance(y0, Iterable) else [y0])]
    if len(points) != len(values):
        raise ValueError(f"x0 has {len(points)} points and y0 {len(values)} values; pass as many of each")
    return [list(point) for point in points], values


def _is_over(callbacks: list[Callable[[OptimizeResult], Any]], result: OptimizeResult) -> bool:
    return any([bool(callback(result)) for callback in callbacks])  # each is called
