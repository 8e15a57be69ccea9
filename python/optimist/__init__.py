"""Finds the best input of an expensive, noisy black-box function in few trials.

>>> import optimist as op
>>> space = {"lr": op.Float(1e-5, 1, log=True), "depth": op.Int(1, 12), "solver": ["sgd", "adam"],
...          "momentum": op.Float(0, 0.99, when={"solver": "sgd"})}
>>> def train(lr, depth, solver, momentum=None):
...     return (lr - 0.01) ** 2 + 0.1 * (depth - 6) ** 2 + (solver == "sgd")
>>> best = op.minimize(train, space, trials=20, seed=0)
>>> best.params["solver"]
'adam'
"""


def _refuse_subinterpreters() -> None:
    """The extension has one state per process, so only one interpreter can use it."""
    for name in ("_interpreters", "_xxsubinterpreters"):  # Python 3.13, and before
        try:
            interpreters = __import__(name)
        except ImportError:
            continue
        if interpreters.get_current() != interpreters.get_main():
            raise ImportError("optimist does not work in a subinterpreter; import it in the main one, or in another process")
        return


_refuse_subinterpreters()

from ._native import __version__  # noqa: E402

TYPE_CHECKING = False  # type checkers take it as true; `typing` itself takes 5 ms to load

if TYPE_CHECKING:
    from ._errors import (
        Failed,
        InternalError,
        NotFoundError,
        OptimistError,
        Retry,
        ReturnTypeError,
        SpaceError,
        StorageError,
        StudyError,
    )
    from ._executors import dask as dask
    from ._minimize import maximize, minimize
    from ._optimizer import Optimizer, Recommendation
    from ._outcomes import AtLeast, AtMost, Maximize, Minimize
    from ._plot import Plot
    from ._policy import Family, GoUcb
    from ._space import Bool, Choice, Float, Int, Space
    from ._study import Study, studies
    from ._trial import Best, Expected, Front, FrontPoint, Trial, Verification
    from .ray import CallableModule

    ray: CallableModule

__all__ = [
    "AtLeast",
    "AtMost",
    "Best",
    "Bool",
    "Choice",
    "Expected",
    "Failed",
    "Family",
    "Float",
    "Front",
    "FrontPoint",
    "GoUcb",
    "Int",
    "InternalError",
    "Maximize",
    "Minimize",
    "NotFoundError",
    "OptimistError",
    "Optimizer",
    "Plot",
    "Recommendation",
    "Retry",
    "ReturnTypeError",
    "Space",
    "SpaceError",
    "StorageError",
    "Study",
    "StudyError",
    "Trial",
    "Verification",
    "__version__",
    "maximize",
    "minimize",
    "studies",
]

#: Where each name is defined. A module is loaded when it's first needed, to keep the import fast.
_PLACES = {
    "_errors": (
        "Failed",
        "InternalError",
        "NotFoundError",
        "OptimistError",
        "Retry",
        "ReturnTypeError",
        "SpaceError",
        "StorageError",
        "StudyError",
    ),
    "_executors": ("dask",),
    "_minimize": ("maximize", "minimize"),
    "_optimizer": ("Optimizer", "Recommendation"),
    "_outcomes": ("AtLeast", "AtMost", "Maximize", "Minimize"),
    "_plot": ("Plot",),
    "_policy": ("Family", "GoUcb"),
    "_space": ("Bool", "Choice", "Float", "Int", "Space"),
    "_study": ("Study", "studies"),
    "_trial": ("Best", "Expected", "Front", "FrontPoint", "Trial", "Verification"),
}


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name == "ray":
        return import_module(".ray", __name__)
    for place, names in _PLACES.items():
        if name in names:
            found: object = getattr(import_module(f".{place}", __name__), name)
            globals()[name] = found
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
