"""A searcher for Ray Tune, over a study.

Given: Tune's calls. Gives: configurations. The study holds everything that was suggested and told, so a restored searcher
suggests what the saved one would have. What Tune reports as the end of a trial may be a stop by a scheduler: `_ray_curves`
decides which.
"""

from __future__ import annotations

import logging
import math
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from . import _arguments
from ._errors import ReturnTypeError, StudyError
from ._objective import Failure, measured
from ._outcomes import Maximize, Minimize, Wanted, written
from ._packages import missing
from ._policy import GoUcb
from ._space import Space
from ._study import Study

try:
    from ray import cloudpickle
    from ray.tune.result import DEFAULT_METRIC
    from ray.tune.search import Searcher
except ImportError as _missing:
    raise missing("optimist.ray.OptimistSearch", "Ray Tune", "optimist[ray]") from _missing

from ._ray_curves import Curves, Told
from ._ray_space import Layout, is_nested, parameters_of

logger = logging.getLogger("optimist")

#: The plan if neither Tune nor the user says how many trials there will be.
PLANNED = 50

Metric = str | Sequence[str] | None


class OptimistSearch(Searcher):  # type: ignore[misc]
    """GO-UCB, or any other optimizer of Optimist, as a searcher for Ray Tune.

    The space comes from `param_space`, with Tune's domains or ours, or from `space`; the number of planned trials comes from
    `num_samples`.

    Args:
        space: The parameters, if `param_space` has none: written as they would be there, or any space that
            `optimist.Study` takes.
        metric: The name of the reported value, as in `TuneConfig`. Needed here if `param_space` is empty, since Tune doesn't pass
            it on then. A list of names optimizes several metrics: `study.front` has the trade-offs.
        mode: `"min"` or `"max"`, or a list with one for each metric.
        outcomes: Metrics with goals and constraints, in place of `metric` and `mode`:
            `{"error": "minimize", "memory_gb": op.AtMost(8)}`.
        points_to_evaluate: Configurations to try first.
        evaluated_rewards: The values of those configurations, if you know them: the searcher learns from them and doesn't
            run them again. With several metrics, each is a dictionary, or numbers in the order of the metrics.
        trials: How many trials are planned, if Tune doesn't say so.
        seed: The same seed and the same reports give the same suggestions.
        optimizer: See `optimist.Study`.
        constraints: Linear constraints between parameters, such as `"a + 2*b <= 1"`.
        time_attr: The reported value that says how far a trial has come. A trial that was stopped early counts as unfinished: see
            `docs/guides/ray.md`. With `None`, every trial counts with its last value.
        storage: Where to keep the study, so that others can watch it; by default, it's in memory and in Tune's checkpoints.
        study_name: Its name in that storage.
    """

    def __init__(
        self,
        space: Any = None,
        metric: Metric = None,
        mode: Metric = None,
        *,
        outcomes: Mapping[str, Wanted] | None = None,
        points_to_evaluate: Sequence[Mapping[str, Any]] | None = None,
        evaluated_rewards: Sequence[Any] | None = None,
        trials: int | None = None,
        seed: int = 0,
        optimizer: str | Mapping[str, Any] | GoUcb = "go-ucb",
        constraints: str | Sequence[str] = (),
        time_attr: str | None = "training_iteration",
        storage: str | None = None,
        study_name: str = "ray-tune",
    ) -> None:
        if outcomes is not None and (metric is not None or mode is not None):
            raise StudyError("give outcomes, or metric and mode, not both")
        #: Goals and constraints by name, if there are several metrics.
        self._outcomes = _several(metric, mode) if outcomes is None else dict(outcomes)
        written(self._outcomes or {})  # what is wrong with them is said here, not in the first trial
        metric, mode = (list(one) if isinstance(one, (list, tuple)) else one for one in (metric, mode))
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

    @property
    def study(self) -> Study:
        """The study that the searcher keeps: `search.study.front`, `search.study.plot()`, `search.study.verify()`."""
        return self._ready()

    # What Tune says before it begins.

    def set_search_properties(self, metric: str | None, mode: str | None, config: dict[str, Any], **spec: Any) -> bool:
        """Takes the metric, the number of trials and, unless it has one, the space from Tune; returns whether it took the space.

        Several metrics stay as they were given to the searcher: Tune's own metric is for its scheduler.
        """
        several = _several(metric, mode)
        if self._outcomes is None:
            self._outcomes = several
            self._metric, self._mode = metric or self._metric, mode or self._mode
        if self._planned is None and isinstance(spec.get("num_samples"), int) and spec["num_samples"] > 0:
            self._planned = spec["num_samples"]
        if self._space is not None:
            return False
        self._search(config)
        return True

    def set_max_concurrency(self, max_concurrent: int) -> bool:
        """Returns `False`: `ConcurrencyLimiter` limits how many trials run, with `batch=True` too."""
        return False

    def _search(self, config: Any, *, is_nested: bool = True) -> None:
        """Takes the space of a configuration, if it has one."""
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
        """The study, created when it's first needed."""
        if self._study is not None:
            return self._study
        if self._space is None:
            raise StudyError(
                "there is nothing to search: give domains in tune.Tuner(…, param_space={…}), such as tune.uniform(0, 1), or a "
                "space in OptimistSearch({…})"
            )
        if self._mode is None and self._outcomes is None:
            raise StudyError(
                'the searcher does not know what to optimize: write OptimistSearch(…, metric="loss", mode="min"). Tune passes '
                "on the metric and mode of TuneConfig only if param_space is not empty"
            )
        wanted: dict[str, Any] = {"outcomes": self._outcomes}
        if self._outcomes is None:
            self._metric = self._metric or DEFAULT_METRIC
            wanted = {"direction": "minimize" if self._mode == "min" else "maximize"}
        study = Study(self._name, self._space, trials=self._planned or PLANNED, **wanted, **self._how)
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
        """Returns the configuration of a new trial."""
        study = self._ready()
        if trial_id not in self._numbers:
            self._curves.judge(study)
            self._numbers[trial_id] = study.ask(worker=self._worker).number
        return self._layout.nested(study.get_trial(self._numbers[trial_id]).params)

    def on_trial_result(self, trial_id: str, result: dict[str, Any]) -> None:
        """Notes how far a trial has come."""
        number = self._numbers.get(trial_id)
        if number is None or trial_id in self._ended:
            logger.debug("ignored a report of trial %s, which isn't running here", trial_id)
            return
        told, problem = self._read(result)
        if problem is None:
            self._curves.report(number, result, told)

    def on_trial_complete(self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False) -> None:
        """Learns the result of a trial."""
        number = self._numbers.get(trial_id)
        if number is None or trial_id in self._ended:
            logger.debug("ignored the end of trial %s, which isn't running here", trial_id)
            return
        study = self._ready()
        self._ended.add(trial_id)
        if error:
            self._curves.forget(number)
            study.fail(number, "the trial ended with an error", kind="crashed")
        elif not result:
            if not self._curves.stop(number, study):
                study.cancel(number)  # stopped before its first report
        else:
            told, problem = self._read(result)
            if problem is None:
                self._curves.end(number, result, told, study)
            else:
                self._curves.forget(number)
                study.fail(number, problem, kind="unreadable", values=told if isinstance(told, dict) else None)

    def _read(self, result: Mapping[str, Any]) -> tuple[Told, str | None]:
        """The value that was reported, or that of each metric, and why it's no use, if it isn't."""
        if self._outcomes is None:
            value = _value(result, self._metric)
            return (value, None) if isinstance(value, float) else (math.nan, value)
        read = {name: _value(result, name) for name in self._outcomes}
        told = {name: value for name, value in read.items() if isinstance(value, float)}
        return told, next((value for value in read.values() if isinstance(value, str)), None)

    def _given(self, value: Any) -> Told | None:
        """A value that the user knows: a number, or with several metrics a dictionary or numbers in the order of the metrics."""
        if value is None or self._outcomes is None:
            return None if value is None else float(value)
        values = value if isinstance(value, Mapping) else dict(zip(self._outcomes, value, strict=True))
        return {name: float(one) for name, one in values.items()}

    # Trials made elsewhere.

    def add_evaluated_point(
        self,
        parameters: dict[str, Any],
        value: Any,
        error: bool = False,
        pruned: bool = False,
        intermediate_values: list[Any] | None = None,
    ) -> None:
        """Learns from a trial made elsewhere: from its value, its failure or, if it was `pruned`, from how far it came.

        With several metrics, a value is a dictionary, or numbers in the order of the metrics.
        """
        study = self._ready()
        told, noise_std = self._given(value), None
        if pruned and not error:
            curve = [self._given(one) for one in intermediate_values or ([] if value is None else [value])]
            if not curve or curve[-1] is None:
                return  # nothing is known about it
            told, noise_std = self._curves.expected(len(curve), curve[-1])
        row: dict[str, Any] = {"params": self._layout.flat(parameters)}
        if error or told is None:
            row["state"] = "failed"
        elif isinstance(told, dict):
            noises = {f"noise_std_{name}": std for name, std in (noise_std or {}).items()} if isinstance(noise_std, dict) else {}
            is_whole = all(math.isfinite(told.get(name, math.nan)) for name in self._outcomes or ())
            row |= {"values": told, **noises, **({} if is_whole else {"state": "failed"})}
        else:
            row |= {"value": told, "noise_std": noise_std}
        study.import_trials([row])

    # Checkpoints: Tune saves all the time.

    def save(self, checkpoint_path: str) -> None:
        """Writes the searcher's state to a file."""
        with open(checkpoint_path, "wb") as file:
            cloudpickle.dump(self.__dict__, file)

    def restore(self, checkpoint_path: str) -> None:
        """Takes over a saved state. Trials suggested after it was saved are suggested again."""
        with open(checkpoint_path, "rb") as file:
            self.__dict__.update(cloudpickle.load(file))
        for trial in [] if self._study is None else self._study.trials:
            if trial.state == "running" and trial.worker == self._worker and trial.number not in self._numbers.values():
                self._ready().put_back(trial.number, "suggested after the searcher was saved")


def _several(metric: Any, mode: Any) -> dict[str, Wanted] | None:
    """What is wanted of several metrics; `None` if there is one metric, or none yet."""
    is_list = isinstance(metric, (list, tuple))
    modes = list(mode) if isinstance(mode, (list, tuple)) else [mode]
    for one in modes:
        if one not in ("min", "max") and (is_list or one is not None):
            raise StudyError(f'mode must be "min" or "max", got {one!r}')
    if not is_list:
        if isinstance(mode, (list, tuple)):
            raise StudyError(f"got {len(modes)} modes and the metric {metric!r}; give a list of metrics, with one mode for each")
        return None
    if len(metric) != len(modes) or len(set(metric)) < len(metric):
        raise StudyError(f"got the metrics {list(metric)} and the modes {modes}; give each metric once, with one mode for each")
    return {name: Minimize() if one == "min" else Maximize() for name, one in zip(metric, modes, strict=True)}


def _value(result: Mapping[str, Any], metric: Any) -> float | str:
    """The reported value of a metric, or why there is none."""
    if metric is None or metric not in result:
        return f"the trial has not reported `{metric}`"
    try:
        found = measured(result[metric])
    except ReturnTypeError as error:
        return f"`{metric}`: {error}"
    if isinstance(found, Failure):
        return found.reason
    if isinstance(found.value, dict):
        return f"`{metric}` is several numbers, not one"
    return found.value
