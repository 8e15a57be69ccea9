"""Cross-validated search for scikit-learn, with GO-UCB.

`OptimistSearchCV` replaces `RandomizedSearchCV` and scikit-optimize's `BayesSearchCV`; it takes the arguments of both.

>>> from scipy.stats import loguniform
>>> from sklearn.datasets import load_iris
>>> from sklearn.svm import SVC
>>> from optimist.sklearn import OptimistSearchCV
>>> search = OptimistSearchCV(SVC(), {"C": loguniform(1e-3, 1e3), "gamma": loguniform(1e-4, 1e1)}, n_iter=15, random_state=0)
>>> bool(search.fit(*load_iris(return_X_y=True)).best_score_ > 0.97)
True
"""

try:
    import sklearn as _sklearn  # noqa: F401
except ImportError as _error:
    from .._packages import missing as _missing

    raise _missing("optimist.sklearn", "scikit-learn", "optimist[sklearn]") from _error

from ._search import BayesSearchCV, OptimistSearchCV

__all__ = ["BayesSearchCV", "OptimistSearchCV"]
