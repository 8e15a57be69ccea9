"""Define-by-run: the space of a study is learnt from the calls of its objective.

Given: the calls that each trial makes, such as `trial.float("lr", 1e-5, 1)`. Gives: their values, the space as far as it's known,
and a study in memory over that space. When a call shows that the space has changed, the study is rebuilt over the new space, with
every trial in its place.

A parameter that only some trials call is conditional on the values that tell those trials from the others. If no values do, it's
always there, and has a value that nobody looks at in trials that don't call it.
"""

from __future__ import annotations

import math
import random
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from . import _native
from ._errors import DeclarationError, StudyError
from ._objective import Measured
from ._space import Bool, Choice, Float, Parameter, Space, _is_equal, labelled
from ._trial import Trial

if TYPE_CHECKING:
    from ._study import Study


@dataclass
class Entry:
    """What one trial was offered and what it has called, in order."""

    offered: dict[str, Any] = field(default_factory=dict)
    called: dict[str, Any] = field(default_factory=dict)
    #: It ran to its end, so it doesn't need parameters that it hasn't called.
    is_complete: bool = False


class Definer:
    """A study without a space, and what was learnt about it."""

    def __init__(self, definition: dict[str, Any]) -> None:
        self.definition = definition
        self.native: _native.Study | None = None
        self.space: Space | None = None
        self.parameters: dict[str, Parameter] = {}
        self.entries: list[Entry] = []
        self.lock = threading.RLock()

    def __len__(self) -> int:
        return len(self.entries)

    # Handing out trials.

    def ask(self, study: Study) -> Trial:
        """The next trial, whatever the plan says."""
        with self.lock:
            record = None if self.native is None else self.native.ask(1, None, None)[0]
            return self._hand_out(study, record)

    def claim(self, study: Study, held: set[int]) -> Trial | None:
        """The next trial under the plan; `None` if nothing is left to do."""
        with self.lock:
            if self.native is None:
                record, is_over = None, len(self.entries) >= self.definition["plan"]["trials"]
            else:
                records, _ = self.native.claim(held, 1)
                record, is_over = next(iter(records), None), not records
            if is_over:
                return None
            trial = self._hand_out(study, record)
            held.add(trial.number)
            return trial

    def _hand_out(self, study: Study, record: Mapping[str, Any] | None) -> Trial:
        """A trial whose parameters are filled in as it calls them."""
        if record is None or self.space is None:
            self.entries.append(Entry())
            return Trial(len(self.entries) - 1, {}, study=study)
        number = record["trial"]
        entry = Entry(offered=self.space.decode(record["params"]))
        if number < len(self.entries):
            self.entries[number] = entry  # it was put back
        else:
            self.entries.append(entry)
        return Trial(number, {}, source=record["source"], why=record["why"], study=study)

    def value(self, trial: Trial, name: str, parameter: Parameter) -> Any:
        """The value of a parameter that the trial has just declared."""
        with self.lock:
            known = self.parameters.setdefault(name, parameter)
            same_as(name, known, parameter, f"parameter `{name}` was declared before as")
            entry = self.entries[trial.number]
            if name not in entry.called:
                Space({name: parameter}).to_dict()  # raises if it can't be searched
                entry.called[name] = entry.offered[name] if name in entry.offered else self._draw(trial.number, name)
            trial.params[name] = option(name, known, parameter, entry.called[name])
            return trial.params[name]

    def completed(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """A point of the engine with values for those parameters that are missing: some trials may not call them."""
        with self.lock:
            assert self.space is not None
            point = self.space.decode(params)
            for name, parameter in self.space.parameters.items():
                if name not in point and _is_active(parameter, point):
                    point[name] = self._draw(len(self.entries), name)
            return self.space.encode(point)

    # Results.

    def settle(self, number: int, *, is_complete: bool = False) -> None:
        """A trial has ended, or is about to be amended: gives the study the space as it's known now."""
        with self.lock:
            if not 0 <= number < len(self.entries):
                return
            entry = self.entries[number]
            entry.is_complete = entry.is_complete or is_complete
            if not self.parameters:
                raise DeclarationError(
                    'the objective has declared no parameters; declare each with a call such as trial.float("lr", 1e-5, 1)'
                )
            space = self._learnt()
            if self.space is None or space.to_dict() != self.space.to_dict() or self._is_elsewhere(number):
                self._build(space)

    def _is_elsewhere(self, number: int) -> bool:
        """Whether a trial's point differs from the one in the study."""
        assert self.native is not None and self.space is not None
        return self._point(number, self.space) != self.space.decode(self.native.trial(number)["params"])

    def tell(
        self, number: int, measured: Measured, seconds: float | None, params: Mapping[str, Any] | None, may_fail: bool = False
    ) -> None:
        """Stores the value of a trial. A value that can't be told is an error, or with `may_fail` a failed trial."""
        if params:
            raise StudyError("parameters declared by the objective have the values it was given; leave `params` out")
        self.settle(number, is_complete=True)
        assert self.native is not None
        (self.native.report if may_fail else self.native.tell)(number, measured, seconds)

    # The space as it's known.

    def _learnt(self) -> Space:
        whens = {name: self._when(name) for name in self.parameters}
        return Space({name: replace(one, when=whens[name] or None) for name, one in self.parameters.items()})

    def _when(self, name: str) -> dict[str, Any]:
        """The condition of a parameter: values shared by all trials that call it, and by none of the others."""
        callers = [entry.called for entry in self.entries if name in entry.called]
        others = [entry.called for entry in self.entries if entry.is_complete and name not in entry.called]
        if not others or not callers:
            return {}
        shared: dict[str, Any] = {}
        for other, value in callers[0].items():
            if other == name:
                break
            is_discrete = not isinstance(self.parameters[other], Float)
            if is_discrete and all(other in called and _is_equal(called[other], value) for called in callers):
                shared[other] = value
        for other in list(shared):  # prefer the latest calls
            without = {key: value for key, value in shared.items() if key != other}
            if without and _tells_apart(without, others):
                shared = without
        return shared if _tells_apart(shared, others) else {}

    def _point(self, number: int, space: Space) -> dict[str, Any]:
        """The trial as a point of the space: the values it called, was offered, or would be given."""
        entry, point = self.entries[number], dict[str, Any]()
        for name, parameter in space.parameters.items():
            if _is_active(parameter, point):
                if name not in entry.called and name not in entry.offered:
                    entry.offered[name] = self._draw(number, name)
                point[name] = entry.called.get(name, entry.offered.get(name))
        return point

    def _build(self, space: Space) -> None:
        """The study over this space, with every trial in its place."""
        records = [] if self.native is None else self.native.trials()
        native = _native.Study.resume_or_create(None, {**self.definition, "space": space.to_dict()})
        waiting = []
        for number in range(len(self.entries)):
            native.enqueue(space.encode(self._point(number, space)))
            native.ask(1, None, None)
            known: dict[str, Any] = records[number] if number < len(records) else {"state": "running"}
            if known["state"] == "complete":
                native.tell(number, _measured(known), known.get("seconds"))
            elif known["state"] == "failed":
                partly = _measured(known) if known.get("values") else None
                native.fail(number, known["failure"], known["reason"], known.get("stderr"), known.get("seconds"), partly)
            elif known["state"] == "cancelled":
                native.cancel(number)
            elif known["state"] == "waiting":
                waiting.append((number, known["reason"]))
        for number, reason in waiting:  # last, since `ask` hands them out first
            native.put_back(number, reason)
        self.native, self.space = native, space

    def _draw(self, number: int, name: str) -> Any:
        """A random value, the same for the same seed, trial and name."""
        rng = random.Random(f"{self.definition['seed']}/{number}/{name}")
        parameter = self.parameters[name]
        if isinstance(parameter, Bool):
            return rng.random() < 0.5
        if isinstance(parameter, Choice):
            return rng.choice(list(Space({name: parameter})._choices[name].values()))
        low, high, step = parameter.low, parameter.high, parameter.step
        drawn = math.exp(rng.uniform(math.log(low), math.log(high))) if parameter.log else rng.uniform(low, high)
        if step is None and isinstance(parameter, Float):
            return min(max(drawn, low), high)
        step = step or 1
        level = min(round((drawn - low) / step), math.floor((high - low) / step + 1e-9))
        return low + level * step

    # Copies.

    def __getstate__(self) -> dict[str, Any]:
        with self.lock:
            state = {key: value for key, value in self.__dict__.items() if key != "lock"}
            return {**state, "native": None if self.native is None else self.native.export()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, lock=threading.RLock())
        self.native = None if state["native"] is None else _native.Study.restore(state["native"])


def _is_active(parameter: Parameter, point: Mapping[str, Any]) -> bool:
    when = parameter.when or {}
    return all(other in point and _is_equal(point[other], value) for other, value in when.items())


def same_as(name: str, known: Parameter, declared: Parameter, what: str) -> None:
    """Checks that a parameter is declared as it's known. Options may be new objects each time, with the same names.

    Raises:
        DeclarationError: If it isn't.
    """
    if isinstance(known, Choice) and isinstance(declared, Choice):
        is_same = list(labelled(name, known.options)) == list(labelled(name, declared.options))
    else:
        is_same = known == declared
    if not is_same:
        raise DeclarationError(
            f"{what} {known}, and now it's {declared}; declare it the same way in every trial: with the widest range, or under "
            "a different name for each range"
        )


def option(name: str, known: Parameter, declared: Parameter, value: Any) -> Any:
    """The option of a declaration that the study knows as `value`; other parameters have it as it is."""
    if not isinstance(known, Choice) or not isinstance(declared, Choice):
        return value
    names = (key for key, known in labelled(name, known.options).items() if known is value or _is_equal(known, value))
    return labelled(name, declared.options)[next(names)]


def _tells_apart(when: Mapping[str, Any], others: list[dict[str, Any]]) -> bool:
    """Whether none of the others has all these values."""
    return not any(all(name in other and _is_equal(other[name], value) for name, value in when.items()) for other in others)


def _measured(known: Mapping[str, Any]) -> Measured:
    """The measurement in the record of a trial."""
    value = known["value"] if "value" in known else known["values"]
    return Measured(value, known.get("noise_std"), known.get("note"), known.get("metrics"))
