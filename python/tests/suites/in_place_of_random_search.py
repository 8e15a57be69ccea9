"""A plugin of pytest: `OptimistSearchCV` takes the place of `RandomizedSearchCV` before tests of scikit-learn are collected."""

import sklearn.model_selection
import sklearn.model_selection._search

from optimist.sklearn import OptimistSearchCV

sklearn.model_selection.RandomizedSearchCV = OptimistSearchCV
sklearn.model_selection._search.RandomizedSearchCV = OptimistSearchCV
