"""A searcher for Ray Tune, over a study.

Given: Tune's calls. Gives: configurations. The study has everything that was suggested and told, so that a searcher that is
restored suggests what the one that was saved would have. What Tune reports as the end of a trial may be a stop by a scheduler:
`_ray_curves` judges that.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from . import _arguments
from ._errors import ReturnTypeError, StudyError
from ._objective import Failure, measured
from ._policy import GoUcb
from ._space import Space
from ._study import Study

try:
    from ray import cloudpickle
    from ray.tune.result import DEFAULT_METRIC
    from ray.tune.search import Searcher
except ImportError as _missing:
    raise ImportError('optimist.ray.OptimistSearch needs Ray Tune; install it with: pip install "optimist[ray]"') from _missing

from ._ray_curves import Curves
from ._ray_space import Layout, is_nested, parameters_of

logger = logging.getLogger("optimist")

#: How many trials are planned if nobody says so.
PLANNED = 50


class OptimistSearch(Searcher):  # type: ignore[misc]
    """GO-UCB, or any other optimizer of Optimist, as a searcher for Ray Tune.

    What to search comes from `param_space`, with the domains of Tune or ours, or from `space`; how many trials are planned from
    `num_samples`.

    Args:
        space: Parameters, if `param_space` has none: written as there, or anything that :class:`optimist.Study` takes.
        metric: What is reported; as in `TuneConfig`. Needed here if `param_space` is empty, since Tune then doesn't pass it on.
        mode: `"min"` or `"max"`; likewise.
        points_to_evaluate: Configurations to try first.
        evaluated_rewards: What these gave, if they were tried already; they are then learnt from and not tried again.
        trials: How many are planned, if Tune doesn't say so.
        seed: Same seed and same reports, same suggestions.
        optimizer: As of :class:`optimist.Study`.
        constraints: Linear constraints between parameters, such as `"a + 2*b <= 1"`.
        time_attr: What says how far a trial has come. A trial that was stopped before others' end is learnt as unfinished: see
            `docs/guides/ray.md`. `None` takes every trial at its last value.
        storage: Where to keep the study, for everybody to look at; by default, in memory and in Tune's checkpoints.
        study_name: Its name there.
    """

    def __init__(
        self,
        space: Any = None,
        metric: str | None = None,
        mode: str | None = None,
        *,
        points_to_evaluate: Sequence[Mapping[str, Any]] | None = None,
        evaluated_rewards: Sequence[float] | None = None,
        trials: int | None = None,
        seed: int = 0,
        optimizer: str | Mapping[str, Any] | GoUcb = "go-ucb",
        constraints: str | Sequence[str] = (),
        time_attr: str | None = "training_iteration",
        storage: str | None = None,
        study_name: str = "ray-tune",
    ) -> None:
        _check_one(metric, mode)
        super().__init__(metric=metric, mode=mode)
        self._metric, self._mode = metric, mode
        self._planned = None if trials is None else _arguments.whole(trials, "trials")
        self._how: dict[str, Any] = {"seed": _arguments.seed(seed), "optimizer": optimizer, "storage": storage}
        self._constraints, self._name = constraints, study_name
        self._points = [dict(point) for point in points_to_evaluate or ()]
        self._rewards = None if evaluated_rewards is None else list(evaluated_rewards)
        if self._rewards is not None and len(self._rewards) != len(self._points):
            raise StudyError(
                f"got {len(self._points)} points_to_evaluate and {len(self._rewards)} evaluated_rewards; give one for each"
            )
        self._space: Space | None = None
        self._layout = Layout({})
        if space is not None:
            self._search(space, is_nested=is_nested(space))
        self._study: Study | None = None
        #: Tells our trials in a shared storage from those of others.
        self._worker = f"ray-tune-{uuid.uuid4().hex[:12]}"
        self._numbers: dict[str, int] = {}
        self._ended: set[str] = set()
        self._curves = Curves(time_attr)

    # What Tune says before it begins.

    def set_search_properties(self, metric: str | None, mode: str | None, config: dict[str, Any], **spec: Any) -> bool:
        """Takes over the metric, the number of trials and, unless there is one, the space; whether it did the last."""
        _check_one(metric, mode)
        self._metric, self._mode = metric or self._metric, mode or self._mode
        if self._planned is None and isinstance(spec.get("num_samples"), int) and spec["num_samples"] > 0:
            self._planned = spec["num_samples"]
        if self._space is not None:
            return False
        self._search(config)
        return True

    def set_max_concurrency(self, max_concurrent: int) -> bool:
        """`ConcurrencyLimiter` limits how many trials run, also with `batch=True`: nothing is left to do here."""
        return False

    def _search(self, config: Any, *, is_nested: bool = True) -> None:
        """Takes over the space of a configuration, if it has one."""
        if is_nested:
            parameters, layout = parameters_of(config)
        else:
            parameters = dict(Space(config).parameters)
            layout = Layout({name: (name,) for name in parameters})
        if parameters:
            inherited = config.constraints if isinstance(config, Space) else ()
            constraints = [self._constraints] if isinstance(self._constraints, str) else self._constraints
            self._space, self._layout = Space(parameters, [*inherited, *constraints]), layout

    def _ready(self) -> Study:
        """The study, which is begun when it is first needed."""
        if self._study is not None:
            return self._study
        if self._space is None:
            raise StudyError(
                "there is nothing to search: give domains in tune.Tuner(…, param_space={…}), such as tune.uniform(0, 1), or a "
                "space in OptimistSearch({…})"
            )
        if self._mode is None:
            raise StudyError(
                'the searcher does not know what to optimise: write OptimistSearch(…, metric="loss", mode="min"). Tune passes '
                "on those of TuneConfig only if param_space is not empty"
            )
        self._metric = self._metric or DEFAULT_METRIC
        direction: Any = "minimize" if self._mode == "min" else "maximize"
        study = Study(self._name, self._space, direction=direction, trials=self._planned or PLANNED, **self._how)
        self._study = study
        points, self._points = self._points, []
        for i, point in enumerate(points):
            if self._rewards is not None:
                self.add_evaluated_point(point, self._rewards[i])
            else:
                study.enqueue(self._layout.flat(point))
        return study

    # The trials of Tune.

    def suggest(self, trial_id: str) -> dict[str, Any] | None:
        """The configuration of a new trial."""
        study = self._ready()
        if trial_id not in self._numbers:
            self._curves.judge(study)
            self._numbers[trial_id] = study.ask(worker=self._worker).number
        return self._layout.nested(study.get_trial(self._numbers[trial_id]).params)

    def on_trial_result(self, trial_id: str, result: dict[str, Any]) -> None:
        """Notes how far a trial has come."""
        number = self._numbers.get(trial_id)
        if number is None or trial_id in self._ended:
            logger.debug("a report of trial %s, which is not running here", trial_id)
            return
        self._curves.report(number, result, self._value(result))

    def on_trial_complete(self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False) -> None:
        """Learns what became of a trial."""
        number = self._numbers.get(trial_id)
        if number is None or trial_id in self._ended:
            logger.debug("the end of trial %s, which is not running here", trial_id)
            return
        study = self._ready()
        self._ended.add(trial_id)
        if error:
            self._curves.forget(number)
            study.fail(number, "the trial ended with an error", kind="crashed")
        elif not result:
            if not self._curves.stop(number, study):
                study.cancel(number)  # it was stopped before it had reported anything
        else:
            value = self._value(result)
            if isinstance(value, float):
                self._curves.end(number, result, value, study)
            else:
                self._curves.forget(number)
                study.fail(number, value, kind="unreadable")

    def _value(self, result: Mapping[str, Any]) -> float | str:
        """The value that was reported, or why there is none."""
        if self._metric is None or self._metric not in result:
            return f"the trial has not reported `{self._metric}`"
        try:
            found = measured(result[self._metric])
        except ReturnTypeError as error:
            return f"`{self._metric}`: {error}"
        if isinstance(found, Failure):
            return found.reason
        if isinstance(found.value, dict):
            return f"`{self._metric}` is several numbers, not one"
        return found.value

    # What was tried elsewhere.

    def add_evaluated_point(
        self,
        parameters: dict[str, Any],
        value: float,
        error: bool = False,
        pruned: bool = False,
        intermediate_values: list[float] | None = None,
    ) -> None:
        """Learns from a trial that was made elsewhere: a value, a failure, or, if it was `pruned`, how far it came."""
        study = self._ready()
        point = self._layout.flat(parameters)
        noise_std = None
        if pruned and not error:
            curve = [float(one) for one in intermediate_values or ([] if value is None else [value])]
            if not curve:
                return  # nothing is known of it
            value, noise_std = self._curves.expected(len(curve), curve[-1])
        outcome = {"state": "failed"} if error or value is None else {"value": float(value), "noise_std": noise_std}
        study.import_trials([{**outcome, "params": point}])

    # Copies, and what was saved: Tune calls these all the time.

    def save(self, checkpoint_path: str) -> None:
        """Writes all that is known to a file."""
        with open(checkpoint_path, "wb") as file:
            cloudpickle.dump(self.__dict__, file)

    def restore(self, checkpoint_path: str) -> None:
        """Becomes what was saved. Trials that were suggested afterwards are suggested again."""
        with open(checkpoint_path, "rb") as file:
            self.__dict__.update(cloudpickle.load(file))
        for trial in [] if self._study is None else self._study.trials:
            if trial.state == "running" and trial.worker == self._worker and trial.number not in self._numbers.values():
                self._ready().put_back(trial.number, "suggested after the searcher was saved")


def _check_one(metric: Any, mode: Any) -> None:
    """Whether this is one metric, and a mode there is."""
    if isinstance(metric, (list, tuple)) or isinstance(mode, (list, tuple)):
        raise StudyError(
            f"the searcher optimises one metric, got {metric!r} and {mode!r}; report a weighted sum of several as one"
        )
    if mode not in (None, "min", "max"):
        raise StudyError(f'mode must be "min" or "max", got {mode!r}')
