"""Ray: `op.ray(…)` runs the trials of a study as Ray tasks, and `OptimistSearch` is a searcher for Ray Tune.

The module itself is callable, so that `op.ray(num_cpus=2)` and `from optimist.ray import OptimistSearch` both work. Ray is
imported when you use one of them.
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
    """A module that returns an executor when it's called."""

    def __call__(self, *, workers: int | None = None, **options: Any) -> Executor:
        """Returns an executor that runs each trial as a Ray task: `study.run(objective, executor=op.ray(num_cpus=2))`.

        If a node or a process dies, its trials are put back and run again elsewhere, up to the study's `max_attempts` times.
        Optimist must be installed on every node. If you haven't called `ray.init()`, it's called here: it connects to the
        cluster, or starts Ray on this machine.

        Args:
            workers: How many trials run at the same time; by default, as many as the cluster has room for now.
            options: What each trial needs, as for `ray.remote`: `num_cpus`, `num_gpus`, `memory`, `resources`,
                `runtime_env`, `scheduling_strategy`, …
        """
        from ._executors import RayExecutor

        return RayExecutor(workers, options)


sys.modules[__name__].__class__ = CallableModule


def __getattr__(name: str) -> Any:
    if name == "OptimistSearch":
        return import_module("._ray_search", __package__).OptimistSearch
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
