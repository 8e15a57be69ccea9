"""Runs: claim a trial, measure it, tell; in this thread, in other threads or in an executor. `_arun` does it in an event loop.

Whatever happens in between, the log knows the end of each trial: an exception is a failed trial, Ctrl-C puts running trials
back, and if storage can't be written for a while, the run retries.
"""

from __future__ import annotations

import math
import pickle
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from . import _arguments
from ._errors import DeclarationError, ReturnTypeError, StorageError, StudyError
from ._objective import Failure, Measured, check_signature, evaluate, failure_of, is_asynchronous, measured, takes_trial
from ._progress import Progress
from ._trial import Trial

if TYPE_CHECKING:
    from ._study import Study

#: Seconds between looks at whether other workers have left a trial, or whether a thread has ended.
POLL = 0.1

#: An objective that has never worked and has failed in the same way this often won't work.
HOPELESS = 5


class Claims:
    """Trials that are claimed under the plan, and held until they are told or put back."""

    def __init__(self, study: Study, timeout: float | None = None, trials: int | None = None) -> None:
        plan = study.plan
        timeout = None if timeout is None or timeout == math.inf else _arguments.finite(timeout, "timeout")
        limits = [limit for limit in (timeout, plan.get("max_time")) if limit is not None]
        self.study = study
        self.deadline = time.monotonic() + min(limits) if limits else None
        self.left = None if trials is None else _arguments.whole(trials, "trials", 0)
        self.lease: float = plan.get("lease", 60.0)
        self.held: set[int] = set()
        #: How many threads are waiting for a trial, and the trials claimed for them.
        self.n_waiting, self.gathered = 0, deque[Trial]()
        self.counting, self.claiming = threading.Lock(), threading.Lock()
        self.error: BaseException | None = None
        self.has_ended = False
        study._is_stopping = False

    def is_over(self) -> bool:
        """Whether to start no more trials."""
        is_late = self.deadline is not None and time.monotonic() >= self.deadline
        return self.study._is_stopping or self.error is not None or is_late or self.left == 0

    def claim(self) -> tuple[Trial | None, bool]:
        """The next trial; if there is none, whether another worker may still leave one.

        If several threads are waiting, the first one claims for all of them.
        """
        with self.counting:
            self.n_waiting += 1
        try:
            with self.claiming:
                if self.is_over():
                    return None, False
                may_come = True
                if not self.gathered:
                    trials, may_come = self.claim_many(self.n_waiting)
                    self.gathered.extend(trials)
                return (self.gathered.popleft(), True) if self.gathered else (None, may_come)
        finally:
            with self.counting:
                self.n_waiting -= 1

    def claim_many(self, k: int) -> tuple[list[Trial], bool]:
        """Up to `k` trials to measure at the same time, and whether there may be more, now or once other workers leave some."""
        if self.is_over():
            return [], False
        k = k if self.left is None else min(k, self.left)
        if self.study._definer is not None:
            trial = self.study._definer.claim(self.study, self.held)
            trials, may_come = [] if trial is None else [trial], trial is not None
        else:
            records, running = self.study._engine.claim(self.held, k)
            trials = [self.study._job(record) for record in records]
            may_come = bool(trials) or bool(set(running) - self.held)
        if self.has_ended:  # meanwhile, in another thread
            self.put_back()
            return [], False
        if self.left is not None:
            self.left -= len(trials)
        return trials, may_come

    def is_unknown(self) -> bool:
        """Whether no parameter has been declared yet, so that no trial can be stored."""
        return self.study._definer is not None and not self.study._definer.parameters

    def put_back(self) -> None:
        """Puts back all running trials. A second Ctrl-C doesn't lose them; the third one gives up."""
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
        """Writes to storage, and retries as long as it can't be written for a reason that may pass."""
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
        """Renews the leases of running trials; at the end, puts back those that weren't told."""
        ended = threading.Event()

        def renew() -> None:
            while not ended.wait(self.lease / 3):
                held = sorted(self.held)
                try:
                    if held and self.study._definer is None:
                        self.study._engine.renew(held)
                except Exception as error:
                    warnings.warn(f"could not renew a lease: {error}", stacklevel=2)

        threading.Thread(target=renew, name="optimist-leases", daemon=True).start()
        try:
            yield
        finally:
            ended.set()
            self.has_ended = True
            self.put_back()


class Run(Claims):
    """What all ways to run an objective share: how to call it, what to store, and when to stop."""

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
        if any(is_asynchronous(callback) for callback in callbacks):
            raise TypeError("a callback must be a plain function, not an `async def`: it's called between trials")
        space = None if study._definer is not None else study.space
        self.wants_trial = takes_trial(objective, space)
        if space is not None and not self.wants_trial:
            check_signature(objective, space)
        super().__init__(study, timeout, trials)
        self.objective = objective
        self.callbacks = list(callbacks)
        self.max_failures: int | None = study.plan.get("max_failures")
        self.n_failures = 0
        self.outcomes = study._names()
        self.has_value = not self.is_unknown() and study._has_values()
        #: The failures of this run; `None` once a trial has worked, or failed in another way.
        self.failures: list[Trial] | None = []
        self.progress = Progress(study, study.plan["trials"], progress)

    def call(self, trial: Trial) -> Any:
        """Calls the objective."""
        return self.objective(trial) if self.wants_trial else evaluate(self.objective, trial.params)

    def end(self, trial: Trial, answer: Any, error: BaseException | None, seconds: float | None) -> None:
        """Stores the result of a trial and calls the callbacks."""
        if error is not None and self.is_unknown():
            raise error
        outcome = self.understood(answer, error)
        self.store(lambda: self.tell(trial, outcome, seconds))
        self.held.discard(trial.number)
        ended = self.study.get_trial(trial.number)
        if ended.state in ("failed", "complete"):
            self.count(ended)
            self.progress.update(ended)
            for callback in self.callbacks:
                callback(self.study, ended)

    def count(self, ended: Trial) -> None:
        """Stops after too many failures in a row, or if the first trials all failed in the same way."""
        if ended.state == "complete":
            self.n_failures, self.has_value, self.failures = 0, True, None
            return
        self.n_failures += 1
        if self.max_failures is not None:
            if self.n_failures >= self.max_failures:
                n = self.n_failures
                self.error = StudyError(f"stopped after {n} failed trials in a row (max_failures); the last: {ended.reason}")
        elif self.failures is not None and not self.has_value:
            is_alike = all((one.failure, one.reason) == (ended.failure, ended.reason) for one in self.failures)
            self.failures = [*self.failures, ended] if is_alike else None
            if self.failures is not None and len(self.failures) == HOPELESS and self.error is None:
                self.error = StudyError(
                    f"stopped: the first {HOPELESS} trials all failed in the same way: {ended.reason}; "
                    "fix the objective, or set max_failures to try more"
                )

    def understood(self, answer: Any, error: BaseException | None) -> Measured | Failure:
        """The value, or why there is none. If a run has no value yet, an answer of the wrong type ends it: it's a mistake."""
        if error is not None:
            if isinstance(error, DeclarationError):
                self.error = error
            if isinstance(error, BrokenExecutor):  # another trial may have broken it
                return Failure("retried", str(error))
            return failure_of(error)
        try:
            return measured(answer, self.outcomes)
        except ReturnTypeError as slip:
            if not self.has_value:
                self.error = slip
            else:
                warnings.warn(str(slip), RuntimeWarning, stacklevel=2)
            return Failure("unreadable", str(slip))

    def tell(self, trial: Trial, outcome: Measured | Failure, seconds: float | None) -> None:
        if isinstance(outcome, Measured):
            self.study._report(trial.number, outcome, seconds)
        else:
            native = self.study._engine_for(trial)
            native.fail(trial.number, outcome.kind, outcome.reason, outcome.traceback, seconds, outcome.known)

    @contextmanager
    def underway(self) -> Iterator[None]:
        try:
            with super().underway():
                yield
        finally:
            self.progress.close()
        if self.error is not None:
            raise self.error


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
    """Implements `Study.run`."""
    if is_asynchronous(objective):
        import asyncio

        from ._arun import arun

        if executor is not None:
            raise StudyError("an async objective runs in an event loop; use `workers`, not an executor")
        if asyncio._get_running_loop() is not None:
            raise StudyError("an event loop is already running, as in any notebook; write `await study.arun(objective)`")
        asyncio.run(arun(study, objective, workers, timeout, trials, callbacks, progress))
        return
    this = Run(study, objective, timeout, trials, callbacks, progress)
    n = n_workers(study, workers, executor)
    if executor is not None:
        _check(this, executor)
    with this.underway():
        if executor is not None:
            _in_executor(this, executor, n)
        elif n == 1:
            _in_this_thread(this)
        else:
            _in_executor(this, Threads(), n)


def n_workers(study: Study, workers: int | None, executor: Executor | None = None) -> int:
    """How many trials to run at the same time."""
    if workers is not None:
        return _arguments.whole(workers, "workers")
    if executor is None:
        return int(study.plan.get("workers", 1))
    known = getattr(executor, "_max_workers", None) or getattr(executor, "num_workers", None)
    if known is None:
        raise StudyError("cannot tell how many workers the executor has; say how many trials to run at a time: workers=4")
    return int(known)


def _check(this: Run, executor: Executor) -> None:
    """Checks that the objective can run in the executor."""
    if this.study._definer is not None:
        raise StudyError("an objective that declares its parameters runs in threads; use `workers`, not an executor")
    if isinstance(executor, ProcessPoolExecutor):
        try:
            pickle.dumps(this.objective)
        except Exception as error:
            raise TypeError(
                f"the objective cannot be sent to another process ({error}); define it at the top of a module, or use threads"
            ) from error


class Threads(Executor):
    """Runs each trial in its own thread. After Ctrl-C the program doesn't wait for them: their trials were put back."""

    def submit(self, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Starts `work` at once."""
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()

        def measure() -> None:
            try:
                future.set_result(work(*args, **kwargs))
            except BaseException as error:
                future.set_exception(error)

        threading.Thread(target=measure, name="optimist-worker", daemon=True).start()
        return future


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
    try:
        while pending or may_come:
            while len(pending) < n and may_come:
                trials, may_come = this.claim_many(n - len(pending))
                for trial in trials:
                    pending[_submit(this, executor, trial)] = (trial, time.monotonic())
                if not trials:
                    break
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
    finally:
        for future in pending:
            future.cancel()


def _submit(this: Run, executor: Executor, trial: Trial) -> Future[Any]:
    if this.wants_trial:
        return executor.submit(this.objective, trial)
    return executor.submit(evaluate, this.objective, trial.params)
