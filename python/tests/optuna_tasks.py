"""Objectives of Optuna on which samplers are compared, each with a value that is good: random search takes hundreds of trials."""

import math
from collections.abc import Callable

import optuna


def branin(trial: optuna.Trial) -> float:
    a, b = trial.suggest_float("a", -5, 10), trial.suggest_float("b", 0, 15)
    return (b - 5.1 / (4 * math.pi**2) * a * a + 5 / math.pi * a - 6) ** 2 + 10 * (1 - 1 / (8 * math.pi)) * math.cos(a) + 10


SLOPES = [[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]]
CENTRES = [
    [0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886],
    [0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991],
    [0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650],
    [0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381],
]


def hartmann(trial: optuna.Trial) -> float:
    x = [trial.suggest_float(f"x{i}", 0, 1) for i in range(6)]
    away = [
        sum(a * (one - p) ** 2 for a, one, p in zip(slopes, x, centre, strict=True))
        for slopes, centre in zip(SLOPES, CENTRES, strict=True)
    ]
    return -sum(height * math.exp(-one) for height, one in zip([1, 1.2, 3, 3.2], away, strict=True))


def rosenbrock(trial: optuna.Trial) -> float:
    x = [trial.suggest_float(f"x{i}", -2, 2) for i in range(4)]
    return sum(100 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2 for i in range(3))


def network(trial: optuna.Trial) -> float:
    rate, decay = trial.suggest_float("rate", 1e-6, 1, log=True), trial.suggest_float("decay", 1e-6, 1e-1, log=True)
    depth, activation = trial.suggest_int("depth", 1, 12), trial.suggest_categorical("activation", ["relu", "tanh", "gelu"])
    extra = {"relu": 0.2, "tanh": 0.5, "gelu": 0.0}[activation]
    return 0.3 * (math.log10(rate) + 2.5) ** 2 + 0.02 * (depth - 7) ** 2 + 0.05 * (math.log10(decay) + 4) ** 2 + extra


def models(trial: optuna.Trial) -> float:
    """Each model has parameters of its own."""
    model = trial.suggest_categorical("model", ["svm", "forest", "network"])
    if model == "svm":
        c, gamma = trial.suggest_float("c", 1e-4, 1e4, log=True), trial.suggest_float("gamma", 1e-6, 1e2, log=True)
        return 0.1 + 0.02 * (math.log10(c) - 2) ** 2 + 0.02 * (math.log10(gamma) + 3) ** 2
    if model == "forest":
        trees, leaf = trial.suggest_int("trees", 10, 500, log=True), trial.suggest_int("leaf", 1, 50)
        return 0.2 + 0.05 * abs(math.log(trees / 200)) + 0.003 * leaf
    layers, rate = trial.suggest_int("layers", 1, 4), trial.suggest_float("rate", 1e-5, 1, log=True)
    drop = trial.suggest_float("drop", 0, 0.9, step=0.1)
    return 0.05 + 0.04 * (math.log10(rate) + 3) ** 2 + 0.03 * abs(layers - 2) + 0.2 * (drop - 0.3) ** 2


Objective = Callable[[optuna.Trial], float]
#: Objectives, to be minimised, and values that are good.
TASKS: dict[str, tuple[Objective, float]] = {
    "branin": (branin, 0.45),  # 0.398 at best
    "hartmann": (hartmann, -3.0),  # -3.322
    "rosenbrock": (rosenbrock, 10.0),  # 0
    "network": (network, 0.05),  # 0
    "models": (models, 0.055),  # 0.05
}


def trials_to(target: float, objective: Objective, sampler: optuna.samplers.BaseSampler, n_trials: int = 100) -> int:
    """How many trials a sampler takes to a good value; `n_trials` if it doesn't get there."""
    study = optuna.create_study(sampler=sampler)

    def stop(study: optuna.Study, _: optuna.trial.FrozenTrial) -> None:
        if study.best_value <= target:
            study.stop()

    study.optimize(objective, n_trials=n_trials, callbacks=[stop])
    return len(study.trials)
