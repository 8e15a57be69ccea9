"""Search spaces, as users of scikit-learn and of scikit-optimize write them.

Given: dictionaries of lists, distributions, tuples and dimensions; lists of them; pairs of one with a number of candidates.
Gives: plans, each a space for one optimizer with a number of candidates. Points of a space become parameters for `set_params`.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._space import Float, Int
from .._space import Space as EngineSpace
from ..skopt._dimensions import Categorical, Dimension, Integer, Ordered, Real, check_random_state
from ..skopt.space import Space, check_dimension

#: The probability at the ends of a distribution that isn't searched: at a finite end, and at an infinite one.
EDGE, TAIL = 1e-4, 1e-3

#: How many values to draw from an object that only has `rvs`.
DRAWN = 1000

#: The parameter that chooses one of several dictionaries.
WHICH = "which of the dictionaries"


class Quantile(Dimension):
    """A distribution of scipy.stats, searched by the quantile of its values."""

    def __init__(self, distribution: Any, name: str) -> None:
        super().__init__(name)
        self.distribution = distribution
        low, high = distribution.support()
        self._ends = (EDGE if math.isfinite(low) else TAIL, 1 - (EDGE if math.isfinite(high) else TAIL))
        self.low, self.high = (self.from_engine(end) for end in self._ends)
        self.transform_ = "identity"

    def parameter(self) -> Float:
        return Float(*self._ends, when=self.when)

    def to_engine(self, value: Any) -> float:
        return float(np.clip(self.distribution.cdf(value), *self._ends))

    def from_engine(self, value: Any) -> Any:
        found = float(self.distribution.ppf(value))
        return int(found) if hasattr(self.distribution.dist, "pmf") else found

    def at(self, share: float) -> Any:
        low, high = self._ends
        return self.from_engine(low + share * (high - low))

    def transform(self, X: Any) -> Any:
        return np.array([self.to_engine(value) for value in X])

    def inverse_transform(self, Xt: Any) -> Any:
        return [self.from_engine(share) for share in np.clip(Xt, *self._ends)]

    def _scaled(self, values: Any) -> Any:
        return self.transform(values)

    def _unscaled(self, values: Any) -> Any:
        return np.asarray(values)

    def __contains__(self, point: Any) -> bool:
        return isinstance(point, numbers.Real) and bool(self.low <= point <= self.high)

    @property
    def bounds(self) -> Any:
        return self.low, self.high

    @property
    def transformed_bounds(self) -> Any:
        return self._ends

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantile) and self.distribution is other.distribution

    def __repr__(self) -> str:
        return f"Quantile({self.distribution.dist.name}, low={self.low}, high={self.high})"


@dataclass
class Plan:
    """A space, and how many of its candidates to try. The space is `None` if there is only one candidate."""

    space: Space | None
    n_iter: int
    #: The names of parameters, one for each dimension, for each dictionary.
    names: list[dict[int, str]]
    #: All candidates, if the space has no more than are to be tried.
    every: list[list[Any]] | None = None

    def params(self, point: Sequence[Any]) -> dict[str, Any]:
        """A point as parameters of the estimator."""
        if self.space is None:
            return {}
        is_there = self.space.present(point)
        names = self.names[point[0] if len(self.names) > 1 else 0]
        return {name: point[place] for place, name in names.items() if is_there[place]}


def plans(spaces: Any, n_iter: int, is_joint: bool, random_state: Any) -> list[Plan]:
    """A plan for each space, or with `is_joint` one plan for all of them."""
    given = [spaces] if isinstance(spaces, (Mapping, EngineSpace, Space)) else spaces
    if not isinstance(given, (list, tuple)) or not given:
        raise TypeError(f"a search space is a dictionary of parameters by name, or a list of them; got {spaces!r}")
    pairs = [_pair(one) for one in given]
    rng = check_random_state(random_state)
    if is_joint and len(pairs) > 1 and all(n is None for _, n in pairs):
        return [_joint([space for space, _ in pairs], n_iter, rng)]
    return [_single(space, n_iter if n is None else n, rng) for space, n in pairs if n != 0]


def _pair(one: Any) -> tuple[Any, int | None]:
    """A space, and its own number of candidates, if it has one."""
    space, n = one if isinstance(one, tuple) and len(one) == 2 else (one, None)
    if not isinstance(space, (Mapping, EngineSpace, Space)):
        raise TypeError(f"a search space is a dictionary of parameters by name, or a pair of one and a number; got {one!r}")
    if n is not None and (isinstance(n, bool) or not isinstance(n, numbers.Integral) or n < 0):
        raise ValueError(f"the number of candidates of a search space must be an integer of 0 or more, got {n!r}")
    return space, None if n is None else int(n)


def _single(space: Any, n_iter: int, rng: Any) -> Plan:
    dimensions, constraint = _dimensions(space, rng)
    if not dimensions:
        return Plan(None, min(n_iter, 1), [{}])
    found = Space(dimensions, constraint)
    every = found.grid(n_iter)
    return Plan(found, len(every) if every else n_iter, [{place: str(one.name) for place, one in enumerate(dimensions)}], every)


def _joint(spaces: Sequence[Any], n_iter: int, rng: Any) -> Plan:
    """Several dictionaries as one space: the first parameter chooses the dictionary, and the others are conditional on it."""
    which: Dimension = Categorical(range(len(spaces)), name=WHICH)
    dimensions, names = [which], []
    for number, space in enumerate(spaces):
        own, constraint = _dimensions(space, rng)
        if constraint is not None:
            raise ValueError("a list of spaces cannot have constraints; search them one by one, with search_spaces=")
        names.append({len(dimensions) + place: str(one.name) for place, one in enumerate(own)})
        for one in own:
            one.when = {WHICH: number, **{f"{number}: {other}": value for other, value in (one.when or {}).items()}}
            one.name = f"{number}: {one.name}"
        dimensions += own
    return Plan(Space(dimensions), n_iter, names)


def _dimensions(space: Any, rng: Any) -> tuple[list[Dimension], Any]:
    """The dimensions sorted by name, as in scikit-optimize, and the constraint."""
    if isinstance(space, Space):
        if any(one.name is None for one in space.dimensions):
            raise ValueError(f"each dimension needs the name of a parameter, as in Real(0, 1, name='alpha'); got {space!r}")
        return list(space.dimensions), space.constraint
    parameters = space.parameters if isinstance(space, EngineSpace) else space
    constraint = list(space.constraints) or None if isinstance(space, EngineSpace) else None
    return [_dimension(name, parameters[name], rng) for name in sorted(parameters)], constraint


def _dimension(name: str, value: Any, rng: Any) -> Dimension:
    """One parameter of the estimator."""
    if isinstance(value, (str, bytes)):
        raise TypeError(f"parameter `{name}`: cannot search {value!r}; write choices as a list")
    if isinstance(value, (Float, Int)) and value.step is not None:
        found: Dimension = Ordered(_steps(value))
        found.when = value.when
    elif hasattr(value, "ppf") and hasattr(value, "support"):
        found = _distribution(name, value)
    elif hasattr(value, "rvs") and not hasattr(value, "bounds"):
        found = _drawn(name, value, rng)
    elif isinstance(value, Iterable) and not isinstance(value, tuple):
        found = _list(name, list(value))
    else:
        try:
            found = check_dimension(value)
        except ValueError as error:
            raise ValueError(f"parameter `{name}`: {error}") from None
        found = copy(found)  # so that naming it doesn't name the user's
    found.name = name
    return found


def _list(name: str, values: list[Any]) -> Dimension:
    if not values:
        raise ValueError(f"parameter `{name}`: the list of values is empty; give at least one value")
    is_ordered = all(isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_)) for value in values)
    steps: Any = np.diff([float(value) for value in values]) if is_ordered else np.zeros(1)
    if len(values) > 2 and (np.all(steps > 0) or np.all(steps < 0)):
        return Ordered(values)
    return Categorical(values)


def _steps(value: Float | Int) -> list[Any]:
    step = value.step or 1
    n = math.floor((value.high - value.low) / step * (1 + 1e-12))
    return [value.low + i * step for i in range(n + 1)]


def _distribution(name: str, value: Any) -> Dimension:
    kind = value.dist.name
    low, high = value.support()
    if kind == "uniform":
        return Real(float(value.ppf(EDGE)), float(value.ppf(1 - EDGE)))
    if kind in ("loguniform", "reciprocal") and low > 0:
        return Real(float(low), float(high), prior="log-uniform")
    if kind == "randint":
        return Integer(int(low), int(high)) if low < high else Categorical([int(low)])
    found = Quantile(value, name)
    if hasattr(value.dist, "pmf") and found.high - found.low < DRAWN:
        return Ordered(range(found.low, found.high + 1)) if found.low < found.high else Categorical([found.low])
    return found


def _drawn(name: str, value: Any, rng: Any) -> Dimension:
    """Values drawn from an object that can't do anything else, sorted if they're numbers."""
    drawn = [value.rvs(random_state=rng) for _ in range(DRAWN)]
    if all(isinstance(one, numbers.Real) and not isinstance(one, (bool, np.bool_)) for one in drawn):
        return Ordered(sorted(set(drawn)))
    try:
        return Categorical(list(dict.fromkeys(drawn)))
    except TypeError:
        raise TypeError(f"parameter `{name}`: {value!r} draws values that cannot be hashed; list them instead") from None
