"""Executors over clusters: Ray and Dask, which are imported when an executor is created.

A trial that the cluster loses ends with a `BrokenExecutor` and is put back; a trial whose objective raises has failed.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from concurrent.futures import BrokenExecutor, Executor, Future
from typing import Any

from . import _arguments
from ._errors import StudyError
from ._packages import needed


class ClusterFuture(Future[Any]):
    """The future of a trial that runs on a cluster."""

    def __init__(self, stop: Callable[[], Any]) -> None:
        super().__init__()
        self._stop = stop

    def cancel(self) -> bool:
        """Stops the trial without waiting for it."""
        if not self.done():
            self._stop()
        return super().cancel()


class ClusterExecutor(Executor):
    """Runs trials on a cluster."""

    #: How many run at the same time.
    _max_workers: int

    def submit(self, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Starts `work` wherever there is room for it."""
        begun, stop = self._begin(work, args, kwargs)
        future = ClusterFuture(stop)

        def end(begun: Future[Any]) -> None:
            error = None if begun.cancelled() else begun.exception()
            if not future.set_running_or_notify_cancel():
                return
            if begun.cancelled():
                future.set_exception(BrokenExecutor("cancelled by the cluster"))
            elif error is not None:
                future.set_exception(self._meant(error))
            else:
                future.set_result(begun.result())

        begun.add_done_callback(end)
        return future

    @abstractmethod
    def _begin(
        self, work: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Future[Any], Callable[[], Any]]:
        """Starts it; returns its future, and a function that stops it."""

    @abstractmethod
    def _meant(self, error: BaseException) -> BaseException:
        """The exception of the objective, or a `BrokenExecutor` if it's the cluster's fault."""


class RayExecutor(ClusterExecutor):
    """Runs each trial as a Ray task."""

    def __init__(self, workers: int | None, options: Mapping[str, Any]) -> None:
        ray = needed("ray", "op.ray", "Ray", "optimist[ray]")
        if not ray.is_initialized():
            ray.init()
        self._ray = ray
        # The log counts attempts, and wouldn't know of those that Ray retries by itself.
        self._call = ray.remote(**{"num_cpus": 1, "max_retries": 0, **options})(_call)
        self._max_workers = _room(ray.cluster_resources(), options) if workers is None else _arguments.whole(workers, "workers")

    def _begin(
        self, work: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Future[Any], Callable[[], Any]]:
        task = self._call.remote(work, args, kwargs)
        return task.future(), lambda: self._ray.cancel(task)

    def _meant(self, error: BaseException) -> BaseException:
        errors = self._ray.exceptions
        if isinstance(error, errors.RayTaskError):
            cause = error.cause
            return cause if isinstance(cause, Exception) else error
        if isinstance(error, errors.RayError):
            return BrokenExecutor(_first_line(error))
        return error


class DaskExecutor(ClusterExecutor):
    """Runs each trial as a Dask task."""

    def __init__(self, client: Any, workers: int | None, options: Mapping[str, Any]) -> None:
        distributed = needed("distributed", "op.dask", "Dask", "optimist[dask]")
        self._distributed = distributed
        self._client = client if isinstance(client, distributed.Client) else distributed.Client(client)
        self._executor = self._client.get_executor(pure=False, **options)  # so that equal points are measured again
        threads = sum(self._client.nthreads().values())
        self._max_workers = max(1, threads) if workers is None else _arguments.whole(workers, "workers")

    def _begin(
        self, work: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Future[Any], Callable[[], Any]]:
        begun = self._executor.submit(work, *args, **kwargs)
        return begun, begun.cancel

    def _meant(self, error: BaseException) -> BaseException:
        is_lost = isinstance(error, (self._distributed.scheduler.KilledWorker, self._distributed.client.FutureCancelledError))
        return BrokenExecutor(_first_line(error)) if is_lost else error


def dask(client: Any = None, *, workers: int | None = None, **options: Any) -> Executor:
    """Returns an executor that runs each trial as a Dask task: `study.run(objective, executor=op.dask(client))`.

    If a worker dies, Dask runs its tasks again. A task that has killed several workers is put back, up to the study's
    `max_attempts` times.

    Args:
        client: A `distributed.Client`, the address of a scheduler, or `None` for a cluster on this machine.
        workers: How many trials run at the same time; by default, as many as the cluster has threads now.
        options: `resources` and `retries`, as for `Client.submit`.
    """
    return DaskExecutor(client, workers, options)


def _call(work: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return work(*args, **kwargs)


def _room(there: Mapping[str, float], options: Mapping[str, Any]) -> int:
    """How many tasks with these needs fit on the cluster."""
    needs = {"CPU": options.get("num_cpus", 1), "GPU": options.get("num_gpus") or 0, **(options.get("resources") or {})}
    if options.get("memory"):
        needs["memory"] = options["memory"]
    room = [there.get(name, 0) // need for name, need in needs.items() if need]
    if not room:
        raise StudyError("trials that need no resources always fit; say how many to run at a time: op.ray(workers=8, …)")
    if min(room) < 1:
        wanted = ", ".join(f"{need:g} {name}" for name, need in needs.items() if need)
        raise StudyError(
            f"the Ray cluster has no room for a trial that needs {wanted}; ask for less, or say how many to run at a time once "
            "it has grown: op.ray(workers=8, …)"
        )
    return int(min(room))


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
