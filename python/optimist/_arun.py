"""Runs in an event loop: `async def` objectives, and trials as an asynchronous iterator."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from . import _arguments
from ._run import POLL, Claims, Run, n_workers
from ._trial import Trial

if TYPE_CHECKING:
    from ._study import Study

T = TypeVar("T")

#: Seconds between looks at whether the trials of `aasks` were told.
GLANCE = 0.01


async def arun(
    study: Study,
    objective: Callable[..., Any],
    workers: int | None,
    timeout: float | None,
    trials: int | None,
    callbacks: Sequence[Callable[[Study, Trial], Any]],
    progress: bool | None,
) -> None:
    """Implements `Study.arun`."""
    n = n_workers(study, workers)
    this = Run(study, objective, timeout, trials, callbacks, progress)
    with this.underway():
        tasks = [asyncio.ensure_future(_work(this)) for _ in range(n)]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _work(this: Run) -> None:
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
        await _to_the_end(partial(this.end, trial, answer, error, time.monotonic() - start))


async def aask(study: Study) -> Trial:
    """Implements `Study.aask`. If it's cancelled, the trial that nobody gets is put back."""
    task = asyncio.ensure_future(asyncio.to_thread(study.ask))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        if task.exception() is None and study._definer is None:
            await asyncio.to_thread(study.put_back, task.result(), "cancelled while it was asked for")
        raise


async def aasks(study: Study, limit: int) -> AsyncIterator[Trial]:
    """Implements `Study.aasks`."""
    limit = _arguments.whole(limit, "limit")
    claims = Claims(study)
    with claims.underway():
        while True:
            await _to_the_end(partial(_forget_what_ended, claims))
            trial, may_come = (await _to_the_end(claims.claim)) if len(claims.held) < limit else (None, True)
            if trial is not None:
                yield trial
            elif not may_come and not claims.held:
                return
            else:
                await asyncio.sleep(GLANCE if claims.held else POLL)


def _forget_what_ended(claims: Claims) -> None:
    """Lets go of trials that were told, failed or cancelled."""
    if claims.held and not claims.is_unknown():
        claims.held -= {number for number in claims.held if claims.study.get_trial(number).state != "running"}


async def _to_the_end(work: Callable[[], T]) -> T:
    """Does `work` in a thread. A task that is cancelled meanwhile still waits for it, so that no claimed trial gets lost."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
