"""Define-by-run: the space is learnt from the calls."""

import copy
from pathlib import Path

import pytest

import optimist as op


def train(trial: op.Trial) -> float:
    lr = trial.float("lr", 1e-5, 1, log=True)
    depth = trial.int("depth", 1, 12)
    loss = (lr - 0.01) ** 2 + 0.05 * (depth - 6) ** 2
    if trial.choice("solver", ["sgd", "adam"]) == "sgd":
        loss += 0.3 + (trial.float("momentum", 0, 0.99) - 0.9) ** 2
    return loss + 0.1 * trial.bool("verbose")


def test_the_space_is_learnt_conditions_included() -> None:
    study = op.Study("net", direction="minimize", trials=40, seed=3).run(train)
    assert study.space.parameters == {
        "lr": op.Float(1e-5, 1, log=True),
        "depth": op.Int(1, 12),
        "solver": op.Choice(["sgd", "adam"]),
        "momentum": op.Float(0, 0.99, when={"solver": "sgd"}),
        "verbose": op.Bool(),
    }
    assert len(study) == 40 and [trial.number for trial in study.trials] == list(range(40))
    assert study.best.value < 0.3 and study.best.params["solver"] == "adam"
    for trial in study.trials:
        assert ("momentum" in trial.params) == (trial["solver"] == "sgd")
        assert trial.value == pytest.approx(train(copy.replace(trial) if hasattr(copy, "replace") else trial))


def test_the_same_seed_gives_the_same_trials() -> None:
    def values(seed: int) -> list[float | None]:
        return [trial.value for trial in op.Study("s", direction="minimize", trials=15, seed=seed).run(train).trials]

    assert values(1) == values(1) != values(2)


def test_workers_share_what_is_learnt() -> None:
    best = op.minimize(train, trials=30, workers=3)
    assert len(best.study) == 30 and best.study.space.parameters["momentum"].when == {"solver": "sgd"}


def test_a_range_that_changes_is_an_error_that_says_what_to_do() -> None:
    def objective(trial: op.Trial) -> float:
        return trial.float("x", 0, 1 + trial.number)

    study = op.Study("s", direction="minimize", trials=10)
    with pytest.raises(ValueError, match="declare it the same way in every trial"):
        study.run(objective)
    assert [trial.state for trial in study.trials] == ["complete", "failed"]
    with pytest.raises(ValueError, match="swap the bounds"):
        op.minimize(lambda trial: trial.float("x", 1, 0), trials=3)
    with pytest.raises(ZeroDivisionError):
        op.minimize(lambda trial: 1 / 0, trials=3)
    with pytest.raises(ValueError, match="declared no parameter"):
        op.minimize(lambda trial: 1.0, trials=3)


class Model:
    """Like an estimator of scikit-learn: each one is equal to no other, and named by how it was made."""

    def __init__(self, depth: int) -> None:
        self.depth = depth

    def __repr__(self) -> str:
        return f"Model({self.depth})"


def test_options_may_be_new_objects_in_every_trial() -> None:
    def objective(trial: op.Trial) -> float:
        models = [Model(1), Model(2)]
        model = trial.choice("model", models)
        assert model in models and trial.choice("model", models) is model is trial["model"], "one of those passed"
        return model.depth + (trial.float("x", 0, 1) if model.depth == 2 else 0)

    study = op.Study("s", direction="minimize", trials=12).run(objective)
    assert [trial.state for trial in study.trials] == ["complete"] * 12
    assert {repr(trial["model"]) for trial in study.trials} == {"Model(1)", "Model(2)"}
    assert list(study.space.parameters["x"].when) == ["model"]  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="declare it the same way in every trial"):
        study.ask().choice("model", [Model(3)])


def test_a_parameter_of_several_branches_is_always_there() -> None:
    def objective(trial: op.Trial) -> float:
        layers = trial.int("layers", 1, 3)
        return sum(trial.int(f"units{i}", 1, 9) for i in range(layers))

    study = op.Study("s", direction="minimize", trials=25).run(objective)
    assert study.space.parameters["units0"] == op.Int(1, 9)
    assert study.best.params["layers"] == 1


def test_failures_exceptions_and_copies_are_as_in_other_studies() -> None:
    def objective(trial: op.Trial) -> float:
        x = trial.float("x", -1, 1)
        if x < -0.5:
            raise ValueError("too cold")
        return x

    study = op.Study("s", direction="minimize", trials=15).run(objective)
    assert {trial.state for trial in study.trials} == {"complete", "failed"}
    again = copy.deepcopy(study)
    again.run(objective, trials=1)
    trial = again.ask()
    again.tell(trial, trial.float("x", -1, 1))
    assert len(again) == 16 and len(study) == 15


def test_ask_and_tell_work_without_a_space() -> None:
    study = op.Study("s", direction="maximize", trials=20)
    for _ in range(20):
        with study.trial() as trial:
            trial.tell(-abs(trial.float("x", 0, 4) - 1))
    assert abs(study.best.params["x"] - 1) < 0.1
    stored = op.Study("t", study.space, direction="maximize")
    assert stored.run(lambda trial: trial.float("x", 0, 4), trials=3).verify()


def test_a_study_with_a_space_wants_the_same_declarations(database: Path) -> None:
    study = op.Study("s", direction="minimize", trials=8).run(models)
    stored = op.Study("t", study.space, direction="minimize", storage=database)
    assert stored.run(models, trials=3).verify()
    loaded = op.Study.load("t", storage=database)
    assert loaded.run(models, trials=2).verify(), "its options have names only; the objective has the objects"
    with pytest.raises(ValueError, match=r"study `t` has parameter `n` as Int\(low=1, high=3.* now it's Int\(low=1, high=9"):
        loaded.run(lambda trial: trial.int("n", 1, 9))


def models(trial: op.Trial) -> float:
    return trial.choice("model", [Model(1), Model(2)]).depth + trial.int("n", 1, 3)  # type: ignore[no-any-return]


def test_a_point_of_your_own_needs_no_value_that_nobody_looks_at() -> None:
    def objective(trial: op.Trial) -> float:
        layers = trial.int("layers", 1, 3)
        return sum(trial.int(f"units{i}", 1, 9) for i in range(layers))

    study = op.Study("s", direction="minimize", trials=25).run(objective, trials=20)
    assert not study.space.parameters["units1"].when, "trials with 2 and 3 layers have it"
    study.enqueue({"layers": 1, "units0": 7})
    assert study.run(objective, trials=1).trials[20].value == 7
    with pytest.raises(ValueError, match="parameter `units0`: 10 is outside its range"):
        study.enqueue({"layers": 1, "units0": 10})


def test_a_study_without_a_space_lives_in_memory() -> None:
    with pytest.raises(ValueError, match=r"store it with op.Study\(name, study.space, storage=…\)"):
        op.Study("s", direction="minimize", storage="x.db")
    with pytest.raises(ValueError, match="call `run` first"):
        op.Study("s", direction="minimize").enqueue({"x": 1})
