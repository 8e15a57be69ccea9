"""What a sampler knows about one study: the rows of its trials, the space learnt from them, and engines that know them.

All of it can be read from the study again, so a sampler may forget it at any time. A study is recognized by its trials: with a
`HyperbandPruner`, samplers see one bracket at a time, each as if it were the study.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

from optuna.storages import BaseStorage
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from ._engine import Engine
from ._goals import Goals
from ._learnt import LearntSpace
from ._trials import Curves, Outcome, Row, row_of

#: How many engines are kept: one for the space, and one for each parameter that is suggested by itself.
MAX_ENGINES = 64


class Record:
    """What is known about a study."""

    def __init__(self, study: Study) -> None:
        self._storage: BaseStorage = study._storage
        self._study_id: int = study._study_id
        self._signs = [1.0 if one == StudyDirection.MAXIMIZE else -1.0 for one in study.directions]
        #: The number of its first trial, which tells brackets apart.
        self.root = 0
        self._n_seen = 0
        #: Indices of trials that hadn't ended when they were last read.
        self._open: list[int] = []
        #: The index of the last ended trial that was read, and its key.
        self._last: tuple[int, Any] | None = None
        self._curves = Curves()
        #: Trials that have ended, in the order in which they did.
        self.rows: list[Row] = []
        #: Trials that haven't ended.
        self.running: list[Row] = []
        self.space = LearntSpace()
        self.goals = Goals(len(self._signs))
        self._engines: OrderedDict[Any, Engine] = OrderedDict()

    def is_of(self, study: Study, trials: list[FrozenTrial]) -> bool:
        """Whether these are the known trials, perhaps with later ones."""
        if self._storage is not study._storage or self._study_id != study._study_id or len(trials) < self._n_seen:
            return False
        if self._last is None:
            return bool(trials[0].number == self.root)
        place, last = self._last
        return bool(_key(trials[place]) == last)

    def update(self, trials: list[FrozenTrial]) -> None:
        """Reads what's new."""
        places = [*self._open, *range(self._n_seen, len(trials))]
        self._n_seen = len(trials)
        self.root = trials[0].number
        self._open = [place for place in places if not trials[place].state.is_finished()]
        ended = [place for place in places if trials[place].state.is_finished()]
        ended.sort(key=lambda place: (trials[place].datetime_complete or datetime.min, place))
        for place in ended:
            self._end(trials[place])
            self._last = (place, _key(trials[place]))
        self.running = [row_of(trials[place]) for place in self._open]

    def engine(self, key: Any, make: Callable[[], Engine]) -> Engine:
        """The engine for this key, which knows all trials that have ended."""
        engine = self._engines.pop(key, None) or make()
        self._engines[key] = engine
        if len(self._engines) > MAX_ENGINES:
            self._engines.popitem(last=False)
        engine.learn(self.rows)
        return engine

    def _end(self, trial: FrozenTrial) -> None:
        row = row_of(trial)
        row.outcomes = self._outcomes(trial)
        self.rows.append(row)
        self.space.add(row)
        new = tuple(sorted(set(row.constraints) - set(self.goals.constraints)))
        if new:
            self.goals = replace(self.goals, constraints=self.goals.constraints + new)

    def _outcomes(self, trial: FrozenTrial) -> tuple[Outcome, ...] | None:
        """The result of a trial that has ended; `None` if it has no finite value."""
        sign = self._signs[0]
        reports = {step: sign * value for step, value in trial.intermediate_values.items()}
        if trial.state == TrialState.PRUNED and len(self._signs) == 1:
            expected = self._curves.expected(reports)
            return None if expected is None else (expected,)
        if trial.state != TrialState.COMPLETE or not all(math.isfinite(value) for value in trial.values):
            return None
        outcomes = tuple(Outcome(sign * value) for sign, value in zip(self._signs, trial.values, strict=True))
        self._curves.add(reports, outcomes[0].y)
        return outcomes


def _key(trial: FrozenTrial) -> Any:
    return trial._trial_id, trial.number, trial.state, trial.datetime_start, trial.datetime_complete
