"""The low level: ask and tell without storage, for your own loops and papers."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, overload

from . import _arguments, _native
from ._errors import StudyError
from ._objective import float_of
from ._packages import needed
from ._policy import Family, GoUcb, table_of
from ._space import Space, SpaceLike

T = TypeVar("T")

#: Parameters by name, or an encoded point, whose coordinates are from 0 to 1.
Point = Mapping[str, Any] | Sequence[float] | Any


@dataclass(frozen=True)
class Recommendation:
    """A point that an `Optimizer` recommends."""

    params: dict[str, Any]
    """The active parameters of the point."""
    mean: float
    """The value that the model expects."""
    std: float | None
    """The standard deviation of that expectation; `None` if the optimizer has no model."""


class Optimizer:
    """Suggests points and learns from their values. It stores nothing.

    A point is a dictionary of parameters, or encoded: an array of numbers from 0 to 1, with one coordinate for each number and
    one for each choice. You can tell the value of any point, even if you didn't ask for it. The same seed and the same calls
    give the same points as a `Study` and as the Rust library.

    Args:
        space: Parameters by name; see `Space`.
        method: `"go-ucb"`, `"go-ucb:theory"`, `"tpe"`, …, a dictionary of settings, or a `GoUcb`, which also takes your
            own family of functions.
        trials: How many trials you plan.
        seed: The same seed and the same calls give the same points.
        direction: `"maximize"`, as in the paper, or `"minimize"`.
        constraints: Linear constraints between parameters, such as `"a + 2*b <= 1"`.

    >>> optimizer = Optimizer({"x": (0.0, 1.0)}, trials=10)
    >>> for _ in range(10):
    ...     params = optimizer.ask()
    ...     optimizer.tell(params, -(params["x"] - 0.4) ** 2)
    >>> abs(optimizer.recommend().params["x"] - 0.4) < 0.1
    True
    """

    def __init__(
        self,
        space: SpaceLike,
        method: str | Mapping[str, Any] | GoUcb = "go-ucb",
        *,
        trials: int = 50,
        seed: int = 0,
        direction: Literal["maximize", "minimize"] = "maximize",
        constraints: str | Iterable[str] = (),
    ) -> None:
        self.space = Space(space, constraints)
        self.direction = _arguments.direction(direction)
        """`"maximize"` or `"minimize"`."""
        self._sign = 1.0 if direction == "maximize" else -1.0
        self._made_with = (method, _arguments.whole(trials, "trials"), _arguments.seed(seed))
        self.n_asked = 0
        """How many points you have asked for."""
        self.why: dict[str, Any] = {}
        """How the last of them was found, in the form in which a study's log has it."""
        self._calls: list[tuple[str, tuple[Any, ...]]] = []
        self._own, self._process = self._build(), os.getpid()

    @property
    def _engine(self) -> _native.Optimizer:
        if self._process != os.getpid():  # a fork: a thread that's only in the parent may be using the engine
            self._again()
        return self._own

    def _again(self) -> None:
        """Builds the engine anew and repeats all calls."""
        self._own, self._process = self._build(), os.getpid()
        for what, arguments in self._calls:
            getattr(self._own, what)(*arguments)

    def _build(self) -> _native.Optimizer:
        method, trials, seed = self._made_with
        if isinstance(method, GoUcb) and isinstance(method.family, Family):
            return _native.Optimizer(self.space.to_dict(), method.table(), trials, seed, method.family.table())
        return _native.Optimizer(self.space.to_dict(), table_of(method), trials, seed, None)

    def __repr__(self) -> str:
        method, trials, seed = self._made_with
        return f"<optimist.Optimizer {method!r} with seed {seed}: {self.n_asked} of {trials} points asked for>"

    @property
    def dimension(self) -> int:
        """How many coordinates an encoded point has."""
        return self._engine.dimension

    @overload
    def ask(self, k: None = None) -> dict[str, Any]: ...
    @overload
    def ask(self, k: int) -> list[dict[str, Any]]: ...
    def ask(self, k: int | None = None) -> dict[str, Any] | list[dict[str, Any]]:
        """Returns the next point, or a list of `k` points to try at the same time.

        Points are pending until you tell or withdraw them.
        """
        if k is None:
            return self.decode(self._ask())
        return [self.decode(self._ask()) for _ in range(_arguments.whole(k, "k"))]

    def ask_array(self, k: int | None = None) -> Any:
        """Like `ask`, but encoded, as a numpy array of shape (dimension,) or (k, dimension)."""
        numpy = needed("numpy", "ask_array", "numpy", "numpy")
        return numpy.array(self._ask() if k is None else [self._ask() for _ in range(_arguments.whole(k, "k"))])

    def _ask(self) -> list[float]:
        suggested, self.why = self._thought(lambda: self._engine.suggest(self.n_asked))
        x = self._engine.encode(self._engine.decode(suggested))  # to the last bit what will be told: decoding rounds
        self._do("propose", x)
        self.n_asked += 1
        return x

    def tell(self, point: Point, value: Any, noise_std: Any = None) -> None:
        """Tells the value of a point, or the values of several. NaN and infinities say that the trial failed.

        Args:
            point: A point, or a sequence of points.
            value: Its value, or a value for each point.
            noise_std: Standard deviation of the noise, the same for all or one for each point; estimated if you leave it out.
        """
        if not isinstance(point, Mapping) and _is_several(point):
            noises = noise_std if hasattr(noise_std, "__len__") else [noise_std] * len(point)
            if not len(point) == len(value) == len(noises):
                raise StudyError(f"got {len(point)} points, {len(value)} values and {len(noises)} noises; give as many of each")
            for one, y, noise in zip(point, value, noises, strict=True):
                self.tell(one, y, noise)
            return
        y = float_of(value, "the value", "tell one number for each point; NaN says that a trial failed")
        noise = None if noise_std is None else float_of(noise_std, "noise_std", "give one number, 0 or more")
        self._do("tell", self.encode(point), self._sign * y if math.isfinite(y) else None, noise)

    def propose(self, point: Point) -> None:
        """Marks a point of your own as pending."""
        self._do("propose", self.encode(point))

    def withdraw(self, point: Point) -> None:
        """Forgets a pending point, whose value you won't tell."""
        self._do("withdraw", self.encode(point))

    def recommend(self) -> Recommendation | None:
        """Returns the recommended point: the one with the best expected value. `None` before the first value."""
        best = self.ranking(1)
        return best[0] if best else None

    def ranking(self, n: int) -> list[Recommendation]:
        """Returns the best `n` points so far, starting with the recommended one."""
        n = _arguments.whole(n, "n")
        ranking = self._thought(lambda: self._engine.ranking(n))
        return [Recommendation(self.decode(x), self._sign * mean, std) for x, mean, std in ranking]

    def expected_gain(self) -> float | None:
        """Returns by how much the next point is expected to improve the best value; `None` if the optimizer can't tell."""
        return self._thought(lambda: self._engine.expected_gain())

    def predict(self, points: Sequence[Point]) -> list[tuple[float, float]] | None:
        """Returns the mean and the standard deviation at each point, without noise; `None` before there is a model."""
        encoded = [self.encode(point) for point in points]
        predicted = self._thought(lambda: self._engine.predict(encoded))
        return None if predicted is None else [(self._sign * mean, std) for mean, std in predicted]

    def warnings(self) -> list[str]:
        """Returns problems with how points are suggested, one sentence each. Usually empty."""
        return self._engine.warnings()

    def round_reports(self, *, w_star: Sequence[float] | None = None, optimum: float | None = None) -> Any:
        """Returns the quantities of the proofs in each round of Phase II, as a pandas data frame. Needs the preset `theory`.

        Args:
            w_star: The true weights of the family, if you know them: then the frame also says whether they're in the confidence
                ball, and has the regret.
            optimum: The highest value of the objective; needed with `w_star`.
        """
        pandas = needed("pandas", "round_reports", "pandas", "optimist[pandas]")
        method = self._made_with[0]
        if (method.table() if isinstance(method, GoUcb) else table_of(method)).get("preset") != "theory":
            raise StudyError('only the preset "theory" reports its rounds; use op.Optimizer(space, op.GoUcb("theory"))')
        if (w_star is None) != (optimum is None):
            raise StudyError("give both w_star and optimum, or neither")
        truth = None
        if w_star is not None:
            weights = [_arguments.finite(w, "w_star") for w in _arguments.several(w_star, "w_star")]
            truth = (weights, _arguments.finite(optimum, "optimum"))
        return pandas.DataFrame(self._engine.round_reports(truth))

    def encode(self, point: Point) -> list[float]:
        """Encodes a point: returns its coordinates, from 0 to 1."""
        if isinstance(point, Mapping):
            return self._engine.encode(self.space.encode(point))
        if _is_several(point):
            raise TypeError("expected one point, got several; encode each by itself")
        return [float(x) for x in point]

    def decode(self, x: Sequence[float] | Any) -> dict[str, Any]:
        """Decodes a point: returns its parameters."""
        return self.space.decode(self._engine.decode([float(one) for one in x]))

    def _thought(self, think: Callable[[], T]) -> T:
        """Asks the model. If the family raised or was interrupted, rebuilds the model from what was told."""
        try:
            return think()
        except BaseException:
            if isinstance(self._made_with[0], GoUcb) and isinstance(self._made_with[0].family, Family):
                self._again()
            raise

    def _do(self, what: str, *arguments: Any) -> None:
        getattr(self._engine, what)(*arguments)
        self._calls.append((what, arguments))

    # Copies: the same calls on a new one.

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_own"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._again()


def _is_several(points: Any) -> bool:
    """Whether these are points, and not the coordinates of one point."""
    if not hasattr(points, "__len__") or not hasattr(points, "__getitem__") or isinstance(points, (str, bytes)):
        raise TypeError(f"a point must be a dictionary or an array of numbers from 0 to 1, got {type(points).__name__}")
    return len(points) == 0 or not (isinstance(points[0], (int, float)) or getattr(points[0], "ndim", 1) == 0)
