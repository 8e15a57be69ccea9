"""Objectives: how a user's function is called, and what its return value means."""

from __future__ import annotations

import inspect
import math
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ._errors import Failed, Retry, ReturnTypeError, StudyError
from ._space import Space, native

WANTED = 'return one number, or a dictionary such as {"value": 0.5, "noise_std": 0.1, "metrics": {"cost": 3}}'


class Measured(NamedTuple):
    """A value, or values of named outcomes, and what came with it."""

    value: float | dict[str, float]
    noise_std: float | dict[str, float] | None = None
    note: str | None = None
    metrics: dict[str, Any] | None = None


@dataclass(frozen=True)
class Failure:
    """Why there is no value: the kind of failure, a sentence, and the traceback."""

    kind: str
    reason: str
    traceback: str | None = None
    #: With several outcomes, those that were measured before it failed.
    known: Measured | None = None


def is_asynchronous(objective: Callable[..., Any]) -> bool:
    """Whether it's an `async def`, or an object whose `__call__` is one."""
    return inspect.iscoroutinefunction(objective) or inspect.iscoroutinefunction(getattr(objective, "__call__", None))  # noqa: B004


def takes_trial(objective: Callable[..., Any], space: Space | None) -> bool:
    """Whether it takes the trial: its first argument is called `trial`, or it declares its parameters."""
    if space is None:
        return True
    first = next(iter(_arguments(objective)), None)
    return first == "trial" and "trial" not in space


def check_signature(objective: Callable[..., Any], space: Space) -> None:
    """Checks that it can be called with every point of the space."""
    arguments = _arguments(objective)
    kinds = {argument.kind for argument in arguments.values()}
    takes_all = not arguments or inspect.Parameter.VAR_KEYWORD in kinds
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    for name, parameter in space.parameters.items():
        known = arguments.get(name)
        if known is None or known.kind not in by_name:
            if not takes_all:
                raise TypeError(
                    f"the objective has no argument `{name}`, which is a parameter of the space; add it, or `**params`"
                )
        elif parameter.when and known.default is inspect.Parameter.empty:
            raise TypeError(f"parameter `{name}` is not always active; give the objective's argument `{name}` a default")
    for name, argument in arguments.items():
        is_needed = argument.default is inspect.Parameter.empty and argument.kind in by_name
        if is_needed and name not in space:
            raise TypeError(f"the objective needs `{name}`, which is not in the space; add it there, or give it a default")


def _arguments(objective: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(objective).parameters
    except (TypeError, ValueError):  # built-in functions do not say
        return {}


def measured(answer: Any, outcomes: Sequence[str] | None = None) -> Measured | Failure:
    """What an objective's return value means. If it has several outcomes, the engine checks that all of them are there and
    finite.

    Raises:
        ReturnTypeError: If it can't be a value.
    """
    if outcomes is not None:
        return _of_several(answer, outcomes)
    if isinstance(answer, Mapping):
        if "value" not in answer:
            raise ReturnTypeError(f"the objective returned a dictionary without `value`; {WANTED}")
        unknown = set(answer) - {"value", "noise_std", "note", "metrics"}
        if unknown:
            raise ReturnTypeError(
                f"the objective returned a dictionary with `{min(map(str, unknown))}`; put further numbers in `metrics`"
            )
        noise = answer.get("noise_std")
        note = answer.get("note")
        found = Measured(
            float_of(answer["value"], "the value"),
            None if noise is None else float_of(noise, "noise_std"),
            None if note is None else storable(str(note)),
            metrics_of(answer.get("metrics")),
        )
    else:
        found = Measured(float_of(answer, "the objective's return value"))
    value, noise_std = found.value, found.noise_std
    if isinstance(value, float) and not math.isfinite(value):
        return Failure("unreadable", f"the value must be a finite number, got {value}")
    if isinstance(noise_std, float) and not (math.isfinite(noise_std) and noise_std >= 0):
        return Failure("unreadable", f'"noise_std" must be a number of 0 or more, got {noise_std}')
    return found


def _of_several(answer: Any, outcomes: Sequence[str]) -> Measured:
    example = ", ".join(f'"{name}": …' for name in outcomes)
    wanted = f"return a dictionary with every outcome: {{{example}}}"
    if not isinstance(answer, Mapping):
        what = "None" if answer is None else f"something of type {type(answer).__name__}"
        raise ReturnTypeError(f"the objective returned {what}; {wanted}")
    further = {key: answer[key] for key in ("noise_std", "note", "metrics") if key in answer and key not in outcomes}
    values = {key: value for key, value in answer.items() if key not in further}
    if "values" in values and "values" not in outcomes:
        inner = values.pop("values")
        if values:
            raise ReturnTypeError(
                f"the objective returned a dictionary with `values` and `{min(map(str, values))}`; "
                "put further numbers in `metrics`"
            )
        if not isinstance(inner, Mapping):
            raise ReturnTypeError(f"`values` is of type {type(inner).__name__}; {wanted}")
        values = dict(inner)
    note = further.get("note")
    told, noise_std = numbers_of(values, wanted), noise_of(further.get("noise_std"))
    check_noise(told, noise_std)
    return Measured(told, noise_std, None if note is None else storable(str(note)), metrics_of(further.get("metrics")))


def check_noise(told: float | dict[str, float], noise_std: float | dict[str, float] | None) -> None:
    """Checks that each noise belongs to a value."""
    for name in noise_std if isinstance(noise_std, dict) else ():
        if not isinstance(told, dict) or name not in told:
            raise ReturnTypeError(f"got noise_std for `{name}`, which has no value; use the names of the values")


def numbers_of(values: Mapping[str, Any], wanted: str) -> dict[str, float]:
    """The values of outcomes by name; those that are `None` were not measured."""
    return {str(name): float_of(value, f"outcome `{name}`", wanted) for name, value in values.items() if value is not None}


def noise_of(noise_std: Any, wanted: str | None = None) -> float | dict[str, float] | None:
    """The noise of a value, or of outcomes by name, as numbers."""
    if noise_std is None:
        return None
    wanted = wanted or "give one number, 0 or more, or a dictionary of them"
    if isinstance(noise_std, Mapping):
        return {str(name): float_of(std, f"noise_std of `{name}`", wanted) for name, std in noise_std.items() if std is not None}
    return float_of(noise_std, "noise_std", wanted)


def float_of(value: Any, what: str, wanted: str = WANTED) -> float:
    """The number in a value of any numeric type: Python's, numpy's, torch's, decimals, fractions."""
    value = native(value)
    if value is None:
        hint = ". Raise op.Failed if there is no value at this point" if wanted is WANTED else ""
        raise ReturnTypeError(f"{what} is None; {wanted}{hint}")
    if isinstance(value, (str, bytes)):
        raise ReturnTypeError(f"{what} is the string {value!r}; {wanted}")
    if isinstance(value, (tuple, list)):
        raise ReturnTypeError(f"{what} is a {type(value).__name__} of {len(value)}; {wanted}")
    if isinstance(value, bool):
        raise ReturnTypeError(f"{what} is {value}, a boolean; {wanted}")
    if getattr(value, "size", 1) == 1 and callable(getattr(value, "item", None)):
        value = value.item()  # an array with one number
    if isinstance(value, complex) or (not hasattr(value, "__float__") and not hasattr(value, "__index__")):
        raise ReturnTypeError(f"{what} is of type {type(value).__name__}; {wanted}")
    try:
        return float(value)
    except OverflowError:
        return math.inf
    except (TypeError, ValueError) as error:
        raise ReturnTypeError(f"{what} is of type {type(value).__name__}, not a number; {wanted}") from error


def metrics_of(metrics: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Other results, as JSON can store them."""
    if metrics is None:
        return None
    if not isinstance(metrics, Mapping):
        raise ReturnTypeError(f"metrics must be a dictionary, got {type(metrics).__name__}")
    return {storable(str(name)): _json(value, name) for name, value in metrics.items()}


def _json(value: Any, name: Any) -> Any:
    value = native(value)
    if isinstance(value, int) and value.bit_length() > 63:
        value = float_of(value, f"metric `{name}`")
    if isinstance(value, float) and not math.isfinite(value):
        return None  # JSON can't express it
    if isinstance(value, str):
        return storable(value)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, Mapping):
        return metrics_of(value)
    if isinstance(value, (list, tuple)):
        return [_json(item, name) for item in value]
    tolist = getattr(value, "tolist", None)
    if tolist is None:
        raise ReturnTypeError(
            f"metric `{name}`: cannot store a value of type {type(value).__name__}; "
            "use numbers, strings, booleans, lists or dictionaries"
        )
    return _json(tolist(), name)


def storable(text: str) -> str:
    """A text as the log can store it: half a character, as in a file's name that isn't UTF-8, is written as its code."""
    return text.encode("utf-8", "backslashreplace").decode()


def failure_of(error: BaseException) -> Failure:
    """What an exception raised by an objective says: the kind of failure, a sentence, the traceback, and what was measured."""
    if isinstance(error, (Failed, Retry)):
        kind = "retried" if isinstance(error, Retry) else "infeasible"
        known = getattr(error, "values", None)
        return Failure(kind, storable(str(error)) or ("retry" if kind == "retried" else "failed"), None, known_of(known))
    if isinstance(error, StudyError):
        return Failure("infeasible", storable(str(error)))
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    return Failure("crashed", storable(f"{type(error).__name__}: {error}".rstrip(": ")), storable(text)[-4000:])


def known_of(values: Mapping[str, Any] | None) -> Measured | None:
    """The outcomes that were measured in a trial that failed."""
    return Measured(numbers_of(values, "give a number for each outcome that was measured")) if values else None


def evaluate(objective: Callable[..., Any], params: dict[str, Any]) -> Any:
    """Calls an objective with the parameters of a trial. It's a function, so that other processes can import it."""
    return objective(**params)
