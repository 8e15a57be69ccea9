"""Studies: ask, tell, look."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
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
    """A study: a space, a direction, and every trial so far.

    In memory, or in a SQLite file or a PostgreSQL database that the command `optimist` and other processes may use at the same
    time. A study that is already there is resumed; wider bounds and further choices are taken over.

    Args:
        name: Unique in its storage.
        space: Parameters by name; `None` if the objective declares them as it runs.
        direction: `"minimize"` or `"maximize"`, if one value is measured.
        outcomes: What is measured instead, by name: goals (`"maximize"`, `op.Minimize(reference=50)`) and constraints
            (`op.AtMost(8)`, `op.AtLeast(0.5)`).
        trials: How many are planned. The optimizer wants to know: it explores less towards the end.
        seed: Same seed, same suggestions, bit for bit, as with the command and in Rust.
        storage: A file such as `"optimist.db"`, `"postgres://user@host/database"`, or `None` for memory.
        optimizer: A name such as `"go-ucb"`, `"go-ucb:paper"` or `"tpe"`, a table of settings, or :class:`GoUcb`.
        constraints: Linear constraints between parameters, such as `"a + 2*b <= 1"`.
        plan: Further keys of a study file: `workers`, `target`, `min_gain`, `max_failures`, `max_attempts`, `max_time`,
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
                    "a study without a space stays in memory, and its objective declares the parameters; "
                    "once they are known, store it with op.Study(name, study.space, storage=…). "
                    "To open a study that is stored, use op.Study.load(name, storage=…)"
                )
            self._begin(None, None, None, Definer(definition))
            return
        space = Space(space, constraints)
        definition["space"] = space.to_dict()
        self._begin(_native.Study.resume_or_create(place, definition), place, space)

    @classmethod
    def load(cls, name: str, *, storage: str | os.PathLike[str], space: SpaceLike | None = None) -> Study:
        """Opens an existing study.

        `space` is needed only to have choices back as the objects they stand for.
        """
        place = place_of(storage)
        return cls._of(_native.Study.open(place, name), place, None if space is None else Space(space))

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], *, storage: str | os.PathLike[str] | None = None) -> Study:
        """Opens the study that a study file describes, or creates it, as `optimist create` does."""
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

    # What it is about.

    @property
    def _engine(self) -> _native.Study:
        native = self._own if self._definer is None else self._definer.native
        if native is None:
            raise StudyError("the study has no parameters yet: its objective declares them as it runs; call `run` first")
        return native

    @property
    def name(self) -> str:
        """Unique in its storage."""
        return str(self._definition()["name"])

    @property
    def direction(self) -> str:
        """`minimize` or `maximize`; a study of several outcomes has :attr:`outcomes` instead."""
        if self._names() is not None:
            raise StudyError("the study has named outcomes, each with a direction of its own: study.outcomes")
        return str(self._definition()["direction"])

    @property
    def outcomes(self) -> dict[str, Wanted]:
        """What is measured and what is wanted of it; the one outcome of most studies is called `value`."""
        return read(self._definition())

    @property
    def seed(self) -> int:
        """Same seed, same suggestions."""
        return int(self._definition()["seed"])

    @property
    def space(self) -> Space:
        """The search space. If the objective declares its parameters, those known so far."""
        space = self._space if self._definer is None else self._definer.space
        return Space({}) if space is None else space

    @property
    def storage(self) -> str | None:
        """Where it is stored, as you gave it; `None` is memory."""
        return self._storage

    @property
    def plan(self) -> dict[str, Any]:
        """How many trials are planned, and when the study is over."""
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
        return True  # a study without trials is still a study

    # Ask and tell.

    @overload
    def ask(self, k: None = None, *, worker: str | None = None, lease: float | None = None) -> Trial: ...
    @overload
    def ask(self, k: int, *, worker: str | None = None, lease: float | None = None) -> list[Trial]: ...
    def ask(self, k: int | None = None, *, worker: str | None = None, lease: float | None = None) -> Trial | list[Trial]:
        """Returns the next trial, or `k` trials to measure at the same time.

        They are yours until you tell or fail them, however long that takes; with `lease`, for that many seconds. For `k` trials
        the model is fitted once.
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
        """Stores the value of a trial. It must be finite; in `run`, NaN and infinities are failed trials.

        Of several outcomes, `value` is a dictionary with all of them, such as `{"accuracy": 0.93, "latency_ms": 12.1}`.

        Another value for the same trial is a further measurement: the trial then has the mean. A value may come late: it also
        completes a trial that failed or was put back.

        Args:
            noise_std: Standard deviation of the value's noise, or of each outcome's; inferred if you leave it out.
            metrics, note: Kept with the value.
            seconds: How long it took.
            params: Values that were really used, where they differ from those that were asked for.
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
        """Marks a trial as failed. The optimizer learns from that, too, and from `values`, the outcomes measured all the same."""
        from ._objective import known_of

        number = number_of(trial)
        is_news = self._engine_for(trial).fail(number, kind, str(reason), traceback, None, known_of(values))
        if not is_news and self.get_trial(number).state == "complete":
            raise StudyError(f"trial {number} is complete already; study.amend({number}, failed=True) takes its value back")

    def cancel(self, trial: Trial | int) -> None:
        """Gives up a trial: it will not be measured, and does not count."""
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
        """Corrects a trial that has ended; the optimizer learns as if this had been told in the first place.

        The log keeps what it said before: :attr:`Trial.amended`.

        Args:
            value: What was really measured, in place of all values told so far. Noise, metrics, note and further outcomes stay
                unless given.
            failed: There is no value at this point; `reason` says why.
            cancelled: Nobody measured it, and nobody will.
            params: Values that were really used, where they differ from those that were asked for.
            reason: Why it is amended.

        >>> study = Study("film", {"x": (0.0, 1.0)}, direction="maximize")
        >>> study.tell(study.ask(), 715)
        >>> study.amend(0, 71.5, reason="a slip of the pen")
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
            raise StudyError("parameters that the objective declares cannot be amended; amend the value, or cancel the trial")
        used = None if params is None else self.space.encode(params)
        self._engine_for(trial).amend(number_of(trial), used, reason, outcome, cancelled)

    def retry(self, trials: Trial | int | Iterable[Trial | int] | None = None) -> list[int]:
        """Puts failed or cancelled trials back in line; all failed ones, if you name none.

        They keep their numbers and come before anything new; the optimizer forgets how they ended. Returns their numbers.
        """
        if trials is None:
            numbers = [one["trial"] for one in self._records() if one["state"] == "failed"]
        else:
            numbers = [number_of(one) for one in ([trials] if isinstance(trials, (Trial, int)) else trials)]
        return self._engine.retry(numbers) if numbers else []

    def put_back(self, trial: Trial | int, reason: str = "put back") -> None:
        """Puts a running trial back in line, as if it had not been started; the next `ask` returns it."""
        self._engine_for(trial).put_back(number_of(trial), reason)

    def enqueue(self, params: Mapping[str, Any]) -> None:
        """Queues a point: the next `ask` returns it."""
        self._engine.enqueue(self.space.encode(params))

    @contextmanager
    def trial(self, number: int | None = None) -> Iterator[Trial]:
        """A trial to tell within the block. An exception marks it as failed; Ctrl-C, or telling nothing, puts it back.

        >>> study = Study("bowl", {"x": (-1.0, 1.0)}, direction="minimize")
        >>> with study.trial() as trial:
        ...     trial.tell(trial["x"] ** 2)
        """
        trial = self.ask() if number is None else self.get_trial(number)
        from ._objective import failure_of

        try:
            yield trial
        except Exception as error:
            why = failure_of(error)
            values = getattr(error, "values", None) if isinstance(error, Failed) else None
            self.fail(trial, why.reason, kind=why.kind, traceback=why.traceback, values=values)
            if not isinstance(error, (Failed, Retry)):
                raise
        except BaseException:
            self.put_back(trial, "interrupted")
            raise
        else:
            if self.get_trial(trial.number).state == "running":
                self.put_back(trial, "nothing was told")

    def import_trials(self, trials: Any, *, value: str = "value") -> int:
        """Adds trials made elsewhere, given as dictionaries or a pandas or polars data frame; returns how many were new.

        A row has its parameters (also as `params_NAME`), the value in the column `value`, and, if they are known, `noise_std`,
        `note` and `metrics_NAME`: the columns of :meth:`to_pandas`. Of several
        outcomes it has `values_NAME`. Without a value, or with `failed` as its `state`, it is a
        failed trial.
        """
        from ._frame import imported

        space = self.space
        rows = imported(trials, list(space.parameters), value, self._names())
        return self._engine.import_trials([(space.encode(params), outcome) for params, outcome in rows])

    # Looking.

    @property
    def trials(self) -> list[Trial]:
        """All trials, in the order in which they were asked for."""
        return [self._trial(record) for record in self._records()]

    def get_trial(self, number: int) -> Trial:
        """Returns the trial with this number."""
        return self._trial(self._engine.trial(number_of(number)))

    @property
    def best(self) -> Best | None:
        """The recommended point: the one with the best expected value. `None` before the first value.

        With constraints on outcomes, it is one that is likely to keep them: :attr:`Best.feasible`. Several goals have a
        :attr:`front` instead.
        """
        return self.recommend()

    @property
    def front(self) -> Front | None:
        """Where several goals are traded off, what there is to choose from. `None` before the first trial with every outcome.

        >>> study = Study("trade", {"x": (0.0, 1.0)}, outcomes={"speed": "maximize", "cost": "minimize"}, trials=8)
        >>> for trial in study.ask(8): study.tell(trial, {"speed": trial["x"], "cost": trial["x"] ** 2})
        >>> len(study.front.points) > 1 and study.front.knee in study.front.points
        True
        """
        if self._n_goals() < 2:
            raise StudyError("a front needs several goals; the study's answer is study.best")
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
        """The trial with the best observed value, which noise may have helped. `None` before the first value.

        With constraints on outcomes, the best that is feasible. Several goals have a :attr:`front` instead.
        """
        self._check_best()
        found = self._engine.best_observed()
        return None if found is None else self._trial(found)

    def recommend(self) -> Best | None:
        """Same as :attr:`best`."""
        self._check_best()
        ranking = self.ranking(1)
        return ranking[0] if ranking else None

    def ranking(self, n: int) -> list[Best]:
        """The best `n` points, the recommended one first."""
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
        """Mean and standard deviation that the model predicts: a pair for one point, a list of pairs for several.

        Of several outcomes, say which.

        >>> study = Study("line", {"x": (0.0, 1.0)}, direction="minimize")
        >>> for trial in study.ask(8): study.tell(trial, trial["x"])
        >>> mean, std = study.predict({"x": 0.5})
        >>> abs(mean - 0.5) < 0.1
        True
        """
        is_one = isinstance(points, Mapping)
        several: list[Any] = [points] if is_one else list(rows(points))
        predicted = self._engine.predict([self.space.encode(point) for point in several], self._number_of_outcome(outcome))
        if predicted is None:
            raise StudyError("there is no model yet: tell the value of a trial first")
        return predicted[0] if is_one else predicted

    def importance(self, *, outcome: str | None = None) -> dict[str, float]:
        """Share of the model's variance that each parameter explains, interactions included, from 0 to 1.

        Of several outcomes, say which.
        """
        effects = self._engine.importance(self._number_of_outcome(outcome))
        if effects is None:
            raise StudyError("there is no model yet: tell the value of a trial first")
        return {name: total for name, _, total in effects}

    def expected_gain(self) -> float | None:
        """Expected improvement of the best value by the next trial; `None` if the optimizer cannot say."""
        return self._engine.expected_gain()

    def warnings(self) -> list[str]:
        """What you should know about how points were suggested. Usually empty."""
        return self._engine.warnings()

    def verify(self) -> Verification:
        """Repeats every suggestion from the log and compares, bit for bit."""
        return Verification(*self._engine.verify())

    def show(self) -> dict[str, Any]:
        """The state of the study, as `optimist show --json` prints it."""
        return dict(self._engine.view())

    def to_dicts(self) -> list[dict[str, Any]]:
        """Every trial as a flat dictionary: `number`, `state`, `value`, …, `params_NAME`, `metrics_NAME`.

        Of several outcomes, `values_NAME` and `noise_std_NAME` take the place of `value` and `noise_std`, and `feasible` says
        whether all constraints are kept.
        """
        from ._frame import columns_of

        columns = columns_of(self._records(), self.space, self._names())
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def to_pandas(self) -> Any:
        """Every trial as a row of a pandas data frame."""
        from ._frame import columns_of
        from ._packages import needed

        pandas = needed("pandas", "to_pandas", "pandas", "optimist[pandas]")
        return pandas.DataFrame(columns_of(self._records(), self.space, self._names()))

    def to_polars(self) -> Any:
        """Every trial as a row of a polars data frame."""
        from ._frame import columns_of
        from ._packages import needed

        polars = needed("polars", "to_polars", "polars", "optimist[polars]")
        return polars.DataFrame(columns_of(self._records(), self.space, self._names()), strict=False)

    def plot(self, *kinds: str) -> Plot:
        """A plot that shows itself in a notebook.

        Args:
            kinds: `history`, `front`, `slices`, `parallel`, `importance`, `surrogate`, `contour`, `metrics`, `edf` or `timeline`;
                all of them, if you name none.
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
        """Runs trials until the plan is done.

        Args:
            objective: Called with a keyword for each parameter, or, if its first argument is called `trial`, with the trial. It
                returns a number, or a dictionary with `value`, `noise_std`, `metrics` or `note`; of several outcomes a
                dictionary with all of them. An exception is a failed trial.
            workers: How many trials to run at the same time, in threads unless there is an executor; what the study says, if you
                leave it out, or as many as the executor has.
            executor: Any executor of `concurrent.futures`.
            timeout: Start no trial after this many seconds.
            trials: Start at most this many trials now; by default, all that are planned.
            callbacks: Called with the study and each trial that has ended.
            progress: Whether to show a progress bar; by default, in terminals and notebooks.

        Ctrl-C ends the run: running trials are put back, and nothing is lost.
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
        """:meth:`run` for an objective that is an `async def`: `workers` of them at the same time in this event loop."""
        from ._arun import arun

        await arun(self, objective, workers, timeout, trials, callbacks, progress)
        return self

    def aasks(self, *, limit: int = 1) -> AsyncIterator[Trial]:
        """Trials for as long as the plan wants any, at most `limit` of them pending.

        Tell or fail each of them, with :meth:`atell` or :meth:`afail`. Those still pending when you leave the loop are put back.
        """
        from ._arun import aasks

        return aasks(self, limit)

    async def aask(self) -> Trial:
        """:meth:`ask` without blocking the event loop."""
        import asyncio

        return await asyncio.to_thread(self.ask)

    async def atell(self, trial: Trial | int, value: float | Mapping[str, float], **more: Any) -> None:
        """:meth:`tell` without blocking the event loop."""
        import asyncio

        await asyncio.to_thread(self.tell, trial, value, **more)

    async def afail(self, trial: Trial | int, reason: str = "failed") -> None:
        """:meth:`fail` without blocking the event loop."""
        import asyncio

        await asyncio.to_thread(self.fail, trial, reason)

    def stop(self) -> None:
        """Stops the current run once the running trials have ended; for callbacks."""
        self._is_stopping = True

    def delete(self) -> None:
        """Removes the study with all its trials."""
        self._engine.delete()

    # Copies: of a study in storage, another handle; of one in memory, a study of its own.

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

    # Within the package.

    def _engine_for(self, trial: Trial | int) -> _native.Study:
        if self._definer is not None:
            self._definer.settle(number_of(trial))
        return self._engine

    def _names(self) -> tuple[str, ...] | None:
        return names_of(self._definition())

    def _n_goals(self) -> int:
        return sum(isinstance(one, (Minimize, Maximize)) for one in self.outcomes.values())

    def _check_best(self) -> None:
        if self._n_goals() > 1:
            raise StudyError("the study has several goals, so no one point is best; study.front has those to choose from")

    def _has_values(self) -> bool:
        return self._engine.has_values()

    def _number_of_outcome(self, outcome: str | None) -> int:
        names = list(self.outcomes)
        if outcome is None and len(names) == 1:
            return 0
        if outcome not in names:
            wrong = "say which outcome is meant" if outcome is None else f"there is no outcome {outcome!r}"
            raise StudyError(f"{wrong}; the study has {', '.join(names)}")
        return names.index(outcome)

    def _report(self, number: int, measured: Measured, seconds: float | None) -> None:
        """Stores what an objective answered; what cannot be told is a failed trial."""
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
        return trial.params[name]

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
    """Summaries of all studies in a storage, as `optimist list --json` prints them."""
    return list(_native.studies(os.fspath(storage)))


def place_of(storage: str | os.PathLike[str] | None) -> str | None:
    """A storage as the library writes it."""
    if storage is None:
        return None
    place = os.fspath(storage)
    return None if place == "memory" else place


def number_of(trial: Trial | int) -> int:
    """The number of a trial, which may be given itself."""
    number = trial.number if isinstance(trial, Trial) else trial
    number = native(number)
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= sys.maxsize:
        raise TypeError(f"expected a trial or its number, got {trial!r}")
    return number


def _wanted(direction: str | None, outcomes: Mapping[str, Wanted] | None) -> dict[str, Any]:
    """What is measured, as a definition has it."""
    if outcomes is None:
        return {"direction": _arguments.direction(direction)}
    if direction is not None:
        raise StudyError("give a direction or outcomes, not both: each outcome has a direction of its own")
    return {"outcomes": written(outcomes)}


def _expected(outcomes: Mapping[str, Mapping[str, Any]]) -> dict[str, Expected]:
    return {name: Expected(one["value"], one["expected"], one["std"]) for name, one in outcomes.items()}


def measured_of(
    value: float | Mapping[str, float],
    noise_std: float | Mapping[str, float] | None,
    metrics: Mapping[str, Any] | None,
    note: str | None,
) -> Measured:
    """What was measured, as the engine takes it."""
    from ._objective import Measured, check_noise, float_of, metrics_of, noise_of, numbers_of

    if isinstance(value, Mapping):
        told: float | dict[str, float] = numbers_of(value, "tell a number for each outcome, or call `fail`")
    else:
        told = float_of(value, "the value", "tell one number, or call `fail`")
    noise = noise_of(noise_std, None if isinstance(value, Mapping) else "give one number, 0 or more")
    check_noise(told, noise)
    return Measured(told, noise, None if note is None else _arguments.text(note, "note"), metrics_of(metrics))


def rows(points: Any) -> Iterable[Mapping[str, Any]]:
    """The rows of a data frame, or of a list of dictionaries."""
    if hasattr(points, "to_dicts"):
        return points.to_dicts()  # type: ignore[no-any-return]
    if hasattr(points, "to_dict"):
        return points.to_dict("records")  # type: ignore[no-any-return]
    if not isinstance(points, Iterable) or isinstance(points, (str, bytes)):
        raise TypeError(f"expected dictionaries or a data frame, got {type(points).__name__}")
    return points
