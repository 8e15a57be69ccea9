"""Runs: claim a trial, measure it, tell; in this thread, in others, in an executor or in an event loop.

Whatever happens in between, each trial is in the log as what it is: an exception is a failed trial, Ctrl-C puts back what was
being measured, and storage that cannot be written for a while is tried again.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
import warnings
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from ._errors import DeclarationError, ReturnTypeError, StorageError, StudyError
from ._objective import Failure, Measured, check_signature, evaluate, failure_of, measured, takes_trial
from ._progress import Progress
from ._trial import Trial

if TYPE_CHECKING:
    from ._study import Study

T = TypeVar("T")

#: How often to look whether others have left something to do, or whether a thread has ended.
POLL = 0.1


class Run:
    """What the ways to run share: what to do next, what became of it, and when to stop."""

    def __init__(
        self,
        study: Study,
        objective: Callable[..., Any],
        timeout: float | None,
        trials: int | None,
        callbacks: Sequence[Callable[[Study, Trial], Any]],
        progress: bool | None,
    ) -> None:
        if not callable(objective):
            raise TypeError(f"the objective must be a function, got {type(objective).__name__}")
        space = None if study._definer is not None else study.space
        self.wants_trial = takes_trial(objective, space)
        if space is not None and not self.wants_trial:
            check_signature(objective, space)
        self.study = study
        self.objective = objective
        self.callbacks = list(callbacks)
        plan = study.plan
        limits = [limit for limit in (timeout, plan.get("max_time")) if limit is not None]
        self.deadline = time.monotonic() + min(limits) if limits else None
        self.max_failures: int | None = plan.get("max_failures")
        self.left = trials
        self.lease: float = plan.get("lease", 60.0)
        self.progress = Progress(study, plan["trials"], progress)
        self.held: set[int] = set()
        self.n_failures = 0
        self.has_value = False
        self.error: BaseException | None = None
        study._is_stopping = False

    # What to do next.

    def is_over(self) -> bool:
        """Whether no further trial is to be begun."""
        is_late = self.deadline is not None and time.monotonic() >= self.deadline
        return self.study._is_stopping or self.error is not None or is_late or self.left == 0

    def claim(self) -> tuple[Trial | None, bool]:
        """The next trial; if there is none, whether others may yet leave one."""
        if self.is_over():
            return None, False
        if self.study._definer is not None:
            trial = self.study._definer.claim(self.study, self.held)
            n_elsewhere = 0
        else:
            record, running = self.study._engine.claim(self.held)
            trial = None if record is None else self.study._job(record)
            n_elsewhere = len(set(running) - self.held)
        if trial is not None and self.left is not None:
            self.left -= 1
        return trial, n_elsewhere > 0

    def call(self, trial: Trial) -> Any:
        """Calls the objective."""
        return self.objective(trial) if self.wants_trial else evaluate(self.objective, trial.params)

    # What became of it.

    def end(self, trial: Trial, answer: Any, error: BaseException | None, seconds: float | None) -> None:
        """Stores what came of a trial and tells the callbacks."""
        if error is not None and self.is_unknown():
            raise error
        outcome = self.understood(answer, error)
        self.store(lambda: self.tell(trial, outcome, seconds))
        self.held.discard(trial.number)
        ended = self.study.get_trial(trial.number)
        if ended.state == "failed":
            self.n_failures += 1
            if self.max_failures is not None and self.n_failures >= self.max_failures:
                n, last = self.n_failures, ended.reason
                self.error = StudyError(f"stopped after {n} failed trials in a row (max_failures); the last: {last}")
        elif ended.state == "complete":
            self.n_failures, self.has_value = 0, True
        if ended.state in ("failed", "complete"):
            self.progress.update(ended)
            for callback in self.callbacks:
                callback(self.study, ended)

    def is_unknown(self) -> bool:
        """Whether no parameter has been declared: there is nothing that a trial could be stored with."""
        return self.study._definer is not None and not self.study._definer.parameters

    def understood(self, answer: Any, error: BaseException | None) -> Measured | Failure:
        """A value, or why there is none. An answer of the wrong type ends a run that has no value yet: it is a slip."""
        if error is not None:
            if isinstance(error, DeclarationError):
                self.error = error
            return Failure(*failure_of(error))
        try:
            return measured(answer)
        except ReturnTypeError as slip:
            if not self.has_value:
                self.error = slip
            else:
                warnings.warn(str(slip), RuntimeWarning, stacklevel=2)
            return Failure("unreadable", str(slip))

    def tell(self, trial: Trial, outcome: Measured | Failure, seconds: float | None) -> None:
        if isinstance(outcome, Measured):
            self.study.tell(
                trial,
                outcome.value,
                noise_std=outcome.noise_std,
                metrics=outcome.metrics,
                note=outcome.note,
                seconds=seconds,
            )
        else:
            native = self.study._engine_for(trial)
            native.fail(trial.number, outcome.kind, outcome.reason, outcome.traceback, seconds)

    def put_back(self) -> None:
        """What is being measured was interrupted. A second Ctrl-C does not lose it, the third ends the attempt."""
        if self.is_unknown():
            return
        for _ in range(3):
            try:
                for number in sorted(self.held):
                    self.store(partial(self.study.put_back, number, "interrupted"))
                    self.held.discard(number)
                return
            except KeyboardInterrupt:
                continue

    def store(self, write: Callable[[], None]) -> None:
        """Again and again while storage cannot be written for a reason that may pass."""
        is_known = False
        while True:
            try:
                return write()
            except StorageError as error:
                if not error.may_pass:
                    raise
                if not is_known:
                    warnings.warn(f"{error}; the trial is kept in memory, retrying to store it", stacklevel=2)
                is_known = True
                time.sleep(1.0)

    @contextmanager
    def underway(self) -> Iterator[None]:
        """Renews the leases of what is being measured, and shows how it is doing."""
        ended = threading.Event()

        def renew() -> None:
            while not ended.wait(self.lease / 3):
                held = sorted(self.held)
                try:
                    if held and self.study._definer is None:
                        self.study._engine.renew(held)
                except Exception as error:
                    warnings.warn(f"a lease could not be renewed: {error}", stacklevel=2)

        renewing = threading.Thread(target=renew, name="optimist-leases", daemon=True)
        renewing.start()
        try:
            yield
        finally:
            ended.set()
            self.put_back()
            self.progress.close()


def run(
    study: Study,
    objective: Callable[..., Any],
    workers: int | None,
    executor: Executor | None,
    timeout: float | None,
    trials: int | None,
    callbacks: Sequence[Callable[[Study, Trial], Any]],
    progress: bool | None,
) -> None:
    """:meth:`Study.run`."""
    if inspect.iscoroutinefunction(objective):
        asyncio.run(arun(study, objective, workers or 1, timeout, trials, callbacks, progress))
        return
    this = Run(study, objective, timeout, trials, callbacks, progress)
    n = _workers(workers, executor)
    with this.underway():
        if executor is not None:
            if this.wants_trial and study._definer is not None:
                raise StudyError("an objective that declares its parameters runs in threads; give `workers`, no executor")
            _in_executor(this, executor, n)
        elif n == 1:
            _in_this_thread(this)
        else:
            with _threads(n) as threads:
                _in_executor(this, threads, n)
    if this.error is not None:
        raise this.error


def _workers(workers: int | None, executor: Executor | None) -> int:
    if workers is None:
        return int(getattr(executor, "_max_workers", 1) or 1) if executor is not None else 1
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise StudyError(f"workers must be a whole number of 1 or more, got {workers!r}")
    return workers


@contextmanager
def _threads(n: int) -> Iterator[ThreadPoolExecutor]:
    """Threads that are not waited for when Ctrl-C ends the run: what they measure is put back."""
    threads = ThreadPoolExecutor(n, thread_name_prefix="optimist-worker")
    try:
        yield threads
    except BaseException:
        threads.shutdown(wait=False, cancel_futures=True)
        raise
    threads.shutdown()


def _in_this_thread(this: Run) -> None:
    while True:
        trial, may_come = this.claim()
        if trial is None:
            if not may_come or this.is_over():
                return
            time.sleep(POLL)
            continue
        start = time.monotonic()
        try:
            answer, error = this.call(trial), None
        except Exception as raised:
            answer, error = None, raised
        this.end(trial, answer, error, time.monotonic() - start)


def _in_executor(this: Run, executor: Executor, n: int) -> None:
    pending: dict[Future[Any], tuple[Trial, float]] = {}
    may_come = True
    while pending or may_come:
        while len(pending) < n and may_come:
            trial, may_come = this.claim()
            if trial is None:
                break
            pending[_submit(this, executor, trial)] = (trial, time.monotonic())
            may_come = True
        if not pending:
            time.sleep(POLL if may_come else 0)
            continue
        done, _ = wait(pending, timeout=POLL, return_when=FIRST_COMPLETED)
        for future in done:
            trial, start = pending.pop(future)
            error = future.exception()
            if error is not None and not isinstance(error, Exception):
                raise error
            answer = None if error is not None else future.result()
            this.end(trial, answer, error, time.monotonic() - start)
        may_come = may_come or bool(done)


def _submit(this: Run, executor: Executor, trial: Trial) -> Future[Any]:
    if this.wants_trial:
        return executor.submit(this.objective, trial)
    return executor.submit(evaluate, this.objective, trial.params)


async def arun(
    study: Study,
    objective: Callable[..., Any],
    workers: int,
    timeout: float | None,
    trials: int | None,
    callbacks: Sequence[Callable[[Study, Trial], Any]],
    progress: bool | None,
) -> None:
    """:meth:`Study.arun`."""
    this = Run(study, objective, timeout, trials, callbacks, progress)
    n = _workers(workers, None)

    async def work() -> None:
        while True:
            trial, may_come = await _to_the_end(this.claim)
            if trial is None:
                if this.is_over() or not (may_come or this.held):
                    return
                await asyncio.sleep(POLL)
                continue
            start = time.monotonic()
            try:
                answer = this.call(trial)
                answer, error = (await answer if inspect.isawaitable(answer) else answer), None
            except Exception as raised:
                answer, error = None, raised
            seconds = time.monotonic() - start
            await _to_the_end(partial(this.end, trial, answer, error, seconds))

    with this.underway():
        tasks = [asyncio.ensure_future(work()) for _ in range(n)]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
    if this.error is not None:
        raise this.error


async def _to_the_end(work: Callable[[], T]) -> T:
    """Does `work` in a thread; who is cancelled meanwhile waits for it, so that nothing happens behind its back."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


async def aasks(study: Study, limit: int) -> AsyncIterator[Trial]:
    """:meth:`Study.aasks`."""
    handed_out: set[int] = set()
    while True:
        if handed_out:
            handed_out = await asyncio.to_thread(_running, study, handed_out)
        if len(handed_out) < limit:
            trial = await asyncio.to_thread(_planned, study)
            if trial is not None:
                handed_out.add(trial.number)
                yield trial
                continue
            if not handed_out:
                return
        await asyncio.sleep(0.01)


def _running(study: Study, trials: set[int]) -> set[int]:
    return {number for number in trials if study.get_trial(number).state == "running"}


def _planned(study: Study) -> Trial | None:
    """The next trial, without a lease, if the plan wants one."""
    n_trials, _ = study._engine.counts()
    cancelled = sum(trial.state == "cancelled" for trial in study.trials) if n_trials else 0
    return study.ask() if n_trials - cancelled < study.plan["trials"] else None
