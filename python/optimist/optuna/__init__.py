"""GO-UCB in Optuna: a sampler, and an evaluator of importances. Needs Optuna 4.8 or later.

>>> from optimist.optuna import OptimistSampler
>>> sampler = OptimistSampler(n_trials=100, seed=0)
"""

try:
    import optuna  # noqa: F401
except ImportError:
    raise ImportError("optimist.optuna needs Optuna; install it with `pip install 'optimist[optuna]'`") from None

from ._importance import OptimistImportanceEvaluator
from ._sampler import OptimistSampler

__all__ = ["OptimistImportanceEvaluator", "OptimistSampler"]
