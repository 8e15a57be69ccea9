"""Dimensions, as in `skopt.space`; each converts its values to the engine's and back.

The engine sees numbers, whole numbers and positions in a list of choices, so that choices may be any objects.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .._space import Choice, Float, Int, Parameter


def check_random_state(random_state: Any) -> np.random.RandomState:
    """A `RandomState` from a seed, from another generator, or from the operating system if it's `None`."""
    if isinstance(random_state, np.random.RandomState):
        return random_state
    if isinstance(random_state, np.random.Generator):
        return np.random.RandomState(int(random_state.integers(2**32)))
    if random_state is None or isinstance(random_state, numbers.Integral):
        return np.random.RandomState(random_state)
    raise ValueError(f"random_state must be an integer, a RandomState or None, got {random_state!r}")


class Dimension:
    """Base class of dimensions; see `Real`, `Integer` and `Categorical`."""

    prior: Any = None
    #: Values of other dimensions without which this one isn't there, and its value is `None`.
    when: Mapping[str, Any] | None = None
    transform_: str
    _transforms: tuple[str, ...] = ("identity", "normalize")

    def __init__(self, name: str | None) -> None:
        self.name = name

    @property
    def name(self) -> str | None:
        """The name; `None` if it has none."""
        return self._name

    @name.setter
    def name(self, value: str | None) -> None:
        if value is not None and not isinstance(value, str):
            raise ValueError(f"the name of a dimension must be a string or None, got {value!r}")
        self._name = value

    # What the engine sees.

    def parameter(self) -> Parameter:
        """The dimension as a parameter of Optimist."""
        raise NotImplementedError

    def to_engine(self, value: Any) -> Any:
        """A value as the engine knows it."""
        raise NotImplementedError

    def from_engine(self, value: Any) -> Any:
        """A value from the engine as the user knows it."""
        raise NotImplementedError

    def at(self, share: float) -> Any:
        """The value at a quantile from 0 to 1 of the prior."""
        raise NotImplementedError

    @property
    def n_columns(self) -> int:
        """How many coordinates an encoded point has for it."""
        return 1

    @property
    def n_values(self) -> float:
        """How many values it has."""
        return math.inf

    def engine_values(self) -> Iterable[Any]:
        """All values, as the engine knows them; only if there are finitely many."""
        raise NotImplementedError

    # What scikit-optimize has.

    def set_transformer(self, transform: str) -> None:
        """Sets the kind of transformation that `transform` does."""
        if transform not in self._transforms:
            raise ValueError(f"transform must be one of {', '.join(self._transforms)}, got {transform!r}")
        self.transform_ = transform

    def rvs(self, n_samples: int | None = 1, random_state: Any = None) -> Any:
        """Draws random values."""
        rng = check_random_state(random_state)
        if n_samples is None:
            return self.at(rng.random_sample())
        return [self.at(share) for share in rng.random_sample(n_samples)]

    def transform(self, X: Any) -> Any:
        """Transforms values to numbers for a model."""
        raise NotImplementedError

    def inverse_transform(self, Xt: Any) -> Any:
        """Undoes `transform`."""
        raise NotImplementedError

    def distance(self, a: Any, b: Any) -> Any:
        """The distance between two values."""
        if a not in self or b not in self:
            raise RuntimeError(f"only values within {self!r} have a distance, got {a} and {b}")
        return abs(a - b)

    def __contains__(self, point: Any) -> bool:
        raise NotImplementedError

    @property
    def bounds(self) -> Any:
        """The lowest and the highest value, or the categories."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        """Always 1."""
        return 1

    @property
    def transformed_size(self) -> int:
        """How many numbers `transform` returns for a value."""
        return 1

    @property
    def transformed_bounds(self) -> Any:
        """The bounds of the numbers that `transform` returns."""
        return 0.0, 1.0

    @property
    def is_constant(self) -> bool:
        """Whether it has only one value."""
        return False


class _Range(Dimension):
    """Base class of numbers: bounds, a scale and a transformation."""

    def __init__(self, low: Any, high: Any, prior: str, base: int, transform: str | None, name: str | None, dtype: Any) -> None:
        super().__init__(name)
        if high <= low:
            raise ValueError(
                f"the lower bound {low} must be below the upper bound {high}; for a constant use Categorical([{low}])"
            )
        if prior not in ("uniform", "log-uniform"):
            raise ValueError(f"prior must be 'uniform' or 'log-uniform', got {prior!r}")
        if prior == "log-uniform" and low <= 0:
            raise ValueError(f"a log-uniform prior needs a lower bound above 0, got {low}; raise it, or use 'uniform'")
        self.low, self.high, self.prior, self.base, self.dtype = low, high, prior, base, dtype
        self.set_transformer(transform or "identity")

    def _scaled(self, values: Any) -> Any:
        return (
            np.log(np.asarray(values, float)) / math.log(self.base) if self.prior == "log-uniform" else np.asarray(values, float)
        )

    def _unscaled(self, values: Any) -> Any:
        values = np.asarray(values, float)
        return np.clip(self.base**values if self.prior == "log-uniform" else values, self.low, self.high)

    def _cast(self, values: Any) -> Any:
        kind = np.dtype(self.dtype)
        whole = np.round(values) if issubclass(kind.type, np.integer) else values
        cast = np.asarray(whole).astype(kind)
        return cast.tolist() if self.dtype in (int, float, "int", "float") else cast

    def at(self, share: float) -> Any:
        low, high = self._scaled([self.low, self.high])
        return self.from_engine(self._unscaled(low + share * (high - low)))

    def transform(self, X: Any) -> Any:
        scaled = self._scaled(X)
        if self.transform_ == "identity":
            return scaled
        low, high = self._scaled([self.low, self.high])
        return (scaled - low) / (high - low)

    def inverse_transform(self, Xt: Any) -> Any:
        Xt = np.asarray(Xt, float)
        if self.transform_ == "normalize":
            low, high = self._scaled([self.low, self.high])
            Xt = low + Xt * (high - low)
        return self._cast(self._unscaled(Xt))

    def __contains__(self, point: Any) -> bool:
        if isinstance(point, (str, bool)) or not isinstance(point, (numbers.Real, np.ndarray, list)):
            return False
        return bool(np.all((self.low <= np.asarray(point)) & (np.asarray(point) <= self.high)))

    @property
    def bounds(self) -> Any:
        return self.low, self.high

    @property
    def transformed_bounds(self) -> Any:
        return (0.0, 1.0) if self.transform_ == "normalize" else tuple(self._scaled([self.low, self.high]).tolist())

    def __repr__(self) -> str:
        kind = type(self).__name__
        return f"{kind}(low={self.low}, high={self.high}, prior={self.prior!r}, transform={self.transform_!r})"


class Real(_Range):
    """Real numbers from `low` to `high`, uniform or on a log scale (`prior="log-uniform"`).

    >>> Real(1e-5, 1.0, prior="log-uniform", name="lr")
    Real(low=1e-05, high=1.0, prior='log-uniform', transform='identity')
    """

    def __init__(
        self,
        low: float,
        high: float,
        prior: str = "uniform",
        base: int = 10,
        transform: str | None = None,
        name: str | None = None,
        dtype: Any = float,
    ) -> None:
        if not issubclass(np.dtype(dtype).type, np.floating):
            raise ValueError(f"dtype of Real must be a float type, got {dtype!r}")
        super().__init__(low, high, prior, base, transform, name, dtype)

    def parameter(self) -> Parameter:
        return Float(float(self.low), float(self.high), log=self.prior == "log-uniform", when=self.when)

    def to_engine(self, value: Any) -> float:
        return float(value)

    def from_engine(self, value: Any) -> Any:
        return float(value) if self.dtype in (float, "float") else np.dtype(self.dtype).type(value)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Real)
            and bool(np.allclose([self.low, self.high], [other.low, other.high]))
            and (self.prior, self.transform_) == (other.prior, other.transform_)
        )


class Integer(_Range):
    """Integers from `low` to `high`, both included.

    >>> Integer(1, 12, name="depth").rvs(3, random_state=0)
    [7, 9, 8]
    """

    def __init__(
        self,
        low: int,
        high: int,
        prior: str = "uniform",
        base: int = 10,
        transform: str | None = None,
        name: str | None = None,
        dtype: Any = int,
    ) -> None:
        if not issubclass(np.dtype(dtype).type, np.integer):
            raise ValueError(f"dtype of Integer must be an integer type, got {dtype!r}")
        super().__init__(low, high, prior, base, transform, name, dtype)

    def parameter(self) -> Parameter:
        return Int(int(self.low), int(self.high), log=self.prior == "log-uniform", when=self.when)

    def to_engine(self, value: Any) -> int:
        return int(value)

    def from_engine(self, value: Any) -> Any:
        value = round(float(value)) if isinstance(value, (float, np.floating, np.ndarray)) else value
        return int(value) if self.dtype in (int, "int") else np.dtype(self.dtype).type(value)

    @property
    def n_values(self) -> float:
        return int(self.high) - int(self.low) + 1

    def engine_values(self) -> Iterable[int]:
        return range(int(self.low), int(self.high) + 1)

    def at(self, share: float) -> Any:
        if self.prior == "log-uniform":
            return super().at(share)
        return self.from_engine(min(int(self.high), int(self.low) + int(share * (int(self.high) - int(self.low) + 1))))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Integer) and (self.low, self.high) == (other.low, other.high)


class Categorical(Dimension):
    """One of several values of any type, which have no order.

    >>> Categorical(["relu", None], name="activation").rvs(3, random_state=0)
    [None, None, None]
    """

    _transforms = ("identity", "onehot", "string", "normalize", "label")

    def __init__(
        self,
        categories: Iterable[Any],
        prior: Sequence[float] | None = None,
        transform: str | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        self.categories = tuple(categories)
        if not self.categories:
            raise ValueError("Categorical needs at least one category")
        self.prior = prior
        n = len(self.categories)
        self.prior_ = np.full(n, 1 / n) if prior is None else np.asarray(prior, float)
        if len(self.prior_) != n or (self.prior_ < 0).any() or not math.isclose(self.prior_.sum(), 1, rel_tol=1e-6):
            raise ValueError(f"prior must be {n} probabilities that sum to 1, got {prior!r}")
        self.set_transformer(transform or "onehot")

    def parameter(self) -> Parameter:
        return Choice(list(range(len(self.categories))), when=self.when)

    def to_engine(self, value: Any) -> int:
        return self.index(value)

    def from_engine(self, value: Any) -> Any:
        return self.categories[int(value)]

    @property
    def n_columns(self) -> int:
        return len(self.categories)

    @property
    def n_values(self) -> float:
        return len(self.categories)

    def engine_values(self) -> Iterable[int]:
        return range(len(self.categories))

    def index(self, value: Any) -> int:
        """The position of a category."""
        for i, category in enumerate(self.categories):
            if category is value or is_equal(category, value):
                return i
        raise ValueError(f"{value!r} is not one of {self.categories}")

    def at(self, share: float) -> Any:
        return self.categories[min(int(np.searchsorted(np.cumsum(self.prior_), share, side="right")), len(self.categories) - 1)]

    def transform(self, X: Any) -> Any:
        if self.transform_ == "identity":
            return list(X)
        if self.transform_ == "string":
            return [str(value) for value in X]
        places = np.array([self.index(value) for value in X], dtype=int)
        if self.transform_ == "label":
            return places
        if self.transform_ == "normalize":
            return places / max(1, len(self.categories) - 1)
        if self.transformed_size == 1:
            return places.astype(float)
        return np.eye(len(self.categories))[places]

    def inverse_transform(self, Xt: Any) -> Any:
        if self.transform_ == "identity":
            return list(Xt)
        if self.transform_ == "string":
            by_text = {str(category): category for category in self.categories}
            return [by_text[text] for text in Xt]
        numbers_of = np.asarray(Xt, float)
        if self.transform_ == "onehot" and self.transformed_size > 1:
            places = numbers_of.argmax(axis=1)
        else:
            scale = len(self.categories) - 1 if self.transform_ == "normalize" else 1
            places = np.clip(np.round(numbers_of.ravel() * scale), 0, len(self.categories) - 1).astype(int)
        return [self.categories[place] for place in places]

    def distance(self, a: Any, b: Any) -> int:
        return int(self.index(a) != self.index(b))

    def __contains__(self, point: Any) -> bool:
        return any(category is point or is_equal(category, point) for category in self.categories)

    @property
    def bounds(self) -> Any:
        return self.categories

    @property
    def transformed_size(self) -> int:
        # two categories are one number, as in scikit-optimize
        return len(self.categories) if self.transform_ == "onehot" and len(self.categories) > 2 else 1

    @property
    def transformed_bounds(self) -> Any:
        return (0.0, 1.0) if self.transformed_size == 1 else [(0.0, 1.0)] * self.transformed_size

    @property
    def is_constant(self) -> bool:
        return len(self.categories) == 1

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Categorical)
            and self.categories == other.categories
            and bool(np.allclose(self.prior_, other.prior_))
        )

    def __repr__(self) -> str:
        shown = [repr(category) for category in self.categories]
        shown = [*shown[:3], "...", *shown[-3:]] if len(shown) > 7 else shown
        return f"Categorical(categories=({', '.join(shown)}{',' if len(shown) == 1 else ''}), prior={self.prior!r})"


class Ordered(Categorical):
    """Values in an order, such as a list of numbers: the engine expects neighbours to be similar. Not in scikit-optimize."""

    def parameter(self) -> Parameter:
        return Int(0, len(self.categories) - 1, when=self.when) if len(self.categories) > 1 else super().parameter()

    @property
    def n_columns(self) -> int:
        return 1


def is_equal(a: Any, b: Any) -> bool:
    """Whether two categories are the same: 1 and `True` are not."""
    if isinstance(a, (bool, np.bool_)) != isinstance(b, (bool, np.bool_)):
        return False
    try:
        return bool(a == b)
    except Exception:  # an array, say
        return False
