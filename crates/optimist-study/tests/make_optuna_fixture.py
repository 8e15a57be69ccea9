"""Makes an Optuna database as a user would have it, for the tests of `optimist import`.

    python crates/optimist-study/tests/make_optuna_fixture.py FILE

With each version of Optuna that can be imported, `scripts/make-fixtures` makes one in `fixtures/`: optuna-3.db, optuna-4.db
and optuna.db (version 5). The trials are the same in all, as far as the samplers of the versions draw the same.
"""

import pathlib
import sqlite3
import sys

import optuna

FILE = pathlib.Path(sys.argv[1])


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


FILE.unlink(missing_ok=True)
storage = f"sqlite:///{FILE}"
sampler = optuna.samplers.RandomSampler(seed=0)
study = optuna.create_study(study_name="tune", direction="minimize", storage=storage, sampler=sampler)
study.optimize(objective, n_trials=16, catch=(RuntimeError,))
study.ask()  # a trial that never ended
other = optuna.create_study(study_name="other", direction="maximize", storage=storage, sampler=sampler)
other.optimize(lambda trial: trial.suggest_float("x", 0.0, 1.0), n_trials=2)


def trade(trial):
    """Two objectives and a constraint: with its name since version 5, and as a list before."""
    x = trial.suggest_float("x", 0.0, 1.0)
    if hasattr(trial, "set_constraint"):
        trial.set_constraint("heat", x - 0.75)
    trial.set_user_attr("constraints", [x - 0.75])
    if trial.number == 2:
        raise RuntimeError("out of memory")
    return x, x - x**2


if hasattr(optuna.trial.Trial, "set_constraint"):
    sampler = optuna.samplers.NSGAIISampler(seed=0)
else:
    sampler = optuna.samplers.NSGAIISampler(seed=0, constraints_func=lambda trial: trial.user_attrs["constraints"])
goals = optuna.create_study(study_name="trade", directions=["minimize", "maximize"], storage=storage, sampler=sampler)
goals.set_metric_names(["cost", "gain"])
goals.optimize(trade, n_trials=6, catch=(RuntimeError,))
optuna.create_study(study_name="two", directions=["minimize", "maximize"], storage=storage)

# Small pages: most tables are all but empty.
with sqlite3.connect(FILE) as database:
    database.execute("PRAGMA page_size = 512")
    database.execute("VACUUM")
