"""GO-UCB for Optuna: a sampler and an importance evaluator. Needs Optuna 4.8 or later.

>>> from optimist.optuna import OptimistSampler
>>> sampler = OptimistSampler(n_trials=100, seed=0)
"""

try:
    import optuna  # noqa: F401
except ImportError as _error:
    from .._packages import missing as _missing

    raise _missing("optimist.optuna", "Optuna", "optimist[optuna]") from _error

from ._importance import OptimistImportanceEvaluator
from ._sampler import OptimistSampler

__all__ = ["OptimistImportanceEvaluator", "OptimistSampler"]
