"""Search spaces: parameters, as users write them and as the engine reads them.

Choices may be any objects. The engine knows strings, numbers and booleans; any other object gets a name.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ._errors import SpaceError

When = Mapping[str, Any]
Key = tuple[type, Any]


@dataclass(frozen=True)
class Float:
    """A real number from `low` to `high`, both included.

    Args:
        low, high: The bounds.
        log: Whether to search on a log scale: from 0.01 to 0.1 is then as far as from 0.1 to 1.
        step: If set, only `low`, `low + step`, `low + 2 * step`, … are allowed.
        when: Values of other parameters without which this one isn't there, such as `{"solver": "sgd"}`.

    >>> Float(1e-5, 1, log=True)
    Float(low=1e-05, high=1, log=True, step=None, when=None)
    """

    low: float
    high: float
    log: bool = False
    step: float | None = None
    when: When | None = None


@dataclass(frozen=True)
class Int:
    """An integer from `low` to `high`, both included.

    Args:
        low, high: The bounds.
        log: Whether to search on a log scale: from 1 to 10 is then as far as from 10 to 100.
        step: If set, only `low`, `low + step`, `low + 2 * step`, … are allowed.
        when: Values of other parameters without which this one isn't there, such as `{"solver": "sgd"}`.

    >>> Int(1, 12)
    Int(low=1, high=12, log=False, step=None, when=None)
    """

    low: int
    high: int
    log: bool = False
    step: int | None = None
    when: When | None = None


@dataclass(frozen=True)
class Bool:
    """`False` or `True`.

    Args:
        when: Values of other parameters without which this one isn't there, such as `{"solver": "sgd"}`.
    """

    when: When | None = None


@dataclass(frozen=True)
class Choice:
    """One of several options, which have no order. In a space, a list is short for it.

    Args:
        options: Any objects, or a dictionary from names to objects; the names are what the log and the command show.
        when: Values of other parameters without which this one isn't there, such as `{"solver": "sgd"}`.

    >>> Choice(["sgd", "adam"]).options
    ['sgd', 'adam']
    """

    options: Sequence[Any] | Mapping[str, Any]
    when: When | None = None


Parameter = Float | Int | Bool | Choice


@dataclass(frozen=True)
class Space:
    """Parameters by name, and linear constraints between them, such as `"a + 2*b <= 1"`.

    Wherever you can pass a space, you can also pass a dictionary. Its values may be `Float`, `Int`, `Bool`
    and `Choice`, lists of choices, tuples `(low, high)` or `(low, high, "log-uniform")`, dimensions of scikit-optimize
    and distributions of `scipy.stats`. A list of dimensions and a space of ConfigSpace work as well.

    Args:
        parameters: The parameters by name, or a space in any of these forms.
        constraints: Constraints that every point satisfies.

    >>> space = Space({"lr": (1e-5, 1.0, "log-uniform"), "depth": (1, 12), "solver": ["sgd", "adam"]})
    >>> space.parameters["lr"]
    Float(low=1e-05, high=1.0, log=True, step=None, when=None)
    """

    parameters: Mapping[str, Parameter]
    constraints: Sequence[str] = ()
    _choices: Mapping[str, dict[Key, Any]] = field(default_factory=dict, repr=False, compare=False)

    def __init__(self, parameters: SpaceLike, constraints: str | Iterable[str] = ()) -> None:
        from ._adapters import parameters_of

        known = parameters_of(parameters)
        given = [constraints] if isinstance(constraints, str) else list(constraints)
        for one in given:
            if not isinstance(one, str):
                raise TypeError(f'a constraint must be a string such as "a + 2*b <= 1", got {one!r}')
        inherited = parameters.constraints if isinstance(parameters, Space) else ()
        object.__setattr__(self, "parameters", known)
        object.__setattr__(self, "constraints", (*inherited, *given))
        choices = {name: labelled(name, one.options) for name, one in known.items() if isinstance(one, Choice)}
        object.__setattr__(self, "_choices", choices)

    def __contains__(self, name: object) -> bool:
        return name in self.parameters

    def to_dict(self) -> dict[str, Any]:
        """The space as a dictionary, in the form in which the log stores it."""
        parameters = [self._record(name, one) for name, one in self.parameters.items()]
        return {"parameters": parameters, "constraints": list(self.constraints)}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Space:
        """The space that `to_dict` wrote."""
        parameters: dict[str, Parameter] = {}
        for one in record["parameters"]:
            when = {condition["parameter"]: condition["value"] for condition in one.get("when", [])} or None
            kind, name = one["type"], one["name"]
            if kind == "float":
                parameters[name] = Float(one["low"], one["high"], one.get("log", False), one.get("step"), when)
            elif kind == "int":
                parameters[name] = Int(one["low"], one["high"], one.get("log", False), one.get("step"), when)
            elif kind == "bool":
                parameters[name] = Bool(when)
            else:
                parameters[name] = Choice(one["choices"], when)
        return cls(parameters, record.get("constraints", ()))

    def decode(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Parameters from the engine as the user knows them: choices become the objects that the user passed."""
        return {
            name: self._choices[name].get(_key(value), value) if name in self._choices else value
            for name, value in params.items()
        }

    def encode(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Parameters from the user as the engine knows them: choices become names."""
        if not isinstance(params, Mapping):
            raise TypeError(f"a point must be a dictionary of parameters by name, got {type(params).__name__}")
        return {name: self._encode(name, value) for name, value in params.items()}

    def _encode(self, name: str, value: Any) -> Any:
        choices = self._choices.get(name, {}).items()
        for key, known in choices:
            if known is value or _is_equal(known, value):
                return key[1]
        for key, known in choices if isinstance(value, list) else ():
            if isinstance(known, tuple) and _is_equal(known, tuple(value)):  # JSON and polars make lists of tuples
                return key[1]
        return plain(value, name)

    def _record(self, name: str, one: Parameter) -> dict[str, Any]:
        record: dict[str, Any] = {"name": name}
        if isinstance(one, Float):
            record |= {"type": "float", "low": number(one.low, name, "low"), "high": number(one.high, name, "high")}
            record |= {"log": one.log, "step": None if one.step is None else number(one.step, name, "step")}
        elif isinstance(one, Int):
            record |= {"type": "int", "low": whole(one.low, name, "low"), "high": whole(one.high, name, "high")}
            record |= {"log": one.log, "step": None if one.step is None else whole(one.step, name, "step")}
        elif isinstance(one, Bool):
            record |= {"type": "bool"}
        else:
            record |= {"type": "categorical", "choices": [value for _, value in self._choices[name]]}
        if one.when:
            conditions = one.when.items()
            record["when"] = [{"parameter": other, "value": self._encode(other, value)} for other, value in conditions]
        return record


SpaceLike = Space | Mapping[str, Any] | Sequence[Any] | Any


def labelled(name: str, options: Sequence[Any] | Mapping[str, Any]) -> dict[Key, Any]:
    """Each choice by the name that the engine has for it."""
    if isinstance(options, Mapping):
        return {_key(str(label)): value for label, value in options.items()}
    found: dict[Key, Any] = {}
    for value in options:
        key = _key(_label(name, value))
        if key in found and (value is found[key] or _is_equal(value, found[key])):
            raise SpaceError(f"parameter `{name}`: choice `{key[1]}` is listed twice; remove one of the two")
        if key in found:
            raise SpaceError(
                f"parameter `{name}`: two choices are called `{key[1]}`; "
                'name the choices with a dictionary, as in op.Choice({"small": model})'
            )
        found[key] = value
    return found


def _label(name: str, value: Any) -> Any:
    """The engine's name for a choice."""
    value = native(value)
    if isinstance(value, (str, bool)) or (isinstance(value, int) and abs(value) < 2**63):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if callable(value) and hasattr(value, "__name__"):
        return value.__name__
    text = repr(value)
    if re.search(r" at 0x[0-9a-fA-F]+", text):
        raise SpaceError(
            f"parameter `{name}`: the choice {text} has no name that lasts; "
            'name the choices with a dictionary, as in op.Choice({"small": model})'
        )
    return text


def _key(value: Any) -> Key:
    """A value of the engine as a key, so that 1, 1.0, True and "1" stay four different choices."""
    return type(value), value


def _is_equal(a: Any, b: Any) -> bool:
    if type(a) is not type(b) and (isinstance(a, bool) or isinstance(b, bool)):
        return False
    try:
        return bool(a == b)
    except Exception:  # an array, say
        return False


def native(value: Any) -> Any:
    """A number from numpy or another array library as a plain Python number; anything else as it is."""
    if isinstance(value, (bool, int, float, str, bytes, type(None), list, tuple, dict)):
        item = getattr(value, "item", None)  # numpy's float64 is a float
        return value if item is None else item()
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 and not isinstance(value, type):
        return value.item()
    return value


def plain(value: Any, name: str) -> Any:
    """A value of any type as one that the engine can check."""
    value = native(value)
    if isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**63 else float(value)
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        raise SpaceError(f"parameter `{name}`: value {value} is not finite; give a finite number")
    return _label(name, value)


def number(value: Any, name: str, what: str) -> float:
    value = native(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"parameter `{name}`: {what} must be a number, got {value!r}")
    if not math.isfinite(value):
        raise SpaceError(f"parameter `{name}`: {what} {value} is not finite; give a finite number")
    return float(value)


def whole(value: Any, name: str, what: str) -> int:
    value = native(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != int(value):
        raise TypeError(f"parameter `{name}`: {what} must be a whole number, got {value!r}; use op.Float for others")
    if abs(value) >= 2**63:
        raise SpaceError(f"parameter `{name}`: {what} {value} is beyond 64 bits; narrow the range")
    return int(value)
