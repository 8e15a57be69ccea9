"""Makes fixtures/optuna.db, an Optuna database as a user would have it, for the tests of `optimist import`.

    python crates/optimist-study/tests/make_optuna_fixture.py

Optuna 5.0.0 made the one that is kept here.
"""

import pathlib

import optuna

FILE = pathlib.Path(__file__).parent / "fixtures" / "optuna.db"


def objective(trial):
    rate = trial.suggest_float("rate", 1e-5, 1.0, log=True)
    drop = trial.suggest_float("drop", 0.0, 0.5, step=0.1)
    depth = trial.suggest_int("depth", 1, 9, step=2)
    units = trial.suggest_int("units", 4, 256, log=True)
    nesterov = trial.suggest_categorical("nesterov", [True, False])
    kind = trial.suggest_categorical("kind", ["relu", "tanh", None])
    slope = trial.suggest_float("slope", -1.0, 1.0) if kind == "relu" else 0.0
    if trial.number == 3:
        raise optuna.TrialPruned()
    if trial.number == 5:
        raise RuntimeError("out of memory")
    if trial.number == 7:
        return float("inf")
    return rate + drop + depth + units / 256 + nesterov + slope


FILE.parent.mkdir(exist_ok=True)
FILE.unlink(missing_ok=True)
storage = f"sqlite:///{FILE}"
sampler = optuna.samplers.RandomSampler(seed=0)
study = optuna.create_study(study_name="tune", direction="minimize", storage=storage, sampler=sampler)
study.optimize(objective, n_trials=16, catch=(RuntimeError,))
study.ask()  # a trial that never ended
other = optuna.create_study(study_name="other", direction="maximize", storage=storage, sampler=sampler)
other.optimize(lambda trial: trial.suggest_float("x", 0.0, 1.0), n_trials=2)
optuna.create_study(study_name="two", directions=["minimize", "maximize"], storage=storage)
