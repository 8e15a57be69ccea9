"""GO-UCB as a sampler for Optuna.

The parameters of an objective are searched together, including conditional ones, as soon as finished trials have shown them. A
parameter that wasn't known or expected when a trial began is suggested by itself, with its own model over the trials that have
it.

Each trial has its own stream of random numbers. So the same seed gives the same trials, whichever process asks for them, and
threads can't disturb each other.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
from abc import ABCMeta
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from optuna.distributions import BaseDistribution, _get_single_value
from optuna.samplers import BaseSampler
from optuna.samplers._base import _process_constraints_after_trial
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from .. import _arguments
from .._policy import GoUcb, table_of
from ._axes import Axis, placed, value
from ._engine import Engine
from ._goals import Goals
from ._record import Record
from ._trials import OFFERED, PLACES

#: How many studies, or brackets of a study, are known at a time.
MAX_RECORDS = 16


class OptimistSampler(BaseSampler, metaclass=ABCMeta):  # type: ignore[misc]  # Optuna is optional: type checkers skip it
    """Suggests parameters by GO-UCB, Optimist's optimizer.

    It learns from complete trials, from pruned ones (their last report, plus what complete trials gained after that step), from
    failed ones, which it avoids, and from running ones. One sampler may serve several studies and threads.

    Args:
        n_trials: How many trials you plan, which decides how many of them explore. It isn't a limit.
        seed: The same seed gives the same trials. If you leave it out, it's random.
        constraints_func: As in Optuna's own samplers. In Optuna 5, call `trial.set_constraint(name, value)` in the objective
        instead.
        **settings: Settings of `optimist.GoUcb`, such as `preset`, `family` or `exploration`.

    >>> import optuna
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> study = optuna.create_study(sampler=OptimistSampler(n_trials=20, seed=0))
    >>> study.optimize(lambda trial: (trial.suggest_float("x", -10, 10) - 2) ** 2, n_trials=20)
    >>> study.best_value < 0.01
    True
    """

    def __init__(
        self,
        n_trials: int = 100,
        *,
        seed: int | None = None,
        constraints_func: Callable[[FrozenTrial], Sequence[float]] | None = None,
        **settings: Any,
    ) -> None:
        self._method = table_of(GoUcb(**settings))
        self._n_trials = _arguments.whole(n_trials, "n_trials")
        self._seed = secrets.randbits(63) if seed is None else _arguments.seed(seed)
        self._constraints_func = constraints_func
        self._lock = threading.RLock()
        self._records: list[Record] = []
        self._new_engine({"x": None}, {}, Goals(), "")  # wrong settings are an error here, not in the first trial

    def reseed_rng(self) -> None:
        """Does nothing: each trial has its own random numbers, so threads don't share any."""

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """Returns the parameters that finished trials have shown, including conditional ones."""
        with self._lock:
            axes = self._record(study).space.axes()
        return {name: axis for name, axis in axes.items() if axis is not None}

    def sample_relative(self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]) -> dict[str, Any]:
        """Suggests values for the parameters that the trial will need, as far as that's known."""
        with self._lock:
            record = self._record(study)
            known = record.space.axes()
            axes = {name: search_space.get(name, axis) for name, axis in known.items() if axis is None or name in search_space}
            axes |= {name: axis for name, axis in search_space.items() if name not in axes}
            if not axes:
                return {}
            engine = self._engine(record, axes, record.space.whens, "")
            suggested = self._suggest(study, record, engine, trial, axes)
        return {name: search_space[name].to_external_repr(one) for name, one in suggested.items() if name in search_space}

    def sample_independent(self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution) -> Any:
        """Suggests a value for a parameter that the trial wasn't expected to need."""
        if param_distribution.single():
            return _get_single_value(param_distribution)
        place = trial.system_attrs.get(PLACES, {}).get(param_name)
        if place is None:
            with self._lock:
                record = self._record(study)
                is_changing = record.space.axis(param_name, param_distribution) is None
                axes: dict[str, Axis] = {param_name: None if is_changing else param_distribution}
                engine = self._engine(record, axes, {}, param_name)
                suggested = self._suggest(study, record, engine, trial, axes)[param_name]
            if not is_changing:
                return param_distribution.to_external_repr(suggested)
            place = suggested
        return param_distribution.to_external_repr(placed(place, param_distribution))

    def after_trial(self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None) -> None:
        """Stores the constraints that `constraints_func` returns for a trial."""
        if self._constraints_func is not None:
            _process_constraints_after_trial(self._constraints_func, study, trial, state)

    def _record(self, study: Study) -> Record:
        """What is known about the study, up to date."""
        trials = study.get_trials(deepcopy=False)
        place = next((i for i, one in enumerate(self._records) if one.is_of(study, trials)), None)
        record = Record(study) if place is None else self._records.pop(place)
        self._records = [record, *self._records[: MAX_RECORDS - 1]]
        record.update(trials)
        return record

    def _engine(self, record: Record, axes: Mapping[str, Axis], whens: Mapping[str, Mapping[str, float]], name: str) -> Engine:
        """The engine that suggests these parameters."""
        goals = record.goals
        key = f"{dict(axes)} {[whens.get(name) for name in axes]} {goals}"
        return record.engine(key, lambda: self._new_engine(axes, whens, goals, f"{self._seed} {record.root} {name}"))

    def _new_engine(self, axes: Mapping[str, Axis], whens: Mapping[str, Mapping[str, float]], goals: Goals, seed: str) -> Engine:
        """A new engine. Its seed depends on bracket and parameter, so that they don't all begin with the same points."""
        number = int.from_bytes(hashlib.blake2b(seed.encode(), digest_size=8).digest(), "big")
        return Engine(axes, whens, self._method, self._n_trials, number, goals)

    def _suggest(
        self, study: Study, record: Record, engine: Engine, trial: FrozenTrial, axes: Mapping[str, Axis]
    ) -> dict[str, float]:
        """Suggests values in Optuna's internal representation; from now on, other trials see them as pending."""
        engine.expect([row for row in record.running if row.number != trial.number])
        suggested = {name: value(x, axes[name]) for name, x in engine.suggest(trial.number).items()}
        for key, is_place in ((OFFERED, False), (PLACES, True)):
            new = {name: one for name, one in suggested.items() if (axes[name] is None) == is_place}
            if new:
                known = study._storage.get_trial_system_attrs(trial._trial_id).get(key, {})
                study._storage.set_trial_system_attr(trial._trial_id, key, {**known, **new})
        return suggested

    # Copies: they read what is known about studies again.

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key not in ("_lock", "_records")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.RLock(), _records=[])
