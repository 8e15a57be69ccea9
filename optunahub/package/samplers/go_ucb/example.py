from __future__ import annotations

import math

import optuna
import optunahub


def objective(trial: optuna.Trial) -> float:
    rate = trial.suggest_float("rate", 1e-5, 1, log=True)
    solver = trial.suggest_categorical("solver", ["sgd", "adam"])
    loss = (math.log10(rate) + 2) ** 2 + (solver == "sgd")
    if solver == "sgd":
        loss += (trial.suggest_float("momentum", 0, 0.99) - 0.9) ** 2
    return loss


if __name__ == "__main__":
    OptimistSampler = optunahub.load_module("samplers/go_ucb").OptimistSampler
    study = optuna.create_study(sampler=OptimistSampler(n_trials=50, seed=0))
    study.optimize(objective, n_trials=50)
    print(study.best_params, study.best_value)
