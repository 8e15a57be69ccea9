"""Studies: ask for trials, tell their values, look at the results."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, overload

from . import _arguments, _native
from ._errors import Failed, Retry, SpaceError, StudyError
from ._outcomes import Maximize, Minimize, Wanted, names_of, read, written
from ._space import Parameter, Space, SpaceLike, native
from ._trial import Best, Expected, Front, FrontPoint, Trial, Verification, instant

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from ._define import Definer
    from ._objective import Measured
    from ._plot import Plot
    from ._policy import GoUcb


class Study:
    """A search space, a direction, and every trial so far.

    A study lives in memory, or in a SQLite file or a PostgreSQL database that the command `optimist` and other processes can use
    at the same time. If the storage already has a study of that name, it's resumed, and wider bounds and new choices are added.

    Args:
        name: Unique in its storage.
        space: Parameters by name; `None` if the objective declares them as it runs.
        direction: `"minimize"` or `"maximize"`, for an objective with one value.
        outcomes: For an objective with several values, what you want of each: goals (`"maximize"`, `op.Minimize(reference=50)`)
            and constraints (`op.AtMost(8)`, `op.AtLeast(0.5)`).
        trials: How many trials you plan. The optimizer explores less towards the end, so it needs to know.
        seed: The same seed gives the same suggestions, bit for bit, in Python, with the command and in Rust.
        storage: A file such as `"optimist.db"`, an address such as `"postgres://user@host/database"`, or `None` for memory.
        optimizer: A name such as `"go-ucb"`, `"go-ucb:paper"` or `"tpe"`, a dictionary of settings, or a `GoUcb`.
        constraints: Linear constraints between parameters, such as `"a + 2*b <= 1"`.
        plan: More keys of a study file: `workers`, `target`, `min_gain`, `max_failures`, `max_attempts`, `max_time`,
            `replicates`, `lease`.

    >>> study = Study("bowl", {"x": (-1.0, 1.0)}, direction="minimize", trials=12)
    >>> for _ in range(12):
    ...     trial = study.ask()
    ...     study.tell(trial, (trial["x"] - 0.3) ** 2)
    >>> abs(study.best.params["x"] - 0.3) < 0.1
    True
    """

    def __init__(
        self,
        name: str,
        space: SpaceLike | None = None,
        *,
        direction: Literal["minimize", "maximize"] | None = None,
        outcomes: Mapping[str, Wanted] | None = None,
        trials: int = 50,
        seed: int = 0,
        storage: str | os.PathLike[str] | None = None,
        optimizer: str | Mapping[str, Any] | GoUcb = "go-ucb",
        constraints: str | Iterable[str] = (),
        **plan: Any,
    ) -> None:
        from ._policy import table_of

        definition: dict[str, Any] = {
            "name": _arguments.text(name, "the name of a study"),
            **_wanted(direction, outcomes),
            "seed": _arguments.seed(seed),
            "optimizer": table_of(optimizer),
            "plan": _arguments.plan({"trials": trials, **plan}),
        }
        place = place_of(storage)
        if space is None:
            from ._define import Definer

            if place is not None:
                raise StudyError(
                    "a study without a space stays in memory while its objective declares the parameters; "
                    "once they are known, store it with op.Study(name, study.space, storage=…). "
                    "To open a stored study, use op.Study.load(name, storage=…)"
                )
            self._begin(None, None, None, Definer(definition))
            return
        space = Space(space, constraints)
        definition["space"] = space.to_dict()
        self._begin(_native.Study.resume_or_create(place, definition), place, space)

    @classmethod
    def load(cls, name: str, *, storage: str | os.PathLike[str], space: SpaceLike | None = None) -> Study:
        """Opens an existing study.

        Pass `space` if its choices are objects, to get those objects back instead of their names.
        """
        place = place_of(storage)
        return cls._of(_native.Study.open(place, name), place, None if space is None else Space(space))

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], *, storage: str | os.PathLike[str] | None = None) -> Study:
        """Opens the study that a study file describes; creates it if it doesn't exist, like `optimist create`."""
        place = place_of(storage)
        return cls._of(_native.Study.from_file(place, os.fspath(path)), place, None)

    @classmethod
    def _of(cls, native: _native.Study, place: str | None, space: Space | None) -> Study:
        study = cls.__new__(cls)
        study._begin(native, place, space or Space.from_dict(native.definition()["space"]))
        return study

    def _begin(
        self, native: _native.Study | None, place: str | None, space: Space | None, definer: Definer | None = None
    ) -> None:
        self._own = native
        self._storage = place
        self._space = space
        self._definer = definer
        self._is_stopping = False

    # The definition.

    @property
    def _engine(self) -> _native.Study:
        native = self._own if self._definer is None else self._definer.native
        if native is None:
            raise StudyError("the study has no parameters yet, because its objective declares them as it runs; call `run` first")
        return native

    @property
    def name(self) -> str:
        """Unique in its storage."""
        return str(self._definition()["name"])

    @property
    def direction(self) -> str:
        """`"minimize"` or `"maximize"`. A study with several outcomes has `outcomes` instead."""
        if self._names() is not None:
            raise StudyError("the study has named outcomes, each with its own direction; see study.outcomes")
        return str(self._definition()["direction"])

    @property
    def outcomes(self) -> dict[str, Wanted]:
        """Goals and constraints by name. In a study with one unnamed outcome, its name is `value`."""
        return read(self._definition())

    @property
    def seed(self) -> int:
        """The seed: a study with the same seed gets the same suggestions."""
        return int(self._definition()["seed"])

    @property
    def space(self) -> Space:
        """The search space. If the objective declares its parameters, it has those declared so far."""
        space = self._space if self._definer is None else self._definer.space
        return Space({}) if space is None else space

    @property
    def storage(self) -> str | None:
        """The storage you passed; `None` for memory."""
        return self._storage

    @property
    def plan(self) -> dict[str, Any]:
        """How many trials are planned and when the study ends, with the keys of a study file."""
        return dict(self._definition()["plan"])

    def _definition(self) -> dict[str, Any]:
        return self._definer.definition if self._definer is not None else self._engine.definition()

    def __repr__(self) -> str:
        where = "memory" if self._storage is None else self._engine.place()
        n = len(self)
        return f"<optimist.Study {self.name!r} in {where}: {n} trial{'s' * (n != 1)}>"

    def __len__(self) -> int:
        if self._definer is not None:
            return len(self._definer)
        return self._engine.counts()[0]

    def __bool__(self) -> bool:
        return True  # even without trials

    # Ask and tell.

    @overload
    def ask(self, k: None = None, *, worker: str | None = None, lease: float | None = None) -> Trial: ...
    @overload
    def ask(self, k: int, *, worker: str | None = None, lease: float | None = None) -> list[Trial]: ...
    def ask(self, k: int | None = None, *, worker: str | None = None, lease: float | None = None) -> Trial | list[Trial]:
        """Returns the next trial, or a list of `k` trials to measure at the same time.

        A trial stays yours until you tell or fail it, however long that takes.

        Args:
            k: How many trials; the model is fitted once for all of them.
            worker: A name for whoever measures them, stored with the trials.
            lease: Seconds after which somebody else may get a trial that hasn't ended; by default, never.
        """
        n = 1 if k is None else _arguments.whole(k, "k")
        if self._definer is not None:
            trials = [self._definer.ask(self) for _ in range(n)]
        else:
            worker = None if worker is None else _arguments.text(worker, "worker")
            lease = None if lease is None else _arguments.positive(lease, "lease", _arguments.LONGEST)
            trials = [self._job(record) for record in self._engine.ask(n, worker, lease)]
        return trials[0] if k is None else trials

    def tell(
        self,
        trial: Trial | int,
        value: float | Mapping[str, float],
        *,
        noise_std: float | Mapping[str, float] | None = None,
        metrics: Mapping[str, Any] | None = None,
        note: str | None = None,
        seconds: float | None = None,
        params: Mapping[str, Any] | None = None,
    ) -> None:
        """Stores the value of a trial.

        If you tell another value for the same trial, it counts as a repeated measurement, and the trial's value is the mean. A
        value may come late: it completes a trial that has failed or was put back.

        Args:
            trial: The trial, or its number.
            value: A finite number. With several outcomes, a dictionary that has them all, such as
                `{"accuracy": 0.93, "latency_ms": 12.1}`.
            noise_std: Standard deviation of the noise in the value, or in each outcome; estimated if you leave it out.
            metrics: More results, by name, stored with the value.
            note: A note, stored with the value.
            seconds: How long the trial took.
            params: The parameters you actually used, where they differ from the ones you were asked to use.
        """
        measured = measured_of(value, noise_std, metrics, note)
        seconds = None if seconds is None else _arguments.finite(seconds, "seconds")
        used = None if params is None else self.space.encode(params)
        if self._definer is not None:
            self._definer.tell(number_of(trial), measured, seconds, used)
        else:
            self._engine.tell(number_of(trial), measured, seconds, used)

    def fail(
        self,
        trial: Trial | int,
        reason: str = "failed",
        *,
        kind: str = "infeasible",
        traceback: str | None = None,
        values: Mapping[str, float] | None = None,
    ) -> None:
        """Marks a trial as failed. The optimizer learns to avoid points that fail.

        Args:
            trial: The trial, or its number.
            reason: Why it failed, in a sentence.
            kind: `"infeasible"`, `"crashed"` or another kind that the log knows.
            traceback: The traceback, stored with the trial.
            values: With several outcomes, those that were measured before it failed.
        """
        from ._objective import known_of, storable

        number = number_of(trial)
        traceback = None if traceback is None else storable(traceback)
        is_news = self._engine_for(trial).fail(number, kind, storable(str(reason)), traceback, None, known_of(values))
        if not is_news and self.get_trial(number).state == "complete":
            raise StudyError(f"trial {number} is already complete; study.amend({number}, failed=True) takes its value back")

    def cancel(self, trial: Trial | int) -> None:
        """Cancels a trial: it won't be measured and doesn't count."""
        self._engine_for(trial).cancel(number_of(trial))

    def amend(
        self,
        trial: Trial | int,
        value: float | Mapping[str, float] | None = None,
        *,
        failed: bool = False,
        cancelled: bool = False,
        params: Mapping[str, Any] | None = None,
        noise_std: float | Mapping[str, float] | None = None,
        metrics: Mapping[str, Any] | None = None,
        note: str | None = None,
        reason: str | None = None,
    ) -> None:
        """Corrects a trial that has ended. The optimizer learns as if you had told it this in the first place.

        The log keeps the old entry: `Trial.amended`.

        Args:
            trial: The trial, or its number.
            value: The correct value; it replaces all values told so far. Noise, metrics, note and other outcomes stay as they are
                unless you pass them.
            failed: The trial has failed; `reason` says why.
            cancelled: The trial was never measured, and won't be.
            params: The parameters you actually used, where they differ from the ones you were asked to use.
            noise_std, metrics, note: As in `tell`.
            reason: Why you correct it.

        >>> study = Study("film", {"x": (0.0, 1.0)}, direction="maximize")
        >>> study.tell(study.ask(), 715)
        >>> study.amend(0, 71.5, reason="typing error")
        >>> study.trials[0].value
        71.5
        """
        if (value is not None) + failed + cancelled > 1:
            raise StudyError("give a value, failed=True or cancelled=True, but only one of them")
        if value is None and not (failed or cancelled or params):
            raise StudyError("say what was wrong: give a value, params, failed=True or cancelled=True")
        reason = None if reason is None else _arguments.text(reason, "reason")
        outcome: Any = None
        if value is not None:
            outcome = measured_of(value, noise_std, metrics, note)
        elif failed:
            outcome = reason or "reported as failed"
        if params and self._definer is not None:
            raise StudyError("parameters declared by the objective cannot be amended; amend the value, or cancel the trial")
        used = None if params is None else self.space.encode(params)
        self._engine_for(trial).amend(number_of(trial), used, reason, outcome, cancelled)

    def retry(self, trials: Trial | int | Iterable[Trial | int] | None = None) -> list[int]:
        """Queues failed or cancelled trials again and returns their numbers.

        They keep their numbers and come before new trials, and the optimizer forgets how they ended.

        Args:
            trials: A trial, a number or several of them; by default, all failed trials.
        """
        if trials is None:
            numbers = [one["trial"] for one in self._records() if one["state"] == "failed"]
        else:
            numbers = [number_of(one) for one in (trials if isinstance(trials, Iterable) else [trials])]
        return self._engine.retry(numbers) if numbers else []

    def put_back(self, trial: Trial | int, reason: str = "put back") -> None:
        """Puts a running trial back in the queue, as if it hadn't been started; the next `ask` returns it."""
        self._engine_for(trial).put_back(number_of(trial), reason)

    def enqueue(self, params: Mapping[str, Any]) -> None:
        """Queues a point of your own: the next `ask` returns it.

        If the objective declares its parameters, you can leave some out; they get random values.
        """
        point = self.space.encode(params)
        self._engine.enqueue(point if self._definer is None else self._definer.completed(point))

    @contextmanager
    def trial(self, number: int | None = None) -> Iterator[Trial]:
        """Asks for a trial to tell in a `with` block.

        If the block raises, the trial has failed. If you press Ctrl-C or leave the block without telling, the trial is put back.

        Args:
            number: A running trial to finish, in place of a new one.

        >>> study = Study("bowl", {"x": (-1.0, 1.0)}, direction="minimize")
        >>> with study.trial() as trial:
        ...     trial.tell(trial["x"] ** 2)
        """
        trial = self.ask() if number is None else self.get_trial(number)
        from ._objective import failure_of

        try:
            yield trial
        except Exception as error:
            if self._is_running(trial):
                why = failure_of(error)
                values = getattr(error, "values", None) if isinstance(error, Failed) else None
                self.fail(trial, why.reason, kind=why.kind, traceback=why.traceback, values=values)
            if not isinstance(error, (Failed, Retry)):
                raise
        except BaseException:
            if self._is_running(trial):
                self.put_back(trial, "interrupted")
            raise
        else:
            if self._is_running(trial):
                self.put_back(trial, "nothing was told")

    def import_trials(self, trials: Any, *, value: str = "value") -> int:
        """Adds trials made elsewhere and returns how many of them were new.

        Each row has the parameters, as `NAME` or `params_NAME`, and the value; `noise_std`, `note` and `metrics_NAME` are
        optional. These are the columns of `to_pandas`. With several outcomes, the values are in `values_NAME`. A row
        without a value, or whose `state` is `failed`, is a failed trial; one that is `running`, `waiting` or `cancelled` is
        left out.

        Args:
            trials: A pandas or polars data frame, or dictionaries.
            value: The column that has the value.
        """
        from ._frame import imported

        space = self.space
        rows = imported(trials, space, value, self._names())
        return self._engine.import_trials([(space.encode(params), outcome) for params, outcome in rows])

    # Results.

    @property
    def trials(self) -> list[Trial]:
        """All trials, in the order they were asked for."""
        return [self._trial(record) for record in self._records()]

    def get_trial(self, number: int) -> Trial:
        """Returns the trial with this number."""
        return self._trial(self._engine.trial(number_of(number)))

    @property
    def best(self) -> Best | None:
        """The recommended point: the one with the best expected value. `None` before the first value.

        With constraints on outcomes, the point is likely to satisfy them: see `Best.feasible`. With several goals, see
        `front` instead.
        """
        return self.recommend()

    @property
    def front(self) -> Front | None:
        """The best trade-offs between several goals. `None` before the first trial that has every outcome.

        >>> study = Study("trade", {"x": (0.0, 1.0)}, outcomes={"speed": "maximize", "cost": "minimize"}, trials=8)
        >>> for trial in study.ask(8): study.tell(trial, {"speed": trial["x"], "cost": trial["x"] ** 2})
        >>> len(study.front.points) > 1 and study.front.knee in study.front.points
        True
        """
        if self._n_goals() < 2:
            raise StudyError("a front needs several goals; use study.best, the study has one")
        found = self._engine.front()
        if found is None:
            return None
        points = [
            FrontPoint(
                self.space.decode(one["params"]), _expected(one["outcomes"]), one.get("feasible"), one["knee"], one["trial"]
            )
            for one in found["points"]
        ]
        return Front(points, found["hypervolume"], found["reference"], self)

    @property
    def best_trial(self) -> Trial | None:
        """The trial with the best observed value, which may be luck if values are noisy. `None` before the first value.

        With constraints on outcomes, the best feasible trial. With several goals, see `front` instead.
        """
        self._check_best()
        found = self._engine.best_observed()
        return None if found is None else self._trial(found)

    def recommend(self) -> Best | None:
        """Returns `best`."""
        self._check_best()
        ranking = self.ranking(1)
        return ranking[0] if ranking else None

    def ranking(self, n: int) -> list[Best]:
        """Returns the best `n` points, starting with the recommended one."""
        space = self.space
        self._check_best()
        return [
            Best(
                space.decode(one["params"]),
                one["value"],
                math.nan if one["expected"] is None else one["expected"],
                one["std"],
                one["trial"],
                self,
                one.get("feasible"),
                _expected(one.get("outcomes", {})),
            )
            for one in self._engine.ranking(_arguments.whole(n, "n"))
        ]

    def predict(self, points: Mapping[str, Any] | Iterable[Mapping[str, Any]], *, outcome: str | None = None) -> Any:
        """Predicts the mean and the standard deviation of the objective, without the noise of measuring.

        Args:
            points: A point, for which it returns a pair, or several points or a data frame, for which it returns a list of pairs.
                A data frame may have other columns, too.
            outcome: Which outcome to predict, if there are several.

        >>> study = Study("line", {"x": (0.0, 1.0)}, direction="minimize")
        >>> for trial in study.ask(8): study.tell(trial, trial["x"])
        >>> mean, std = study.predict({"x": 0.5})
        >>> abs(mean - 0.5) < 0.1
        True
        """
        from ._frame import params_in

        is_one, space = isinstance(points, Mapping), self.space
        several: list[Any] = [points] if is_one else list(rows(points))
        if is_frame(points):
            several = [params_in(row, space) for row in several]
        predicted = self._engine.predict([space.encode(point) for point in several], self._number_of_outcome(outcome))
        if predicted is None:
            raise StudyError("there is no model yet; tell the value of a trial first")
        return predicted[0] if is_one else predicted

    def importance(self, *, outcome: str | None = None) -> dict[str, float]:
        """Returns the share of the model's variance that each parameter explains, interactions included, from 0 to 1.

        Args:
            outcome: Which outcome, if there are several.
        """
        effects = self._engine.importance(self._number_of_outcome(outcome))
        if effects is None:
            raise StudyError("there is no model yet; tell the value of a trial first")
        return {name: total for name, _, total in effects}

    def expected_gain(self) -> float | None:
        """Returns by how much the next trial is expected to improve the best value; `None` if the optimizer can't tell."""
        return self._engine.expected_gain()

    def warnings(self) -> list[str]:
        """Returns problems with how points are suggested, one sentence each. Usually empty."""
        return self._engine.warnings()

    def verify(self) -> Verification:
        """Recomputes every suggestion from the log and checks that it comes out the same, bit for bit."""
        return Verification(*self._engine.verify())

    def show(self) -> dict[str, Any]:
        """Returns the state of the study, as `optimist show --json` prints it."""
        return dict(self._engine.view())

    def to_dicts(self) -> list[dict[str, Any]]:
        """Returns each trial as a flat dictionary: `number`, `state`, `value`, …, `params_NAME`, `metrics_NAME`.

        With several outcomes, it has `values_NAME` and `noise_std_NAME` in place of `value` and `noise_std`, and `feasible`:
        whether the trial satisfies all constraints.
        """
        from ._frame import columns_of

        columns = columns_of(self._records(), self.space, self._names())
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def to_pandas(self) -> Any:
        """Returns a pandas data frame with a row for each trial; the columns are those of `to_dicts`."""
        from ._frame import columns_of
        from ._packages import needed

        pandas = needed("pandas", "to_pandas", "pandas", "optimist[pandas]")
        return pandas.DataFrame(columns_of(self._records(), self.space, self._names()))

    def to_polars(self) -> Any:
        """Returns a polars data frame with a row for each trial; the columns are those of `to_dicts`."""
        from ._frame import columns_of
        from ._packages import needed

        polars = needed("polars", "to_polars", "polars", "optimist[polars]")
        return polars.DataFrame(columns_of(self._records(), self.space, self._names()), strict=False)

    def plot(self, *kinds: str) -> Plot:
        """Returns a plot, which a notebook displays.

        Args:
            kinds: `history`, `front`, `slices`, `parallel`, `importance`, `surrogate`, `contour`, `metrics`, `edf` or `timeline`;
                by default, all that fit the study.
        """
        from ._plot import Plot

        return Plot(self._engine.plot(list(kinds)))

    # Running.

    def run(
        self,
        objective: Callable[..., Any],
        *,
        workers: int | None = None,
        executor: Executor | None = None,
        timeout: float | None = None,
        trials: int | None = None,
        callbacks: Sequence[Callable[[Study, Trial], Any]] = (),
        progress: bool | None = None,
    ) -> Study:
        """Runs trials until the plan is done, and returns the study.

        Ctrl-C ends the run: running trials are put back, and nothing is lost.

        Args:
            objective: A function with an argument for each parameter, or whose first argument is called `trial` and takes the
                trial. It returns a number, or a dictionary with `value` and optionally `noise_std`, `metrics` and `note`; with
                several outcomes, a dictionary that has them all. If it raises, the trial has failed.
            workers: How many trials run at the same time, in threads unless you pass an executor. By default, as many as the
                executor has workers, or the study's `workers`.
            executor: Any executor of `concurrent.futures`.
            timeout: Start no more trials after this many seconds.
            trials: Start at most this many trials; by default, all that are planned.
            callbacks: Functions called with the study and each trial that has ended.
            progress: Whether to show a progress bar; by default, in terminals and notebooks.
        """
        from ._run import run

        run(self, objective, workers, executor, timeout, trials, callbacks, progress)
        return self

    async def arun(
        self,
        objective: Callable[..., Any],
        *,
        workers: int | None = None,
        timeout: float | None = None,
        trials: int | None = None,
        callbacks: Sequence[Callable[[Study, Trial], Any]] = (),
        progress: bool | None = None,
    ) -> Study:
        """Like `run`, for an `async def`: runs `workers` trials at the same time in this event loop."""
        from ._arun import arun

        await arun(self, objective, workers, timeout, trials, callbacks, progress)
        return self

    def aasks(self, *, limit: int = 1) -> AsyncIterator[Trial]:
        """Yields trials until the plan is done, with at most `limit` of them pending at a time.

        Tell or fail each of them, with `atell` or `afail`. Trials still pending when you leave the loop are put back.
        """
        from ._arun import aasks

        return aasks(self, limit)

    async def aask(self) -> Trial:
        """Like `ask`, without blocking the event loop."""
        from ._arun import aask

        return await aask(self)

    async def atell(self, trial: Trial | int, value: float | Mapping[str, float], **more: Any) -> None:
        """Like `tell`, without blocking the event loop."""
        import asyncio

        await asyncio.to_thread(self.tell, trial, value, **more)

    async def afail(self, trial: Trial | int, reason: str = "failed") -> None:
        """Like `fail`, without blocking the event loop."""
        import asyncio

        await asyncio.to_thread(self.fail, trial, reason)

    def stop(self) -> None:
        """Ends the current run once the running trials have ended. Call it in a callback."""
        self._is_stopping = True

    def delete(self) -> None:
        """Deletes the study with all its trials."""
        self._engine.delete()

    # Copies: another handle to a stored study, an independent copy of one in memory.

    def __getstate__(self) -> dict[str, Any]:
        state = {"storage": self._storage, "space": self._space, "definer": self._definer}
        if self._storage is not None:
            return {**state, "name": self.name}
        return {**state, "records": None if self._own is None else self._own.export()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        native: _native.Study | None
        if "name" in state:
            native = _native.Study.open(state["storage"], state["name"])
        else:
            native = None if state["records"] is None else _native.Study.restore(state["records"])
        self._begin(native, state["storage"], state["space"], state["definer"])

    # For the rest of the package.

    def _engine_for(self, trial: Trial | int) -> _native.Study:
        if self._definer is not None:
            self._definer.settle(number_of(trial))
        return self._engine

    def _is_running(self, trial: Trial) -> bool:
        """Whether a trial is running and can be stored; one that has declared no parameters can't."""
        if self._definer is not None and not self._definer.parameters:
            return False
        return bool(self._engine_for(trial).trial(trial.number)["state"] == "running")

    def _names(self) -> tuple[str, ...] | None:
        return names_of(self._definition())

    def _n_goals(self) -> int:
        return sum(isinstance(one, (Minimize, Maximize)) for one in self.outcomes.values())

    def _check_best(self) -> None:
        if self._n_goals() > 1:
            raise StudyError("the study has several goals, so no single point is best; study.front has the trade-offs")

    def _has_values(self) -> bool:
        return self._engine.has_values()

    def _number_of_outcome(self, outcome: str | None) -> int:
        names = list(self.outcomes)
        if outcome is None and len(names) == 1:
            return 0
        if outcome not in names:
            wrong = "say which outcome you mean" if outcome is None else f"there is no outcome {outcome!r}"
            raise StudyError(f"{wrong}; the study has {', '.join(names)}")
        return names.index(outcome)

    def _report(self, number: int, measured: Measured, seconds: float | None) -> None:
        """Stores what an objective returned; if it can't be told, the trial has failed."""
        if self._definer is not None:
            self._definer.tell(number, measured, seconds, None, may_fail=True)
        else:
            self._engine.report(number, measured, seconds)

    def _define(self, trial: Trial, name: str, parameter: Parameter) -> Any:
        if self._definer is not None:
            return self._definer.value(trial, name, parameter)
        known = self.space.parameters.get(name)
        if known is None:
            raise SpaceError(f"parameter `{name}` is not in the space of study `{self.name}`; declare it there")
        if name not in trial.params:
            raise SpaceError(f"parameter `{name}` is active only when {dict(known.when or {})}; ask for it only then")
        from ._define import option, same_as

        same_as(name, replace(known, when=None), parameter, f"study `{self.name}` has parameter `{name}` as")
        return option(name, known, parameter, trial.params[name])

    def _records(self) -> list[dict[str, Any]]:
        if self._definer is not None and self._definer.native is None:
            return []
        return self._engine.trials()

    def _job(self, record: dict[str, Any]) -> Trial:
        params = self.space.decode(record["params"])
        return Trial(record["trial"], params, source=record["source"], why=record["why"], study=self)

    def _trial(self, record: Mapping[str, Any]) -> Trial:
        return Trial(
            number=record["trial"],
            params=self.space.decode(record["params"]),
            state=record["state"],
            source=record["source"],
            why=record.get("why"),
            value=record.get("value"),
            noise_std=record.get("noise_std"),
            metrics=record.get("metrics", {}),
            note=record.get("note"),
            failure=record.get("failure"),
            reason=record.get("reason"),
            stderr=record.get("stderr"),
            attempts=record.get("attempts", 1),
            seconds=record.get("seconds"),
            worker=record.get("worker"),
            amended=record.get("amended", []),
            asked_at=instant(record["asked_at"]),
            ended_at=instant(record["ended_at"]),
            study=self,
            values=values if isinstance(values := record.get("values", {}), dict) else {},
            feasible=record.get("feasible"),
        )


def studies(storage: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Returns a summary of each study in a storage, as `optimist list --json` prints them."""
    return list(_native.studies(os.fspath(storage)))


def place_of(storage: str | os.PathLike[str] | None) -> str | None:
    """The storage as the extension takes it; `None` for memory."""
    if storage is None:
        return None
    place = os.fspath(storage)
    return None if place == "memory" else place


def number_of(trial: Trial | int) -> int:
    """The number of a trial, given as a trial or as a number."""
    number = trial.number if isinstance(trial, Trial) else trial
    number = native(number)
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= sys.maxsize:
        raise TypeError(f"expected a trial or its number, got {trial!r}")
    return number


def _wanted(direction: str | None, outcomes: Mapping[str, Wanted] | None) -> dict[str, Any]:
    """The direction or the outcomes, as a definition has them."""
    if outcomes is None:
        return {"direction": _arguments.direction(direction)}
    if direction is not None:
        raise StudyError(
            "give a direction or outcomes, not both: each outcome has its own direction. op.minimize and op.maximize are for "
            "one value; for several, use op.Study(name, space, outcomes=…).run(objective)"
        )
    return {"outcomes": written(outcomes)}


def _expected(outcomes: Mapping[str, Mapping[str, Any]]) -> dict[str, Expected]:
    return {name: Expected(one["value"], one["expected"], one["std"]) for name, one in outcomes.items()}


def measured_of(
    value: float | Mapping[str, float],
    noise_std: float | Mapping[str, float] | None,
    metrics: Mapping[str, Any] | None,
    note: str | None,
) -> Measured:
    """What was measured, checked."""
    from ._objective import Measured, check_noise, float_of, metrics_of, noise_of, numbers_of

    if isinstance(value, Mapping):
        told: float | dict[str, float] = numbers_of(value, "tell a number for each outcome, or call `fail`")
    else:
        told = float_of(value, "the value", "tell one number, or call `fail`")
    noise = noise_of(noise_std, None if isinstance(value, Mapping) else "give one number, 0 or more")
    check_noise(told, noise)
    return Measured(told, noise, None if note is None else _arguments.text(note, "note"), metrics_of(metrics))


def is_frame(points: Any) -> bool:
    """Whether these are rows of a pandas or polars data frame, in which empty cells are `None` or NaN."""
    return hasattr(points, "to_dicts") or hasattr(points, "to_dict")


def rows(points: Any) -> Iterable[Mapping[str, Any]]:
    """The rows of a data frame, or of a list of dictionaries."""
    if hasattr(points, "to_dicts"):
        return points.to_dicts()  # type: ignore[no-any-return]
    if hasattr(points, "to_dict"):
        return points.to_dict("records")  # type: ignore[no-any-return]
    if not isinstance(points, Iterable) or isinstance(points, (str, bytes)):
        raise TypeError(f"expected dictionaries or a data frame, got {type(points).__name__}")
    return points
