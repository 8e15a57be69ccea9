"""The space of an objective that declares its parameters as it runs, learnt from its finished trials.

* **Which parameters.** The first 32; after that, those that all trials have asked for, or at least two trials and one in fifty.
An
  objective may give its parameters new names in each trial, and those aren't searched together.
* **Which range.** The latest, since users edit ranges while a study runs; trials outside it are left out. If it has changed more
  than eight times, it depends on something, and what counts is where in its range a value lies.
* **When.** A parameter that only some trials ask for is conditional on values of other parameters that tell those trials from the
  others. If no values do, it's always there.

A trial that fits what's known costs the same however many trials there are. One that doesn't makes the space be learnt again;
each parameter can cause that only a few times, because its condition gets weaker each time.
"""

from __future__ import annotations

from optuna.distributions import BaseDistribution, CategoricalDistribution

from ._axes import Axis, is_discrete
from ._trials import Row

MAX_CHANGES = 8
MAX_NAMES = 32
RARE = 1 / 50


class LearntSpace:
    """Parameters, their ranges and their conditions."""

    def __init__(self) -> None:
        self._rows: list[Row] = []
        self._latest: dict[str, BaseDistribution] = {}
        self._n_changes: dict[str, int] = {}
        self._n_trials: dict[str, int] = {}
        #: The condition of each parameter of the space; parameters come after those that they depend on.
        self.whens: dict[str, dict[str, float]] = {}
        #: Parameters that every complete trial has asked for.
        self._always: set[str] = set()

    def add(self, row: Row) -> None:
        """Learns from a trial that has ended."""
        self._rows.append(row)
        for name, distribution in row.distributions.items():
            known = self._latest.setdefault(name, distribution)
            if known != distribution and not isinstance(distribution, CategoricalDistribution):
                self._latest[name] = distribution
                self._n_changes[name] = self._n_changes.get(name, 0) + 1
            self._n_trials[name] = self._n_trials.get(name, 0) + 1
        if self._is_news(row):
            self._learn()

    def axis(self, name: str, default: Axis = None) -> Axis:
        """The range of a parameter; `None` if it keeps changing, and `default` if the parameter is unknown."""
        return None if self._n_changes.get(name, 0) > MAX_CHANGES else self._latest.get(name, default)

    def axes(self) -> dict[str, Axis]:
        """The parameters that are searched together."""
        return {name: self.axis(name) for name in self.whens if not self._latest[name].single()}

    def _is_news(self, row: Row) -> bool:
        """Whether the trial contradicts what's known."""
        for name in row.distributions:
            if name not in self.whens and self._is_common(name):
                return True
        for name, when in self.whens.items():
            is_there = name in row.distributions
            if name in self._always:
                if row.is_complete and not is_there:
                    return True
            elif when:
                is_active = all(row.values.get(other) == value for other, value in when.items())
                if is_there != is_active and (is_there or row.is_complete):
                    return True
        return False

    def _is_common(self, name: str) -> bool:
        n, n_all = self._n_trials[name], len(self._rows)
        return len(self.whens) < MAX_NAMES or n == n_all or n >= max(2, RARE * n_all)

    def _learn(self) -> None:
        names = [name for name in self._n_trials if name in self.whens or self._is_common(name)]
        names.sort(key=lambda name: (-self._n_trials[name], name))  # conditional parameters are in fewer trials
        self._always = {name for name in names if all(name in row.distributions for row in self._rows if row.is_complete)}
        self.whens = {name: {} if name in self._always else self._when(name, names) for name in names}

    def _when(self, name: str, names: list[str]) -> dict[str, float]:
        """The condition of a parameter: values shared by all trials that asked for it, and by no other complete trial."""
        those = [row.values for row in self._rows if name in row.distributions]
        others = [row.values for row in self._rows if row.is_complete and name not in row.distributions]
        shared = {
            other: value
            for other, value in those[0].items()
            if other in names and self._n_trials[other] > self._n_trials[name] and is_discrete(self.axis(other))
            if all(values.get(other) == value for values in those)
        }
        for other in list(shared):  # prefer the latest calls
            without = {key: value for key, value in shared.items() if key != other}
            if without and _tells_apart(without, others):
                shared = without
        return shared if _tells_apart(shared, others) else {}


def _tells_apart(when: dict[str, float], others: list[dict[str, float]]) -> bool:
    """Whether none of the others has all these values."""
    return not any(all(values.get(name) == value for name, value in when.items()) for values in others)
