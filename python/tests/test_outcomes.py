"""Studies of several outcomes."""

import math
import pickle
from pathlib import Path
from typing import Any

import pytest

import optimist as op

SPACE = {"x": (0.0, 1.0)}
NET = {"accuracy": "maximize", "latency_ms": op.Minimize(reference=50), "memory_gb": op.AtMost(8)}


def net(**more: Any) -> op.Study:
    return op.Study("net", SPACE, outcomes=NET, optimizer="sobol", trials=8, **more)


def told(study: op.Study, *rows: tuple[float, float, float]) -> op.Study:
    for values in rows:
        study.tell(study.ask(), dict(zip(study.outcomes, values, strict=True)))
    return study


ROWS = [(0.9, 12.0, 6.0), (0.8, 10.0, 6.0), (0.7, 11.0, 6.0), (0.99, 1.0, 9.0)]


def test_outcomes_are_what_was_asked_for() -> None:
    study = net()
    assert study.outcomes == {"accuracy": op.Maximize(), "latency_ms": op.Minimize(50.0), "memory_gb": op.AtMost(8.0)}
    assert op.Study("one", SPACE, direction="minimize").outcomes == {"value": op.Minimize()}
    with pytest.raises(op.StudyError, match="each with its own direction"):
        study.direction  # noqa: B018
    copy = pickle.loads(pickle.dumps(told(study, *ROWS)))
    assert [trial.values for trial in copy.trials] == [trial.values for trial in study.trials]


def test_what_cannot_be_meant_is_an_error() -> None:
    for outcomes, words in [
        ({"a": "best"}, "must be"),
        ({"a": op.AtMost(math.nan)}, "finite"),
        ({"a": op.Minimize(reference=1)}, "`reference` of outcome `a` has no effect"),
        ({"x": "minimize"}, "both a parameter and an outcome"),
        ({}, "at least one outcome"),
        ({f"o{i}": "minimize" for i in range(9)}, "at most 8"),
    ]:
        with pytest.raises(op.StudyError, match=words):
            op.Study("wrong", SPACE, outcomes=outcomes)  # type: ignore[arg-type]
    with pytest.raises(op.StudyError, match="not both"):
        op.Study("wrong", SPACE, direction="minimize", outcomes={"a": "minimize"})
    with pytest.raises(op.StudyError, match="direction must be"):
        op.Study("wrong", SPACE)
    with pytest.raises(op.StudyError, match="`target` needs a single goal"):
        net(target=3.0)


def test_telling_wants_every_outcome_and_names_what_is_wrong() -> None:
    study = net()
    trial = study.ask()
    for values, words in [
        ({"accuracy": 0.9}, "outcome `latency_ms` is missing"),
        ({"acuracy": 0.9, "latency_ms": 1, "memory_gb": 1}, "did you mean `accuracy`?"),
        ({"accuracy": math.inf, "latency_ms": 1, "memory_gb": 1}, "outcome `accuracy` must be a finite number"),
    ]:
        with pytest.raises(op.StudyError, match=words.replace("?", r"\?")):
            study.tell(trial, values)
    with pytest.raises(op.StudyError, match="named outcomes"):
        study.tell(trial, 0.9)
    with pytest.raises(op.ReturnTypeError, match="is the string"):
        study.tell(trial, {"accuracy": "high"})  # type: ignore[dict-item]
    with pytest.raises(op.ReturnTypeError, match="noise_std for `latency`"):
        study.tell(trial, {"accuracy": 0.9, "latency_ms": 1, "memory_gb": 1}, noise_std={"latency": 1})
    trial.tell({"memory_gb": 9, "accuracy": 0.9, "latency_ms": 1}, noise_std={"accuracy": 0.1}, note="warm")
    (known,) = study.trials
    assert (known.values, known.value) == ({"accuracy": 0.9, "latency_ms": 1.0, "memory_gb": 9.0}, None)
    assert (known.noise_std, known.feasible, known.note) == ({"accuracy": 0.1}, False, "warm")
    one = op.Study("one", SPACE, direction="minimize")
    with pytest.raises(op.StudyError, match="there is no outcome `loss`"):
        one.tell(one.ask(), {"loss": 1.0})


def test_the_front_has_values_a_knee_and_a_hypervolume() -> None:
    study = told(net(), *ROWS)
    front = study.front
    assert front is not None
    assert [point.trial for point in front] == [0, 1] and len(front) == 2
    assert front.points[0].values == {"accuracy": 0.9, "latency_ms": 12.0, "memory_gb": 6.0}
    assert front.points[0].feasible == 1.0 and front.knee.is_knee
    assert front.reference["latency_ms"] == 50
    assert front.hypervolume == pytest.approx((0.8 - 0.79) * 40 + (0.9 - 0.8) * 38)
    for ask in (lambda: study.best, lambda: study.best_trial, lambda: study.ranking(2)):
        with pytest.raises(op.StudyError, match=r"study\.front"):
            ask()
    assert study.show()["front"]["hypervolume"] == front.hypervolume
    with pytest.raises(op.StudyError, match=r"study\.best"):
        op.Study("one", SPACE, direction="minimize").front  # noqa: B018


def test_best_says_how_likely_it_is_feasible() -> None:
    study = op.Study("yield", SPACE, outcomes={"yield": "maximize", "impurity": op.AtMost(0.02)}, optimizer="sobol")
    study.tell(study.ask(), {"yield": 0.9, "impurity": 0.05})
    study.tell(study.ask(), {"yield": 0.7, "impurity": 0.01})
    best = study.best
    assert best is not None
    assert (best.trial, best.value, best.mean, best.feasible) == (1, 0.7, 0.7, 1.0)
    assert best.outcomes["impurity"] == op.Expected(0.01, 0.01, None)
    assert study.best_trial is not None and study.best_trial.number == 1
    only = op.Study("any", SPACE, outcomes={"impurity": op.AtMost(0.02)}, optimizer="sobol")
    only.tell(only.ask(), {"impurity": 0.01})
    assert only.best is not None and math.isnan(only.best.mean) and only.best.feasible == 1.0


def test_an_objective_returns_a_dictionary() -> None:
    def objective(trial: op.Trial) -> Any:
        x = trial["x"]
        values = {"accuracy": x, "latency_ms": 10 * x, "memory_gb": 4.0}
        answers: list[Any] = [
            values,
            {"values": values, "noise_std": 0.1},
            {**values, "noise_std": {"accuracy": 0.2}, "metrics": {"cost": 3}},
            {**values, "memory_gb": math.nan},
            {"accuracy": x, "latency_ms": None, "memory_gb": 4.0},
            {**values, "memroy_gb": 1},
        ]
        if trial.number == 6:
            raise op.Failed("out of memory", values={"memory_gb": 14.2})
        return answers[trial.number] if trial.number < 6 else values

    study = net().run(objective)
    trials = study.trials
    assert [trial.state for trial in trials] == ["complete"] * 3 + ["failed"] * 4 + ["complete"]
    assert trials[1].noise_std == {"accuracy": 0.1, "latency_ms": 0.1, "memory_gb": 0.1}
    assert (trials[2].noise_std, trials[2].metrics) == ({"accuracy": 0.2}, {"cost": 3})
    assert trials[3].reason == "outcome `memory_gb` must be a finite number, got NaN"
    assert trials[4].reason is not None and "outcome `latency_ms` is missing" in trials[4].reason
    assert trials[5].reason is not None and "did you mean `memory_gb`?" in trials[5].reason
    assert set(trials[4].values) == {"accuracy", "memory_gb"}
    assert (trials[6].values, trials[6].reason, trials[6].feasible) == ({"memory_gb": 14.2}, "out of memory", False)
    assert study.verify()


def test_an_answer_of_the_wrong_type_ends_the_run() -> None:
    with pytest.raises(op.ReturnTypeError, match="return a dictionary with every outcome"):
        net().run(lambda x: x)
    with pytest.raises(op.ReturnTypeError, match="a boolean"):
        net().run(lambda x: {"accuracy": True, "latency_ms": 1, "memory_gb": 1})


def test_failed_and_amended_trials_keep_what_is_known() -> None:
    study = told(net(), *ROWS)
    study.fail(study.ask(), "out of memory", values={"memory_gb": 14.2})
    assert study.trials[4].values == {"memory_gb": 14.2}
    study.amend(0, {"accuracy": 0.95}, reason="wrong epoch")
    assert study.trials[0].values == {"accuracy": 0.95, "latency_ms": 12.0, "memory_gb": 6.0}
    assert study.trials[0].amended[0]["measurements"][0]["values"]["accuracy"] == 0.9


def test_data_frames_have_a_column_for_each_outcome_and_come_back() -> None:
    study = told(net(), *ROWS)
    study.tell(study.ask(), {"accuracy": 1, "latency_ms": 2, "memory_gb": 3}, noise_std={"accuracy": 0.1})
    study.fail(study.ask(), "out of memory", values={"memory_gb": 14.2})
    rows = study.to_dicts()
    assert rows[3]["values_accuracy"] == 0.99 and rows[3]["feasible"] is False and "value" not in rows[3]
    assert rows[4]["noise_std_accuracy"] == 0.1
    again = net()
    assert again.import_trials(rows) == 6 and again.import_trials(rows) == 0
    assert [trial.values for trial in again.trials] == [trial.values for trial in study.trials]
    assert again.trials[5].reason == "out of memory"
    pandas = pytest.importorskip("pandas")
    frame = study.to_pandas()
    assert list(frame["values_latency_ms"])[:4] == [12, 10, 11, 1]
    assert net().import_trials(frame) == 6 and isinstance(frame, pandas.DataFrame)
    pytest.importorskip("polars")
    assert net().import_trials(study.to_polars()) == 6


def test_models_and_pictures_are_of_each_outcome() -> None:
    study = net()
    for trial in study.ask(8):
        x = trial["x"]
        trial.tell({"accuracy": x, "latency_ms": -x, "memory_gb": 4 + 8 * x})
    mean, _ = study.predict({"x": 0.5}, outcome="latency_ms")
    assert mean == pytest.approx(-0.5, abs=0.05)
    assert study.importance(outcome="accuracy")["x"] > 0.9
    for ask in (lambda: study.predict({"x": 0.5}), lambda: study.importance(outcome="speed")):
        with pytest.raises(op.StudyError, match="accuracy, latency_ms, memory_gb"):
            ask()
    plot = study.plot("front")
    assert "not feasible" in plot.svg and len(plot.data["front"]["trials"]) == 8
    everything = study.plot()
    models = ["history", "front", "slices", "parallel", "importance", "surrogate"]
    assert list(everything.data) == [*models, "contour", "edf", "timeline", "metrics"]
    pytest.importorskip("matplotlib")
    assert len(everything.to_matplotlib().axes) >= 10


def test_an_objective_may_declare_its_parameters(tmp_path: Path) -> None:
    def objective(trial: op.Trial) -> dict[str, float]:
        x = trial.float("x", 0, 1)
        if trial.choice("kind", ["a", "b"]) == "b":
            trial.float("only_b", 0, 1)
        if trial.number == 3:
            raise op.Failed("too hot", values={"cost": 2.0})
        return {"gain": x, "cost": x * x}

    study = op.Study("declared", outcomes={"gain": "maximize", "cost": "minimize"}, optimizer="sobol", trials=8).run(objective)
    assert study.trials[3].values == {"cost": 2.0}
    assert study.front is not None and study.verify()
    stored = op.Study("net", SPACE, outcomes=NET, storage=tmp_path / "a.db", optimizer="sobol")
    told(stored, *ROWS)
    assert op.studies(tmp_path / "a.db")[0]["front"] == 2
    assert op.Study.load("net", storage=tmp_path / "a.db").outcomes == stored.outcomes
