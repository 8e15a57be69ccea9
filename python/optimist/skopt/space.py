"""Spaces, as in `skopt.space`. A point is a list with a value for each dimension."""

from __future__ import annotations

import itertools
import math
import numbers
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .._adapters import parameter
from .._errors import SpaceError
from .._space import Bool, Float, Int, Parameter
from .._space import Space as EngineSpace
from ._dimensions import Categorical, Dimension, Integer, Real, check_random_state, is_equal

__all__ = ["Categorical", "Dimension", "Integer", "Real", "Space", "check_dimension"]

#: How many points `Space.rvs` draws for each one wanted, before it gives up on the constraint.
PATIENCE = 10_000


def check_dimension(dimension: Any, transform: str | None = None) -> Dimension:
    """A dimension in any notation: `(1e-5, 1.0, "log-uniform")`, `(1, 12)`, `["a", "b"]`, scikit-optimize's, Optimist's.

    A tuple of two numbers is a range, and a list is always a choice.

    >>> check_dimension((1, 12))
    Integer(low=1, high=12, prior='uniform', transform='identity')
    """
    if isinstance(dimension, Dimension):
        return dimension
    if isinstance(dimension, tuple) and _is_range(dimension):
        low, high, *more = dimension
        kind: Any = Integer if isinstance(low, numbers.Integral) and isinstance(high, numbers.Integral) else Real
        cast = int if kind is Integer else float
        found: Dimension = kind(cast(low), cast(high), *more, transform=transform)
        return found
    if isinstance(dimension, (str, bytes)):
        raise ValueError(f"cannot understand the dimension {dimension!r}; write choices as a list")
    if isinstance(dimension, Iterable):
        return Categorical(dimension, transform=transform)
    try:
        known = parameter("dimension", dimension)
    except (TypeError, SpaceError) as error:
        raise ValueError(str(error)) from None
    return _dimension_of(known, getattr(dimension, "name", None), transform)


def _is_range(words: tuple[Any, ...]) -> bool:
    if not 2 <= len(words) <= 4 or not all(isinstance(end, numbers.Real) and not isinstance(end, bool) for end in words[:2]):
        return False
    return len(words) == 2 or (isinstance(words[2], str) and all(isinstance(base, int) for base in words[3:]))


def _dimension_of(known: Parameter, name: str | None, transform: str | None) -> Dimension:
    found: Dimension
    if isinstance(known, (Float, Int)):
        if known.step is not None:
            raise ValueError(f"scikit-optimize has no steps, got {known}; use op.Optimizer, or list the values")
        prior = "log-uniform" if known.log else "uniform"
        kind: Any = Real if isinstance(known, Float) else Integer
        found = kind(known.low, known.high, prior, transform=transform, name=name)
    elif isinstance(known, Bool):
        found = Categorical([False, True], transform=transform, name=name)
    else:
        options: Any = known.options
        found = Categorical(options.values() if isinstance(options, Mapping) else options, transform=transform, name=name)
    found.when = known.when
    return found


class Space:
    """A search space: a list of dimensions.

    Args:
        dimensions: Anything that `check_dimension` understands, or another space.
        constraint: A function that says whether a point, as a list, may be tried; or linear constraints between named
            dimensions, such as `"a + 2*b <= 1"`, which the engine keeps by itself.

    >>> Space([(1e-5, 1.0, "log-uniform"), ["sgd", "adam"]]).rvs(random_state=0)
    [[0.00554..., 'adam']]
    """

    def __init__(
        self, dimensions: Iterable[Any], constraint: Callable[[list[Any]], bool] | str | Sequence[str] | None = None
    ) -> None:
        if constraint is None:
            constraint = getattr(dimensions, "constraint", None)
        self.dimensions: list[Dimension] = [check_dimension(one) for one in getattr(dimensions, "dimensions", dimensions)]
        if not self.dimensions:
            raise ValueError("a space needs at least one dimension")
        self.constraint: Any = constraint
        if constraint is not None and not callable(constraint):
            texts = [constraint] if isinstance(constraint, str) else list(constraint)
            if not all(isinstance(one, str) for one in texts):
                raise ValueError(f"a constraint is a function of a point, or strings such as 'a + 2*b <= 1', got {constraint!r}")
            self.constraint = texts
        self.engine  # noqa: B018 (whether the engine can search it)

    @staticmethod
    def from_yaml(*args: Any, **kwargs: Any) -> Space:
        """Raises an error that says what to use."""
        raise NotImplementedError(
            "Space.from_yaml has no counterpart in Optimist: read the file yourself and pass the dimensions as a list, such as "
            "[Real(0, 1, name='a'), Categorical(['x', 'y'], name='b')]"
        )

    @staticmethod
    def from_df(*args: Any, **kwargs: Any) -> Space:
        """Raises an error that says what to use."""
        raise NotImplementedError(
            "Space.from_df has no counterpart in Optimist: pass the range of each column, such as "
            "Space([(df[name].min(), df[name].max()) for name in df])"
        )

    @property
    def engine(self) -> EngineSpace:
        """The space as Optimist has it."""
        linear = () if callable(self.constraint) or self.constraint is None else self.constraint
        names = self.names
        needs_names = bool(linear) or any(one.when for one in self.dimensions)
        if len(set(names)) < len(names) or (needs_names and names != self.dimension_names):
            given = ", ".join(self.dimension_names)
            raise ValueError(f"two dimensions have the same name: {given}; rename one of them")
        known = dict(zip(names, self.dimensions, strict=True))
        return EngineSpace({name: self._parameter(one, known) for name, one in known.items()}, linear)

    def _parameter(self, one: Dimension, known: Mapping[str, Dimension]) -> Parameter:
        if not one.when:
            return one.parameter()
        unknown = [other for other in one.when if other not in known]
        if unknown:
            raise ValueError(f"dimension `{one.name}` needs `{unknown[0]}`, which is not in the space")
        return replace(one.parameter(), when={other: known[other].to_engine(value) for other, value in one.when.items()})

    def to_engine(self, point: Sequence[Any]) -> dict[str, Any]:
        """A point as the engine knows it, without dimensions that aren't there."""
        found = zip(self.names, self.dimensions, point, self.present(point), strict=True)
        return {name: one.to_engine(value) for name, one, value, is_there in found if is_there}

    def from_engine(self, params: Mapping[str, Any]) -> list[Any]:
        """A point from the engine as a list."""
        found = zip(self.names, self.dimensions, strict=True)
        return [one.from_engine(params[name]) if name in params else None for name, one in found]

    def is_allowed(self, point: Sequence[Any]) -> bool:
        """Whether a constraint that is a function allows a point."""
        return not callable(self.constraint) or bool(self.constraint(list(point)))

    @property
    def names(self) -> list[str]:
        """The name of each dimension: `X_0`, `X_1`, … for those without one, `a (2)` for the second one that is called `a`."""
        found = self.dimension_names
        return [f"{name} ({n + 1})" if (n := found[:i].count(name)) else name for i, name in enumerate(found)]

    @property
    def dimension_names(self) -> list[str]:
        """The names as you gave them, and `X_0`, `X_1`, … for dimensions without one. You can set them."""
        return [f"X_{i}" if one.name is None else one.name for i, one in enumerate(self.dimensions)]

    @dimension_names.setter
    def dimension_names(self, names: Sequence[str]) -> None:
        if len(names) != self.n_dims:
            raise ValueError(f"got {len(names)} names for {self.n_dims} dimensions; pass one for each")
        for one, name in zip(self.dimensions, names, strict=True):
            one.name = name

    def rvs(self, n_samples: int = 1, random_state: Any = None) -> list[list[Any]]:
        """Draws random points that the constraint allows."""
        rng = check_random_state(random_state)
        if isinstance(self.constraint, list):
            return self._feasible(n_samples, rng)
        points: list[list[Any]] = []
        for _ in range(PATIENCE):
            columns = [one.rvs(n_samples, random_state=rng) for one in self.dimensions]
            rows = [self._pruned(row) for row in zip(*columns, strict=True)]
            points += [row for row in rows if self.is_allowed(row)]
            if len(points) >= n_samples:
                return points[:n_samples]
        raise RuntimeError(
            f"the constraint allowed {len(points)} of {PATIENCE * n_samples} points; loosen it or narrow the bounds"
        )

    def present(self, point: Sequence[Any]) -> list[bool]:
        """Whether each dimension is there, given the values of the others."""
        names, is_there = self.names, [True] * self.n_dims
        for i, one in enumerate(self.dimensions):
            for other, wanted in (one.when or {}).items():
                place = names.index(other)
                is_there[i] &= is_there[place] and is_equal(point[place], wanted)
        return is_there

    def _pruned(self, row: Sequence[Any]) -> list[Any]:
        return [value if is_there else None for value, is_there in zip(row, self.present(row), strict=True)]

    def grid(self, limit: int) -> list[list[Any]] | None:
        """All points, if there are few enough and they can be listed."""
        if isinstance(self.constraint, list) or any(one.when for one in self.dimensions):
            return None
        size = math.prod(one.n_values for one in self.dimensions)
        if size > limit:
            return None
        every = [[one.from_engine(value) for value in one.engine_values()] for one in self.dimensions]
        return [list(point) for point in itertools.product(*every) if self.is_allowed(point)]

    def _feasible(self, n_samples: int, rng: np.random.RandomState) -> list[list[Any]]:
        from .._optimizer import Optimizer

        source = Optimizer(self.engine, "random", trials=n_samples, seed=int(rng.randint(2**31)))
        return [self.from_engine(params) for params in source.ask(n_samples)]

    def transform(self, X: Sequence[Sequence[Any]]) -> Any:
        """Transforms points to rows of numbers."""
        columns = [one.transform([row[j] for row in X]) for j, one in enumerate(self.dimensions)]
        return np.hstack([np.asarray(column).reshape((len(X), -1)) for column in columns])

    def inverse_transform(self, Xt: Any) -> list[list[Any]]:
        """Undoes `transform`."""
        columns, start = [], 0
        for one in self.dimensions:
            width = one.transformed_size
            columns.append(one.inverse_transform(Xt[:, start] if width == 1 else Xt[:, start : start + width]))
            start += width
        return [list(row) for row in zip(*columns, strict=True)]

    def set_transformer(self, transform: str | list[str]) -> None:
        """Sets the transformation of all dimensions, or of each."""
        given = [transform] * self.n_dims if isinstance(transform, str) else transform
        for one, word in zip(self.dimensions, given, strict=True):
            one.set_transformer(word)

    def set_transformer_by_type(self, transform: str, dim_type: type[Dimension]) -> None:
        """Sets the transformation of all dimensions of one type."""
        for one in self.dimensions:
            if isinstance(one, dim_type):
                one.set_transformer(transform)

    def get_transformer(self) -> list[str]:
        """The transformation of each dimension."""
        return [one.transform_ for one in self.dimensions]

    @property
    def n_dims(self) -> int:
        """How many dimensions it has."""
        return len(self.dimensions)

    @property
    def transformed_n_dims(self) -> int:
        """How many numbers `transform` returns for a point."""
        return sum(one.transformed_size for one in self.dimensions)

    @property
    def bounds(self) -> list[Any]:
        """The bounds of each dimension."""
        return [one.bounds for one in self.dimensions]

    @property
    def transformed_bounds(self) -> list[Any]:
        """The bounds of each number of a transformed point."""
        found = [(one.transformed_size, one.transformed_bounds) for one in self.dimensions]
        return [pair for size, bounds in found for pair in ([bounds] if size == 1 else bounds)]

    @property
    def is_real(self) -> bool:
        """Whether all dimensions are real numbers."""
        return all(isinstance(one, Real) for one in self.dimensions)

    @property
    def is_categorical(self) -> bool:
        """Whether all dimensions are choices."""
        return all(isinstance(one, Categorical) for one in self.dimensions)

    @property
    def is_partly_categorical(self) -> bool:
        """Whether any dimension is a choice."""
        return any(isinstance(one, Categorical) for one in self.dimensions)

    @property
    def n_constant_dimensions(self) -> int:
        """How many dimensions have only one value."""
        return sum(one.is_constant for one in self.dimensions)

    def distance(self, point_a: Sequence[Any], point_b: Sequence[Any]) -> float:
        """The sum of the distances in each dimension."""
        return float(sum(one.distance(a, b) for one, a, b in zip(self.dimensions, point_a, point_b, strict=True)))

    def __contains__(self, point: Sequence[Any]) -> bool:
        if len(point) != self.n_dims:
            return False
        found = zip(self.dimensions, point, self.present(point), strict=True)
        return all(value in one if is_there else value is None for one, value, is_there in found) and self.is_allowed(point)

    def __iter__(self) -> Iterator[Dimension]:
        return iter(self.dimensions)

    def __len__(self) -> int:
        return self.n_dims

    def __getitem__(self, names: Any) -> Any:
        """A dimension and its position, by name or number; for a list of names, a list of them."""
        if isinstance(names, (list, tuple)):
            return [self[name] for name in names]
        place = self.names.index(names) if isinstance(names, str) else int(names)
        return place, self.dimensions[place]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Space) and self.dimensions == other.dimensions

    def __repr__(self) -> str:
        return "Space([{}])".format(",\n       ".join(map(str, self.dimensions)))
