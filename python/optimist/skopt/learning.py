"""No counterpart of `skopt.learning`: what's imported from here raises an error when it's called, and says what to use."""

import sys
from typing import Any

from ._missing import placeholder

ADVICE = "the engine has a model of its own; leave base_estimator out, or give it op.GoUcb(family=op.Family(…))"

#: Where scikit-optimize has its kernels.
sys.modules |= dict.fromkeys((f"{__name__}.gaussian_process", f"{__name__}.gaussian_process.kernels"), sys.modules[__name__])


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return placeholder("learning", name, ADVICE)
