"""Spaces of other libraries as ours; none of those libraries is imported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._arguments import text
from ._errors import SpaceError
from ._space import Bool, Choice, Float, Int, Parameter, Space, SpaceLike, native

HELP = 'give op.Float(low, high), op.Int(low, high), op.Bool(), a list of choices, or a tuple such as (1e-5, 1.0, "log-uniform")'


def parameters_of(space: SpaceLike) -> dict[str, Parameter]:
    """The parameters of a space of any library."""
    if isinstance(space, Space):
        return dict(space.parameters)
    if _module(space) == "ConfigSpace":
        return _config_space(space)
    if isinstance(space, Mapping):
        return {text(name, "the name of a parameter"): parameter(name, value) for name, value in space.items()}
    dimensions = getattr(space, "dimensions", space)  # skopt.Space has a list of them
    if isinstance(dimensions, (list, tuple)):
        named = [(getattr(one, "name", None) or f"x{i}", one) for i, one in enumerate(dimensions)]
        if len({name for name, _ in named}) < len(named):
            raise SpaceError("two dimensions have the same name; rename one of them")
        return {text(name, "the name of a dimension"): parameter(name, one) for name, one in named}
    raise TypeError(f"a space must be a dictionary of parameters by name, got {type(space).__name__}; {HELP}")


def parameter(name: str, value: Any) -> Parameter:
    """One parameter, written as in Optimist, scikit-optimize or scipy.stats."""
    if isinstance(value, (Float, Int, Bool, Choice)):
        return value
    if isinstance(value, (list, range)):
        return Choice(list(value))
    if isinstance(value, tuple):
        return _tuple(name, value)
    if _module(value) in ("skopt", "sambo"):
        return _dimension(name, value)
    if _module(value) == "scipy" and hasattr(value, "dist"):
        return _distribution(name, value)
    raise TypeError(f"parameter `{name}`: cannot understand {value!r}; {HELP}")


def _tuple(name: str, value: tuple[Any, ...]) -> Parameter:
    ends: list[Any] = [native(end) for end in value[:2]]
    prior = value[2] if len(value) > 2 else "uniform"
    is_number = all(isinstance(end, (int, float)) and not isinstance(end, bool) for end in ends)
    if not is_number or not 2 <= len(value) <= 4 or prior not in ("uniform", "log-uniform"):
        raise TypeError(
            f'parameter `{name}`: a tuple is (low, high) or (low, high, "log-uniform"), got {value!r}; write choices as a list'
        )
    (low, high), log = ends, prior == "log-uniform"
    if isinstance(low, int) and isinstance(high, int):
        return Int(low, high, log=log)
    return Float(float(low), float(high), log=log)


def _dimension(name: str, value: Any) -> Parameter:
    kind = type(value).__name__
    if kind == "Categorical":
        return Choice(list(value.categories))
    log = getattr(value, "prior", "uniform") == "log-uniform"
    if kind == "Integer":
        return Int(int(value.low), int(value.high), log=log)
    if kind == "Real":
        return Float(float(value.low), float(value.high), log=log)
    raise TypeError(f"parameter `{name}`: cannot understand the dimension {value!r}; {HELP}")


def _distribution(name: str, value: Any) -> Parameter:
    kind = value.dist.name
    low, high = value.support()
    if kind == "uniform":
        return Float(float(low), float(high))
    if kind in ("loguniform", "reciprocal"):
        if float(value.kwds.get("loc", 0.0)) != 0.0:
            raise SpaceError(f"parameter `{name}`: a loguniform with a shift has no log scale; leave `loc` out")
        return Float(float(low), float(high), log=True)
    if kind == "randint":
        return Int(int(low), int(high))
    raise TypeError(
        f"parameter `{name}`: cannot understand scipy.stats.{kind}; "
        "a search needs bounds, which uniform, loguniform and randint have"
    )


def _config_space(space: Any) -> dict[str, Parameter]:
    if list(getattr(space, "forbidden_clauses", [])):
        raise SpaceError("forbidden clauses of ConfigSpace are not supported; write them as linear constraints")
    whens: dict[str, dict[str, Any]] = {}
    for condition in space.conditions:
        parts = getattr(condition, "components", [condition])
        if type(condition).__name__ == "OrConjunction":
            raise SpaceError(f"the condition {condition} is not supported; Optimist has equalities, joined by and")
        for part in parts:
            if type(part).__name__ == "InCondition" and len(part.values) == 1:
                wanted = part.values[0]
            elif type(part).__name__ == "EqualsCondition":
                wanted = part.value
            else:
                raise SpaceError(f"the condition {part} is not supported; Optimist has equalities, joined by and")
            whens.setdefault(part.child.name, {})[part.parent.name] = native(wanted)
    return {name: _hyperparameter(name, space[name], whens.get(name)) for name in space}


def _hyperparameter(name: str, one: Any, when: Mapping[str, Any] | None) -> Parameter:
    kind = type(one).__name__
    if kind.endswith("FloatHyperparameter"):
        return Float(float(one.lower), float(one.upper), log=bool(one.log), when=when)
    if kind.endswith("IntegerHyperparameter"):
        return Int(int(one.lower), int(one.upper), log=bool(one.log), when=when)
    if kind == "CategoricalHyperparameter":
        return Choice([native(choice) for choice in one.choices], when=when)
    if kind == "OrdinalHyperparameter":
        return Choice([native(choice) for choice in one.sequence], when=when)
    if kind == "Constant":
        return Choice([native(one.value)], when=when)
    raise TypeError(f"parameter `{name}`: cannot understand ConfigSpace's {kind}")


def _module(value: Any) -> str:
    return str(type(value).__module__).partition(".")[0]
