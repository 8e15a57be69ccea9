"""The search for scikit-learn, as in `skopt.searchcv`."""

from ..sklearn import BayesSearchCV

__all__ = ["BayesSearchCV"]
