"""Search spaces of Ray Tune as ours: every domain that has bounds.

Given: `param_space`, nested as users write it. Gives: parameters by path, such as `optimizer/lr`, and points from one form to the
other. Constants are left to Tune.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ray.tune.search.sample import Categorical, Domain, Integer, LogUniform, Normal, Quantized, Uniform
from ray.tune.search.sample import Float as TuneFloat
from ray.tune.search.variant_generator import parse_spec_vars

from ._errors import SpaceError
from ._space import Bool, Choice, Float, Int, Parameter, labelled

#: Joins the keys of a path, as in Tune.
SEPARATOR = "/"


@dataclass(frozen=True)
class Layout:
    """Where parameters are in a nested configuration."""

    paths: Mapping[str, tuple[str, ...]]

    def nested(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Parameters as a nested configuration."""
        config: dict[str, Any] = {}
        for name, value in params.items():
            *folders, last = self.paths[name]
            place = config
            for folder in folders:
                place = place.setdefault(folder, {})
            place[last] = value
        return config

    def flat(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters in a nested or flat configuration, without constants."""
        found = {}
        for name, path in self.paths.items():
            place: Any = config
            for key in path:
                place = place[key] if isinstance(place, Mapping) and key in place else Layout
            value = config.get(name, Layout) if place is Layout else place
            if value is not Layout:
                found[name] = value
        return found


def parameters_of(config: Mapping[str, Any]) -> tuple[dict[str, Parameter], Layout]:
    """The parameters of a configuration: Tune's domains and ours at any depth. Everything else is a constant."""
    _, domains, grids = parse_spec_vars(dict(config))
    found = {path: _parameter(SEPARATOR.join(map(str, path)), domain) for path, domain in domains}
    if grids:
        name = SEPARATOR.join(map(str, grids[0][0]))
        raise SpaceError(f"parameter `{name}`: a grid is run point by point, not searched; use tune.choice([…]) instead")
    found.update(_ours(config))
    for path in found:
        if any(not isinstance(key, str) for key in path):
            raise SpaceError(f"parameter `{SEPARATOR.join(map(str, path))}` is inside a list; put it in a dictionary")
    paths = {SEPARATOR.join(path): tuple(path) for path in found}
    if len(paths) < len(found):
        raise SpaceError(f"two parameters have the same name once their keys are joined with `{SEPARATOR}`; rename one of them")
    return {name: found[path] for name, path in paths.items()}, Layout(paths)


def is_nested(space: Any) -> bool:
    """Whether a space is written like `param_space`, and not as for `optimist.Study`."""
    if not isinstance(space, Mapping):
        return False
    return any(isinstance(value, (Mapping, Domain)) for value in space.values())


def _ours(config: Mapping[str, Any], at: tuple[str, ...] = ()) -> dict[tuple[str, ...], Parameter]:
    found: dict[tuple[str, ...], Parameter] = {}
    for key, value in config.items():
        if isinstance(value, (Float, Int, Bool, Choice)):
            found[(*at, key)] = value
        elif isinstance(value, Mapping):
            found.update(_ours(value, (*at, key)))
    return found


def _parameter(name: str, domain: Domain) -> Parameter:
    """One domain of Tune."""
    sampler, step = domain.get_sampler(), None
    if isinstance(sampler, Quantized):
        sampler, step = sampler.get_sampler(), sampler.q
    if domain.is_function():
        raise SpaceError(
            f"parameter `{name}`: tune.sample_from has no range to search; give it one, such as tune.uniform(low, high)"
        )
    if isinstance(sampler, Normal):
        raise SpaceError(f"parameter `{name}`: tune.randn has no bounds, which a search needs; use tune.uniform(low, high)")
    if isinstance(domain, Categorical):
        return _choice(name, list(domain.categories))
    log = isinstance(sampler, LogUniform)
    if not log and not isinstance(sampler, Uniform):
        raise SpaceError(
            f"parameter `{name}`: cannot search {domain!r}; use tune.uniform, tune.loguniform, tune.randint or tune.choice"
        )
    if isinstance(domain, TuneFloat):
        low, high = _on_grid(name, domain.lower, domain.upper, step)
        return Float(low, high, log, None if step is None else float(step))
    if isinstance(domain, Integer):
        # Tune leaves out the upper end, unless there are steps.
        upper = domain.upper if step not in (None, 1) else domain.upper - 1
        low, high = _on_grid(name, domain.lower, upper, step)
        return Int(int(low), int(high), log, None if step in (None, 1) else int(step))
    raise SpaceError(
        f"parameter `{name}`: cannot search {domain!r}; use tune.uniform, tune.loguniform, tune.randint or tune.choice"
    )


def _choice(name: str, options: list[Any]) -> Choice:
    """A choice between any objects; those without a name are numbered."""
    try:
        labelled(name, options)
    except SpaceError:
        return Choice({f"choice {i}": option for i, option in enumerate(options)})
    return Choice(options)


def _on_grid(name: str, low: float, high: float, step: float | None) -> tuple[float, float]:
    """The first and the last multiple of a step between two bounds, as in Tune."""
    if step is None:
        return low, high
    first, last = _rounded(low / step, math.ceil), _rounded(high / step, math.floor)
    if first > last:
        raise SpaceError(f"parameter `{name}`: there is no multiple of {step} from {low} to {high}; widen the range")
    return first * step, last * step


def _rounded(ratio: float, inwards: Any) -> int:
    nearest = round(ratio)
    return nearest if math.isclose(ratio, nearest) else int(inwards(ratio))
