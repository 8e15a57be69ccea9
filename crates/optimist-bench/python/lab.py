"""Laboratory data sets as functions: emulators fitted to them, and the nearest measured point. `lab.py` alone prints how well the
emulators fit.

The data are those of the PyPI package `olymp` (Olympus, Häse et al. 2021), of which only the files are read. Inputs are scaled to
the unit cube by their smallest and largest values. The objective is turned so that it is maximised, and scaled so that the function
goes from 0 to 1.
"""

import importlib.util
import json
import os
import pickle
import sys
import tempfile
from functools import lru_cache
from pathlib import Path

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.neural_network import MLPRegressor

# Which emulator predicts held-out measurements best, as `lab.py` has found.
EMULATORS = {
    "alkox": "gp",
    "benzylation": "gp",
    "colors_bob": "gp",
    "colors_n9": "gp",
    "fullerenes": "gp",
    "hplc": "gp",
    "photo_pce10": "trees",
    "photo_wf3": "trees",
    "snar": "network",
    "suzuki": "gp",
}
MINIMISED = {"benzylation", "colors_bob", "colors_n9", "photo_pce10", "photo_wf3", "snar"}
MIXTURES = {"photo_pce10", "photo_wf3"}  # shares that add up to 1
SAMPLE = 20_000  # points among which the emulator's extremes are looked for


def lab(lab, version, **inputs):
    """The value of a data set at a point of the unit cube, from 0 to 1."""
    x = np.array(list(inputs.values()))
    if lab in MIXTURES:
        x = x / x.sum() if x.sum() > 0 else np.full(len(x), 1 / len(x))
    if version == "pool":
        points, values = data(lab)
        return float(scaled(values[np.argmin(((points - x) ** 2).sum(axis=1))], values))
    model, low, high = emulator(lab)
    value = model.predict(x[None])[0]
    return float(np.clip((value - low) / (high - low), 0, 1))


def scaled(value, values):
    return (value - values.min()) / (values.max() - values.min())


@lru_cache
def data(name):
    """Inputs in the unit cube, and standardised values to be maximised: means over repeated measurements."""
    package = Path(importlib.util.find_spec("olympus").origin).parent
    table = np.loadtxt(package / "datasets" / f"dataset_{name}" / "data.csv", delimiter=",")
    x, y = table[:, :-1], table[:, -1] * (-1 if name in MINIMISED else 1)
    if name not in MIXTURES:
        x = (x - x.min(axis=0)) / (x.max(axis=0) - x.min(axis=0))
    points, which = np.unique(x, axis=0, return_inverse=True)
    values = np.bincount(which.ravel(), weights=y) / np.bincount(which.ravel())
    return points, (values - values.mean()) / values.std()


def models(d):
    kernel = ConstantKernel(1.0) * Matern(np.ones(d), (0.05, 20), nu=2.5) + WhiteKernel(0.05, (1e-6, 1.0))
    return {
        "gp": GaussianProcessRegressor(kernel, normalize_y=True, random_state=0),
        "trees": ExtraTreesRegressor(100, min_samples_leaf=2, random_state=0),
        "network": MLPRegressor(hidden_layer_sizes=(32, 32), alpha=1e-2, solver="lbfgs", max_iter=1000, random_state=0),
    }


@lru_cache
def emulator(name):
    """The fitted model with its smallest and largest values; kept beside the packages, since a fit takes seconds."""
    path = Path(sys.prefix) / "optimist-lab" / f"{name}.pickle"
    if path.exists():
        return pickle.loads(path.read_bytes())
    x, y = data(name)
    model = models(x.shape[1])[EMULATORS[name]].fit(x, y)
    found = model, *extremes(model, x, name in MIXTURES)
    path.parent.mkdir(exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(pickle.dumps(found))
    os.replace(file.name, path)
    return found


def extremes(model, x, is_mixture):
    """The smallest and the largest value, found from a sample, the corners and the data, then by smaller and smaller steps."""
    rng, d = np.random.default_rng(0), x.shape[1]
    corners = np.array(np.meshgrid(*[[0.0, 1.0]] * d)).reshape(d, -1).T
    mixed = lambda points: points / points.sum(axis=1, keepdims=True) if is_mixture else points
    points = np.vstack([mixed(rng.random((SAMPLE, d))), mixed(corners[1:]), x])
    found = []
    for sign in (-1, 1):
        best = points[np.argmax(sign * model.predict(points))]
        for step in np.repeat([0.1, 0.03, 0.01, 0.003, 0.001], 4):
            near = mixed(np.clip(best + step * rng.standard_normal((200, d)), 0, 1))
            near = np.vstack([best, near])
            best = near[np.argmax(sign * model.predict(near))]
        found.append(model.predict(best[None])[0])
    return found


def main():
    for name in EMULATORS:
        x, y = data(name)
        folds = KFold(5, shuffle=True, random_state=0)
        r2 = {
            kind: 1 - np.mean((cross_val_predict(model, x, y, cv=folds) - y) ** 2)
            for kind, model in models(x.shape[1]).items()
        }
        best = max(r2, key=r2.get)
        low, high = extremes(models(x.shape[1])[best].fit(x, y), x, name in MIXTURES)
        print(json.dumps({
            "data": name, "points": len(y), "d": x.shape[1], "best": best,
            **{kind: round(value, 2) for kind, value in r2.items()},
            "noise": round(0.1 / (high - low), 4), "pool noise": round(0.1 / (y.max() - y.min()), 4),
        }), flush=True)


if __name__ == "__main__" and sys.argv[0].endswith("lab.py"):
    main()
