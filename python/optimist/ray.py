"""Ray: `op.ray(…)` runs the trials of a study as Ray tasks, and :class:`OptimistSearch` is a searcher for Ray Tune.

The module itself is what one calls, so that `op.ray(num_cpus=2)` and `from optimist.ray import OptimistSearch` both hold. Ray is
imported when one of them is used.
"""

from __future__ import annotations

import sys
from concurrent.futures import Executor
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._ray_search import OptimistSearch as OptimistSearch

__all__ = ["OptimistSearch"]


class CallableModule(ModuleType):
    """A module that is an executor's maker when it is called."""

    def __call__(self, *, workers: int | None = None, **options: Any) -> Executor:
        """An executor that runs each trial as a Ray task: `study.run(objective, executor=op.ray(num_cpus=2))`.

        A trial whose node or process dies is put back and run again elsewhere, up to the study's `max_attempts`. Optimist must be
        installed on every node. If Ray has not been started here, `ray.init()` finds the cluster or starts one on this machine.

        Args:
            workers: How many trials to run at the same time; by default, as many as the cluster has room for now.
            options: What each trial needs, as `ray.remote` takes it: `num_cpus`, `num_gpus`, `memory`, `resources`,
                `runtime_env`, `scheduling_strategy`, …
        """
        from ._executors import RayExecutor

        return RayExecutor(workers, options)


sys.modules[__name__].__class__ = CallableModule


def __getattr__(name: str) -> Any:
    if name == "OptimistSearch":
        return import_module("._ray_search", __package__).OptimistSearch
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
