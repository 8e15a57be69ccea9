"""Ask and tell, as in `skopt.Optimizer`: points are lists, and lower values are better."""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from scipy.optimize import OptimizeResult

from .._optimizer import Optimizer as Engine
from . import _arguments
from ._dimensions import check_random_state
from ._minimize import base_minimize, dummy_minimize, forest_minimize, gbrt_minimize, gp_minimize
from ._result import create_result
from ._surrogate import Surrogate
from .space import Space

__all__ = ["Optimizer", "base_minimize", "dummy_minimize", "forest_minimize", "gbrt_minimize", "gp_minimize"]

#: How many random allowed points to compare if the constraint doesn't allow the engine's suggestion.
CANDIDATES = 1000

#: A point as a key to look it up.
Key = frozenset[tuple[str, Any]]

STRATEGIES = ("cl_min", "cl_mean", "cl_max")


class Optimizer:
    """Suggests points and learns from their values, like `skopt.Optimizer`.

    A point is pending until you tell its value. Asking twice without telling in between returns the same points. After a tell,
    the next points keep away from those still pending; the engine doesn't need made-up values (`cl_min`) for that.

    Args:
        dimensions: See `optimist.skopt.Space`.
        base_estimator: `"GP"`, `"RF"`, `"ET"` and `"GBRT"` all mean GO-UCB; `"dummy"` means random points. Any optimizer of
            Optimist works as well: `"gp-ei"`, `"tpe"`, `op.GoUcb(…)`.
        n_initial_points: How many points that fill the space come first; 10 leaves it to the engine.
        random_state: The same seed gives the same points.
        space_constraint: See `constraint` of `optimist.skopt.Space`.
        avoid_duplicates: Whether to replace a point that was already told by another one. The engine may still repeat the best
            point once, to measure the noise.
        model_queue_size: How many models a result keeps.
        n_calls: How many points you plan. scikit-optimize doesn't have it; GO-UCB explores less towards the end.

    `n_jobs`, `acq_func`, `acq_optimizer` and their arguments are checked, but the engine has its own.
    """

    def __init__(
        self,
        dimensions: Any,
        base_estimator: Any = "gp",
        n_random_starts: int | None = None,
        n_initial_points: int = 10,
        initial_point_generator: Any = "random",
        n_jobs: int = 1,
        acq_func: str = "gp_hedge",
        acq_optimizer: str = "auto",
        random_state: Any = None,
        model_queue_size: int | None = None,
        space_constraint: Callable[[list[Any]], bool] | str | Sequence[str] | None = None,
        acq_func_kwargs: dict[str, Any] | None = None,
        acq_optimizer_kwargs: dict[str, Any] | None = None,
        avoid_duplicates: bool = True,
        *,
        n_calls: int = 100,
    ) -> None:
        arguments = {name: value for name, value in locals().items() if name != "self"}
        self.specs: dict[str, Any] = {"args": arguments, "function": "Optimizer"}
        if n_random_starts is not None:
            warnings.warn("n_random_starts is now called n_initial_points", DeprecationWarning, stacklevel=2)
            n_initial_points = n_random_starts
        if n_initial_points < 0:
            raise ValueError(f"n_initial_points must be 0 or more, got {n_initial_points}")
        _arguments.check_acquisition(acq_func)
        _arguments.check_generator(initial_point_generator)
        options = {**(acq_func_kwargs or {}), **(acq_optimizer_kwargs or {})}
        known = {name: value for name, value in options.items() if name in _arguments.IGNORED}
        _arguments.warn_of_ignored(
            2, acq_func=acq_func, acq_optimizer=acq_optimizer, initial_point_generator=initial_point_generator, **known
        )
        self.rng = check_random_state(random_state)
        self.space = Space(dimensions, constraint=space_constraint)
        self.acq_func, self.acq_func_kwargs, self.avoid_duplicates = acq_func, dict(acq_func_kwargs or {}), avoid_duplicates
        self.n_initial_points_ = n_initial_points
        self.max_model_queue_size = model_queue_size
        self.method = _arguments.method_of(base_estimator, n_initial_points)
        #: The points told, their values, and the standard deviations of those values, if they were given.
        self.Xi: list[Any] = []
        self.yi: list[float] = []
        self._noise: list[float | None] = []
        self._told: set[Key] = set()
        self._n_calls = n_calls
        self._engine = Engine(
            self.space.engine, self.method, trials=n_calls, seed=int(self.rng.randint(2**31)), direction="minimize"
        )
        #: The pending points, as the user and as the engine have them; and those that the next ask returns again.
        self._pending: list[tuple[list[Any], dict[str, Any]]] = []
        self._asked: list[list[Any]] = []

    def ask(self, n_points: int | None = None, strategy: str = "cl_min") -> Any:
        """Returns the next point, or a list of `n_points` to try at the same time.

        `strategy` is checked but not needed: pending points don't need a made-up value.
        """
        if n_points is not None and (isinstance(n_points, bool) or not isinstance(n_points, numbers.Integral) or n_points < 1):
            raise ValueError(f"n_points must be an integer above 0, got {n_points!r}")
        if strategy not in STRATEGIES:
            raise ValueError(f"strategy must be one of {', '.join(STRATEGIES)}, got {strategy!r}")
        wanted = 1 if n_points is None else int(n_points)
        while len(self._asked) < wanted:
            self._asked.append(self._suggest())
        return self._asked[0] if n_points is None else list(self._asked[:wanted])

    def tell(self, x: Sequence[Any], y: Any, fit: bool = True, *, noise_std: Any = None) -> OptimizeResult:
        """Records the value of a point, or the values of several, and returns all results so far.

        NaN and infinities say that a trial failed; the engine learns from that. `noise_std`, which scikit-optimize doesn't
        have, is the standard deviation of each value's noise, if you know it. `fit` has no effect: the model is fitted when
        it's needed.
        """
        several = len(x) > 0 and all(isinstance(one, (list, tuple)) for one in x)
        points: list[Any] = list(x) if several else [x]
        if several != (hasattr(y, "__len__") and not isinstance(y, str)):
            raise ValueError(f"a point needs a value, and a list of points a list of values; got {type(x).__name__} and {y!r}")
        values = list(y) if several else [y]
        noises = list(noise_std) if hasattr(noise_std, "__len__") else [noise_std] * len(points)
        if not len(points) == len(values) == len(noises):
            raise ValueError(f"got {len(points)} points, {len(values)} values and {len(noises)} noises; pass as many of each")
        for point, value in zip(points, values, strict=True):
            if isinstance(value, bool) or not isinstance(value, numbers.Real):
                raise ValueError(f"the value of a point must be one number, got {value!r}")
            if point not in self.space:
                raise ValueError(f"the point {point} is not in the space, whose bounds are {self.space.bounds}")
        for point, value, noise in zip(points, values, noises, strict=True):
            self._record(list(point), float(value), None if noise is None else float(noise))
        self._asked = []
        return self.get_result()

    def get_result(self) -> OptimizeResult:
        """Returns all results so far, like `tell`."""
        result = create_result(self.Xi, self.yi, self.space, self.rng, models=self.models)
        result.specs = self.specs
        return result

    def run(self, func: Callable[[list[Any]], float], n_iter: int = 1) -> OptimizeResult:
        """Asks, evaluates and tells `n_iter` times."""
        for _ in range(n_iter):
            x = self.ask()
            self.tell(x, func(x))
        return self.get_result()

    def update_next(self) -> None:
        """Forgets the pending points, so that the next `ask` makes new suggestions, in a space that you may have
        changed."""
        self._rebuild(int(self.rng.randint(2**31)))

    def copy(self, random_state: Any = None) -> Optimizer:
        """Returns another optimizer that was told the same values."""
        arguments = {name: value for name, value in self.specs["args"].items() if name != "n_random_starts"}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            arguments |= {"dimensions": self.space, "random_state": random_state, "space_constraint": self.space.constraint}
            other = type(self)(**{**arguments, "n_initial_points": self.n_initial_points_})
        for x, y, noise in zip(self.Xi, self.yi, self._noise, strict=True):
            other._record(x, y, noise)
        return other

    @property
    def models(self) -> list[Surrogate]:
        """The model after each trial past the initial ones; each is fitted when it's used."""
        if self.method == "random":
            return []
        n_told = len(self.Xi)
        first = max(1, min(self.n_initial_points_, n_told))
        places = range(first, n_told + 1) if any(map(math.isfinite, self.yi)) else ()
        found = [Surrogate(self.space, self.Xi, self.yi, self._noise, n) for n in places]
        size = self.max_model_queue_size
        return found if size is None else found[max(0, len(found) - size) :]

    def _suggest(self) -> list[Any]:
        params = self._engine.ask()
        point = self.space.from_engine(params)
        # repeating the best point tells noise from roughness, so it isn't a duplicate by mistake
        is_repeat = self._engine.why.get("phase") == "repeat"
        if not self.space.is_allowed(point) or (self.avoid_duplicates and not is_repeat and self._is_known(point)):
            replaced = self._replacement()
            if replaced is not None:
                self._engine.withdraw(params)
                point, params = replaced, self.space.to_engine(replaced)
                self._engine.propose(params)
        self._pending.append((point, params))
        return point

    def _is_known(self, point: list[Any]) -> bool:
        params = self.space.to_engine(point)
        return _key(params) in self._told or any(params == other for _, other in self._pending)

    def _replacement(self) -> list[Any] | None:
        """The most promising of random points that are allowed and new; `None` if there are none."""
        drawn = self.space.grid(CANDIDATES) or self.space.rvs(CANDIDATES, random_state=self.rng)
        fresh = [point for point in drawn if not self.avoid_duplicates or not self._is_known(point)]
        if not fresh or self.method == "random" or not any(map(math.isfinite, self.yi)):
            return fresh[0] if fresh else None
        predicted = Surrogate(self.space, self.Xi, self.yi, self._noise, len(self.Xi)).at(fresh)
        return fresh[int((predicted[:, 0] - predicted[:, 1]).argmin())]

    def _record(self, point: list[Any], value: float, noise: float | None) -> None:
        params = self.space.to_engine(point)
        self._forget(params)
        self._engine.tell(params, value, noise if math.isfinite(value) else None)
        self._told.add(_key(params))
        self.Xi.append(point)
        self.yi.append(value)
        self._noise.append(noise)

    def _forget(self, told: dict[str, Any]) -> None:
        """A point that is told is no longer pending; if it wasn't, the pending point asked for first makes room for it."""
        same = [i for i, (_, params) in enumerate(self._pending) if params == told]
        if same or self._pending:
            _, params = self._pending.pop(same[0] if same else 0)
            self._engine.withdraw(params)

    def _rebuild(self, seed: int) -> None:
        told = list(zip(self.Xi, self.yi, self._noise, strict=True))
        self.Xi, self.yi, self._noise, self._told, self._pending, self._asked = [], [], [], set(), [], []
        self._engine = Engine(self.space.engine, self.method, trials=self._n_calls, seed=seed, direction="minimize")
        for x, y, noise in told:
            self._record(x, y, noise)

    def __repr__(self) -> str:
        return f"<optimist.skopt.Optimizer: {len(self.Xi)} points told, {len(self._pending)} pending>"


def _key(params: dict[str, Any]) -> Key:
    return frozenset(params.items())
