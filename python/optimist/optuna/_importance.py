"""Parameter importances from Optimist's model of the objective."""

from __future__ import annotations

import math
from abc import ABCMeta
from collections.abc import Callable
from functools import partial

from optuna.importance import BaseImportanceEvaluator
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from .. import _native
from ._layout import Layout
from ._learnt import LearntSpace
from ._trials import row_of


class OptimistImportanceEvaluator(BaseImportanceEvaluator, metaclass=ABCMeta):  # type: ignore[misc]  # Optuna is optional
    """Computes parameter importances: the share of the variance of the model's mean that would remain if all others were known.

    These are total Sobol' indices over the whole space, from 0 to 1. If parameters interact, they add up to more than 1.
    Conditional parameters have importances, too. With several objectives and no `target`, it's the mean over the objectives.

    >>> import optuna
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    >>> study.optimize(lambda trial: 3 * trial.suggest_float("a", 0, 1) + trial.suggest_float("b", 0, 1), n_trials=20)
    >>> found = optuna.importance.get_param_importances(study, evaluator=OptimistImportanceEvaluator())
    >>> 0.85 < found["a"] < 0.95
    True
    """

    def evaluate(
        self, study: Study, params: list[str] | None = None, *, target: Callable[[FrozenTrial], float] | None = None
    ) -> dict[str, float]:
        """Returns importances by name, the largest first. By default, it has all parameters of the study."""
        trials = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        known = {name for trial in trials for name in trial.distributions}
        for name in params or ():
            if name not in known:
                raise ValueError(
                    f"no complete trial has the parameter `{name}`; the study has {', '.join(sorted(known)) or 'no parameters'}"
                )
        names = sorted(known) if params is None else params
        targets = [target] if target else [partial(_value, goal) for goal in range(len(study.directions))]
        shares = [_shares(trials, one) for one in targets]
        means = {name: sum(share.get(name, 0.0) for share in shares) / len(shares) for name in names}
        return dict(sorted(means.items(), key=lambda item: -item[1]))


def _value(goal: int, trial: FrozenTrial) -> float:
    return float(trial.values[goal])


def _shares(trials: list[FrozenTrial], target: Callable[[FrozenTrial], float]) -> dict[str, float]:
    """The importances of the parameters that vary in these trials, for one target."""
    space = LearntSpace()
    rows, values = [row_of(trial) for trial in trials], [target(trial) for trial in trials]
    for row in rows:
        space.add(row)
    axes = space.axes()
    if not axes:
        return {}
    layout = Layout(axes, space.whens)
    model = _native.Optimizer(layout.space.to_dict(), {"name": "go-ucb"}, len(rows), 0, None)
    for row, value in zip(rows, map(float, values), strict=True):
        point = layout.point(row)
        if point is not None and math.isfinite(value):
            model.tell(model.encode(point), value, None)
    return {name: total for name, (_, total) in zip(axes, model.importance() or (), strict=False)}
