"""scikit-optimize's names on Optimist's engine: change `skopt` to `optimist.skopt` in an import, and the script keeps working.

`gp_minimize`, `forest_minimize`, `gbrt_minimize` and `Optimizer` all search with GO-UCB. You don't need scikit-optimize for it,
only numpy and scipy.

>>> from optimist.skopt import gp_minimize
>>> gp_minimize(lambda x: (x[0] - 0.3) ** 2, [(-1.0, 1.0)], n_calls=12, random_state=0).fun < 0.01
True
"""

import sys
from typing import TYPE_CHECKING, Any

try:
    import numpy as _numpy  # noqa: F401
    import scipy as _scipy  # noqa: F401
except ImportError as _error:
    from .._packages import missing as _missing

    raise _missing("optimist.skopt", str(_error.name), "optimist[skopt]") from _error

from . import callbacks, optimizer, space, utils
from ._minimize import dummy_minimize, forest_minimize, gbrt_minimize, gp_minimize
from ._result import OptimizeResult
from .optimizer import Optimizer
from .space import Space
from .utils import dump, expected_minimum, expected_minimum_random_sampling, load

#: Where scikit-optimize has these classes, and where some scripts import them from.
sys.modules |= {f"{__name__}.space.space": space, f"{__name__}.optimizer.optimizer": optimizer}

if TYPE_CHECKING:
    from ..sklearn import BayesSearchCV
    from . import plots

__all__ = [
    "BayesSearchCV",
    "OptimizeResult",
    "Optimizer",
    "Space",
    "callbacks",
    "dummy_minimize",
    "dump",
    "expected_minimum",
    "expected_minimum_random_sampling",
    "forest_minimize",
    "gbrt_minimize",
    "gp_minimize",
    "load",
    "optimizer",
    "plots",
    "space",
    "utils",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "BayesSearchCV":
        return import_module("optimist.sklearn").BayesSearchCV  # scikit-learn is large
    if name in ("plots", "benchmarks", "acquisition", "learning", "sampler", "searchcv"):
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
