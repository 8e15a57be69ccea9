from __future__ import annotations


try:
    from optimist.optuna import OptimistSampler
except ImportError as error:
    raise ImportError(
        "This package needs Optimist; install it with `pip install 'optimist[optuna]'`."
    ) from error


__all__ = ["OptimistSampler"]
