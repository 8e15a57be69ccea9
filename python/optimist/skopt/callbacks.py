"""Callbacks, as in `skopt.callbacks`: functions of the results so far. If one returns true, the search ends."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult

from .utils import dump, load

__all__ = [
    "CheckpointSaver",
    "DeadlineStopper",
    "DeltaXStopper",
    "DeltaYStopper",
    "EarlyStopper",
    "HollowIterationsStopper",
    "StdStopper",
    "ThresholdStopper",
    "TimerCallback",
    "VerboseCallback",
    "check_callback",
]

Callback = Callable[[OptimizeResult], Any]


def check_callback(callback: Callback | list[Callback] | None) -> list[Callback]:
    """A callback, several or none as a list."""
    if callback is None:
        return []
    if callable(callback):
        return [callback]
    if isinstance(callback, (list, tuple)) and all(map(callable, callback)):
        return list(callback)
    raise ValueError(f"callback must be a function or a list of functions, got {callback!r}")


class VerboseCallback:
    """Prints the progress of the search.

    Args:
        n_total: How many calls are planned.
        n_init: How many of them are at points that the user gave.
        n_random: How many after these are spread over the space.
    """

    def __init__(self, n_total: int, n_init: int = 0, n_random: int = 0) -> None:
        self.n_total, self.n_init, self.n_random = n_total, n_init, n_random
        #: The number of the current call.
        self.iter_no = 1
        self._start()

    def _start(self) -> None:
        self._began = time.monotonic()
        print(f"Iteration No: {self.iter_no} started. {self._what()}")

    def _what(self) -> str:
        if self.iter_no <= self.n_init:
            return "Evaluating function at provided point."
        is_random = self.iter_no <= self.n_init + self.n_random
        return "Evaluating function at random point." if is_random else "Searching for the next optimal point."

    def __call__(self, res: OptimizeResult) -> None:
        print(f"Iteration No: {self.iter_no} ended. {self._what()}")
        print(f"Time taken: {time.monotonic() - self._began:.4f}")
        print(f"Function value obtained: {res.func_vals[-1]:.4f}")
        print(f"Current minimum: {res.fun:.4f}")
        self.iter_no += 1
        if self.iter_no <= self.n_total:
            self._start()


class TimerCallback:
    """Records the time of each iteration, in seconds, in `iter_time`."""

    def __init__(self) -> None:
        self._last = time.monotonic()
        self.iter_time: list[float] = []

    def __call__(self, res: OptimizeResult) -> None:
        now = time.monotonic()
        self.iter_time.append(now - self._last)
        self._last = now


class EarlyStopper:
    """Ends the search when `_criterion(result)`, which subclasses implement, returns true."""

    def __call__(self, result: OptimizeResult) -> bool | None:
        return self._criterion(result)

    def _criterion(self, result: OptimizeResult) -> bool | None:
        raise NotImplementedError("a subclass of EarlyStopper needs a method _criterion(result)")


class DeltaXStopper(EarlyStopper):
    """Ends the search when the last two points are less than `delta` apart."""

    def __init__(self, delta: float) -> None:
        self.delta = delta

    def _criterion(self, result: OptimizeResult) -> bool | None:
        if len(result.x_iters) < 2:
            return None
        return bool(result.space.distance(result.x_iters[-2], result.x_iters[-1]) < self.delta)


class DeltaYStopper(EarlyStopper):
    """Ends the search when the `n_best` lowest values are less than `delta` apart."""

    def __init__(self, delta: float, n_best: int = 5) -> None:
        self.delta, self.n_best = delta, n_best

    def _criterion(self, result: OptimizeResult) -> bool | None:
        values = np.sort(result.func_vals[np.isfinite(result.func_vals)])
        return None if len(values) < self.n_best else bool(values[self.n_best - 1] - values[0] < self.delta)


class HollowIterationsStopper(EarlyStopper):
    """Ends the search when the last `n_iterations` improved the lowest value by `threshold` or less."""

    def __init__(self, n_iterations: int, threshold: float = 0) -> None:
        self.n_iterations, self.threshold = n_iterations, abs(threshold)

    def _criterion(self, result: OptimizeResult) -> bool:
        if len(result.func_vals) <= self.n_iterations:
            return False
        lowest = np.fmin.accumulate(result.func_vals)
        return bool(lowest[-self.n_iterations - 1] - lowest[-1] <= self.threshold)


class DeadlineStopper(EarlyStopper):
    """Ends the search when another iteration as long as the longest so far wouldn't end within `total_time` seconds."""

    def __init__(self, total_time: float) -> None:
        self._last = time.monotonic()
        self.iter_time: list[float] = []
        self.total_time = total_time

    def _criterion(self, result: OptimizeResult) -> bool | None:
        now = time.monotonic()
        self.iter_time.append(now - self._last)
        self._last = now
        return bool(self.total_time - sum(self.iter_time) <= max(self.iter_time)) if result.x_iters else None


class ThresholdStopper(EarlyStopper):
    """Ends the search when a value is at most `threshold`."""

    def __init__(self, threshold: float) -> None:
        self.threshold = threshold

    def _criterion(self, result: OptimizeResult) -> bool:
        return bool(np.any(result.func_vals <= self.threshold))


class StdStopper(EarlyStopper):
    """Ends the search when the model's standard deviation at the best point is at most `threshold`.

    scikit-optimize looks at the spread of the values that its Gaussian process was fitted to, which says nothing of the model.
    """

    def __init__(self, threshold: float, log_interval: int = 10) -> None:
        self.threshold, self.log_interval = threshold, log_interval

    def _criterion(self, result: OptimizeResult) -> bool:
        if not result.models:
            return False
        std = float(result.models[-1].at([result.x])[0, 1])
        if len(result.models) % self.log_interval == 0:
            print(f"num_models: {len(result.models)} std: {std}")
        return std <= self.threshold


class CheckpointSaver:
    """Saves the results after each iteration; `load` returns them as the arguments `x0` and `y0` of a search that continues.

    Args:
        checkpoint_path: The file.
        dump_options: As of `optimist.skopt.dump`, such as `compress=9` or `store_objective=False`.
    """

    def __init__(self, checkpoint_path: str | os.PathLike[str], **dump_options: Any) -> None:
        self.checkpoint_path, self.dump_options = checkpoint_path, dump_options

    def __call__(self, res: OptimizeResult) -> None:
        dump(res, self.checkpoint_path, **self.dump_options)

    def load(self) -> dict[str, Any]:
        """The trials saved before as a dictionary, which is empty if there is no file yet."""
        if not os.path.exists(self.checkpoint_path):
            return {}
        result = load(self.checkpoint_path)
        return {"x0": result.x_iters, "y0": result.func_vals}
