"""The space of an objective that declares its parameters while it runs, as its finished trials show it.

* **Which parameters.** The first 32; after them, those that all trials have asked for, or two and one in fifty: an objective may
  name its parameters anew in each trial, and such are not searched together.
* **Which range.** The latest, since ranges are edited while a study goes on; trials beyond it are left out. If it has changed
  more than eight times, it depends on something: then what counts is where in its range a value lies.
* **When.** A parameter that some trials ask for and others do not waits for values of others that tell these trials apart, if
  there are such. If there are none, it is always there.

A trial that contradicts nothing costs the same however many there are. One that does has the space learnt anew, and each
parameter can do that a few times only: what it waits for becomes less each time.
"""

from __future__ import annotations

from optuna.distributions import BaseDistribution, CategoricalDistribution

from ._axes import Axis, is_discrete
from ._trials import Row

MAX_CHANGES = 8
MAX_NAMES = 32
RARE = 1 / 50


class LearntSpace:
    """Parameters, their ranges, and what they wait for."""

    def __init__(self) -> None:
        self._rows: list[Row] = []
        self._latest: dict[str, BaseDistribution] = {}
        self._n_changes: dict[str, int] = {}
        self._n_trials: dict[str, int] = {}
        #: What each parameter of the space waits for; parameters come after those that they wait for.
        self.whens: dict[str, dict[str, float]] = {}
        #: Asked for by every complete trial since they are known.
        self._always: set[str] = set()

    def add(self, row: Row) -> None:
        """A trial has ended."""
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
        """The range of a parameter: `None` if it changes, and `default` if the parameter is unknown."""
        return None if self._n_changes.get(name, 0) > MAX_CHANGES else self._latest.get(name, default)

    def axes(self) -> dict[str, Axis]:
        """The parameters that are searched together."""
        return {name: self.axis(name) for name in self.whens if not self._latest[name].single()}

    def _is_news(self, row: Row) -> bool:
        """Whether the trial contradicts what is known."""
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
        names.sort(key=lambda name: (-self._n_trials[name], name))  # who is waited for is in more trials than who waits
        self._always = {name for name in names if all(name in row.distributions for row in self._rows if row.is_complete)}
        self.whens = {name: {} if name in self._always else self._when(name, names) for name in names}

    def _when(self, name: str, names: list[str]) -> dict[str, float]:
        """The values of others that all trials share that asked for this one, and no complete trial that did without."""
        those = [row.values for row in self._rows if name in row.distributions]
        others = [row.values for row in self._rows if row.is_complete and name not in row.distributions]
        shared = {
            other: value
            for other, value in those[0].items()
            if other in names and self._n_trials[other] > self._n_trials[name] and is_discrete(self.axis(other))
            if all(values.get(other) == value for values in those)
        }
        for other in list(shared):  # the nearest calls tell most
            without = {key: value for key, value in shared.items() if key != other}
            if without and _tells_apart(without, others):
                shared = without
        return shared if _tells_apart(shared, others) else {}


def _tells_apart(when: dict[str, float], others: list[dict[str, float]]) -> bool:
    """Whether none of the others has all these values."""
    return not any(all(values.get(name) == value for name, value in when.items()) for values in others)
