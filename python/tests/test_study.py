"""Studies: ask, tell, look, store."""

import copy
import math
import pickle
from pathlib import Path

import pytest

import optimist as op


def test_a_study_finds_the_bottom_of_a_bowl(study: op.Study) -> None:
    for _ in range(12):
        trial = study.ask()
        study.tell(trial, (trial["x"] - 0.3) ** 2 + (trial["k"] == "a"))
    best = study.best
    assert best is not None and best.params["k"] == "b" and abs(best.params["x"] - 0.3) < 0.1
    assert best.study is study and best.std is not None and best.value == study.get_trial(best.trial).value
    assert study.best_trial.value == min(trial.value for trial in study.trials)
    assert study.verify() and study.verify().suggestions == 12


def test_before_the_first_value_there_is_no_best(study: op.Study) -> None:
    assert study.best is None and study.best_trial is None and study.trials == [] and len(study) == 0
    assert study, "a study without trials is still a study"
    with pytest.raises(ValueError, match="tell the value of a trial first"):
        study.predict({"x": 0.0, "k": "a"})


def test_several_trials_are_asked_for_at_once_and_differ(study: op.Study) -> None:
    trials = study.ask(4)
    assert [trial.number for trial in trials] == [0, 1, 2, 3]
    assert len({trial["x"] for trial in trials}) == 4
    for wrong in (0, -1, 1.5, True):
        with pytest.raises(ValueError, match="whole number of 1 or more"):
            study.ask(wrong)


def test_what_is_told_is_kept(study: op.Study) -> None:
    study.tell(study.ask(), 87.5, noise_std=0.5, metrics={"cost": 3.1, "nan": math.nan}, note="warm", seconds=2.0)
    trial = study.trials[0]
    assert (trial.value, trial.noise_std, trial.note, trial.seconds) == (87.5, 0.5, "warm", 2.0)
    assert trial.metrics == {"cost": 3.1, "nan": None} and trial.state == "complete" and trial.ended_at is not None


def test_trials_fail_are_cancelled_and_put_back(study: op.Study) -> None:
    burnt, dropped, again = study.ask(3)
    study.fail(burnt, "burnt")
    dropped.cancel()
    study.put_back(again)
    assert [trial.state for trial in study.trials] == ["failed", "cancelled", "waiting"]
    assert study.trials[0].reason == "burnt"
    assert study.ask() == again, "what was put back comes first"
    with pytest.raises(ValueError, match="already cancelled"):
        study.cancel(dropped)


def test_what_was_told_can_be_corrected(study: op.Study) -> None:
    for trial in study.ask(3):
        study.tell(trial, 715, noise_std=0.5, note="oven 2", metrics={"cost": 3})
    study.amend(0, 71.5, reason="a slip of the pen")
    study.amend(1, failed=True, reason="wrong gas")
    study.amend(2, params={"x": 0.5})
    first, second, third = study.trials
    assert (first.value, first.noise_std, first.note, first.metrics) == (71.5, 0.5, "oven 2", {"cost": 3})
    assert first.amended[0]["values"] == [715.0] and first.amended[0]["reason"] == "a slip of the pen"
    assert (second.state, second.reason) == ("failed", "wrong gas") and third.params["x"] == 0.5
    study.amend(2, cancelled=True)
    assert study.trials[2].state == "cancelled" and study.verify()
    for wrong, words in [({}, "say what was wrong"), ({"value": 1, "failed": True}, "only one of them")]:
        with pytest.raises(ValueError, match=words):
            study.amend(0, **wrong)
    with pytest.raises(ValueError, match="nothing to amend yet"):
        study.amend(study.ask(), 1.0)
    with pytest.raises(ValueError, match=r"study.amend\(0, failed=True\) takes its value back"):
        study.fail(0)


def test_the_parameters_really_used_are_told(study: op.Study) -> None:
    trial = study.ask()
    trial.tell(1.0, params={"x": 0.125})
    assert study.trials[0].params == {"x": 0.125, "k": trial["k"]}
    with pytest.raises(op.SpaceError, match="outside its range"):
        study.tell(study.ask(), 1.0, params={"x": 3})


def test_what_failed_is_tried_again(study: op.Study) -> None:
    first, second, third = study.ask(3)
    study.fail(first)
    study.fail(second)
    study.cancel(third)
    assert study.retry(third) == [2] and study.retry() == [0, 1] and study.retry() == []
    assert [trial.number for trial in study.ask(3)] == [0, 1, 2]
    study.tell(first, 1.0)
    with pytest.raises(TypeError, match="expected a trial or its number, got 'first'"):
        study.retry(["first"])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="only failed and cancelled trials can be put back"):
        study.retry([first])


def test_a_space_may_become_wider(database: Path, caplog: pytest.LogCaptureFixture) -> None:
    study = op.Study("s", {"x": (0.0, 1.0), "k": ["a"]}, direction="minimize", storage=database)
    study.tell(study.ask(), 1.0)
    wider = op.Study("s", {"x": (0.0, 2.0), "k": ["a", "b"]}, direction="minimize", storage=database)
    assert "now has a wider space" in caplog.text
    wider.enqueue({"x": 1.5, "k": "b"})
    assert wider.ask()["x"] == 1.5 and wider.verify()
    with pytest.raises(ValueError, match="only wider bounds and further choices are possible"):
        op.Study("s", {"x": (0.5, 2.0), "k": ["a", "b"]}, direction="minimize", storage=database)


def test_enqueued_points_come_first(study: op.Study) -> None:
    study.enqueue({"x": 0.25, "k": "b"})
    trial = study.ask()
    assert trial.params == {"x": 0.25, "k": "b"} and trial.source == "enqueued"
    with pytest.raises(op.SpaceError, match="parameter `x`: 3 is outside its range"):
        study.enqueue({"x": 3, "k": "b"})
    with pytest.raises(op.SpaceError, match="did you mean `a`|choose from `a`, `b`"):
        study.enqueue({"x": 0, "k": "c"})


def test_a_block_tells_fails_or_puts_back(study: op.Study) -> None:
    with study.trial() as trial:
        trial.tell(1.0)
    with pytest.raises(ZeroDivisionError), study.trial():
        1 / 0  # noqa: B018
    with study.trial():
        raise op.Failed("no such bean")
    with pytest.raises(KeyboardInterrupt), study.trial():
        raise KeyboardInterrupt
    told, crashed, failed, stopped = study.trials
    assert told.value == 1.0
    assert crashed.reason == "ZeroDivisionError: division by zero" and "1 / 0" in crashed.stderr
    assert (failed.state, failed.failure, failed.reason) == ("failed", "infeasible", "no such bean")
    assert stopped.state == "waiting"
    with study.trial() as trial:
        pass
    assert trial.number == 3 and study.get_trial(3).state == "waiting", "nothing was told"


def test_a_block_that_raises_after_telling_keeps_the_value_and_the_exception(study: op.Study) -> None:
    for error in (ZeroDivisionError, KeyboardInterrupt):
        with pytest.raises(error), study.trial() as trial:
            trial.tell(1.0)
            raise error
    with pytest.raises(ZeroDivisionError), study.trial() as trial:
        trial.fail("burnt")
        raise ZeroDivisionError
    assert [trial.state for trial in study.trials] == ["complete", "complete", "failed"]
    declaring = op.Study("s", direction="minimize")
    with pytest.raises(ZeroDivisionError), declaring.trial():
        raise ZeroDivisionError("before any parameter was declared")
    with declaring.trial():
        pass


def test_errors_are_the_built_in_ones_with_the_words_of_the_library(study: op.Study, database: Path) -> None:
    with pytest.raises(KeyError, match="^study `bowl` has no trial 7; it has no trials yet$"):
        study.tell(7, 1.0)
    with pytest.raises(KeyError, match="study `x` is not in"):
        op.Study.load("x", storage=database)
    with pytest.raises(ValueError, match="must be a finite number, got NaN"):
        study.tell(study.ask(), math.nan)
    with pytest.raises(OSError, match="storage cannot be `mysql://`"):
        op.Study("x", {"x": (0, 1)}, direction="minimize", storage="mysql://host/lab")
    with pytest.raises(OSError, match="check that the folder is there"):
        op.Study("x", {"x": (0, 1)}, direction="minimize", storage="/no/such/folder/x.db")
    with pytest.raises(ValueError, match="did you mean `go-ucb`"):
        op.Study("x", {"x": (0, 1)}, direction="minimize", optimizer="go-ubc")
    with pytest.raises(ValueError, match="unknown field `kappa`"):
        op.Study("x", {"x": (0, 1)}, direction="minimize", optimizer="go-ucb:kappa=1")
    with pytest.raises(TypeError, match="did you mean `max_failures`"):
        op.Study("x", {"x": (0, 1)}, direction="minimize", max_failure=3)
    with pytest.raises(ValueError, match='direction must be "minimize" or "maximize"'):
        op.Study("x", {"x": (0, 1)}, direction="down")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected a trial or its number"):
        study.tell("first", 1.0)  # type: ignore[arg-type]
    for seed in (-1, 2**64, 1.5, True):
        with pytest.raises(ValueError, match="seed must be"):
            op.Study("x", {"x": (0, 1)}, direction="minimize", seed=seed)  # type: ignore[arg-type]


def test_a_panic_is_an_exception_that_asks_for_a_report(study: op.Study, capfd: pytest.CaptureFixture[str]) -> None:
    from optimist import _native

    for _ in range(2):
        with pytest.raises(op.InternalError, match=r"a bug in Optimist: boo \(at .*lib\.rs:\d+\); please report it"):
            _native.panic("boo")
    assert capfd.readouterr().err == "", "the exception says it all"
    study.tell(study.ask(), 1.0)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda study: study.get_trial(-1), TypeError, "expected a trial or its number, got -1"),
        (lambda study: study.ranking(0), ValueError, "n must be a whole number of 1 or more"),
        (lambda study: study.ask(lease=-1), ValueError, "lease must be above 0"),
        (lambda study: study.ask(worker=3), TypeError, "worker must be a string"),
        (lambda study: study.tell(0, "1"), TypeError, "tell one number, or call `fail`"),
        (lambda study: study.tell(0, 1, note=3), TypeError, "note must be a string"),
        (lambda study: study.tell(0, 1, metrics={"a": object()}), TypeError, "cannot store a value of type object"),
        (lambda study: study.fail(0, "x", kind="odd"), ValueError, "expected one of `infeasible`, `crashed`"),
        (lambda study: study.enqueue(None), TypeError, "a point must be a dictionary"),
        (lambda study: study.predict(None), TypeError, "expected dictionaries or a data frame"),
        (lambda study: study.import_trials([{"x": 0, "k": "a", "value": "?"}]), ValueError, "row 0: `value` must be"),
        (lambda study: op.Study(None, {"x": (0, 1)}, direction="minimize"), TypeError, "the name of a study must be"),
        (lambda study: op.Study("\ud800", {"x": (0, 1)}, direction="minimize"), ValueError, "cannot be stored"),
        (lambda study: op.Study("s", {"\ud800": (0, 1)}, direction="minimize"), ValueError, "cannot be stored"),
        (lambda study: op.Study("s", {"x": (0, 1)}, direction="minimize", lease=0), ValueError, "lease must be above 0"),
        (lambda study: op.Study("s", {"x": (0, 1)}, direction="minimize", trials=10**30), ValueError, "trials must be"),
        (lambda study: op.Study("s", {"x": (0, 1)}, direction="minimize", target="a"), ValueError, "target must be"),
        (lambda study: op.Study("s", {"x": (0, 1)}, direction="minimize", constraints=[3]), TypeError, "a constraint must"),
    ],
)
def test_an_argument_that_cannot_be_meant_says_why(study: op.Study, call: object, error: type, words: str) -> None:
    study.ask()
    with pytest.raises(error, match=words):
        call(study)  # type: ignore[operator]


def test_settings_pass_through() -> None:
    space = {"x": (0.0, 1.0)}
    study = op.Study("s", space, direction="minimize", optimizer=op.GoUcb("paper", hidden=[5], exploration=2))
    assert study._definition()["optimizer"] == {"name": "go-ucb", "preset": "paper", "hidden": [5], "exploration": 2}
    with pytest.raises(ValueError, match="unknown field `kappa`, expected one of"):
        op.Study("s", space, direction="minimize", optimizer=op.GoUcb(kappa=1))


def test_a_stored_study_is_opened_again(database: Path) -> None:
    space = {"x": op.Float(0, 1), "layer": [(64, 64), None, len]}
    first = op.Study("s", space, direction="maximize", trials=5, storage=database)
    first.tell(first.ask(), 1.5)
    again = op.Study("s", space, direction="maximize", trials=7, storage=database)
    assert len(again) == 1 and again.plan["trials"] == 7
    loaded = op.Study.load("s", storage=database)
    assert loaded.trials[0].value == 1.5 and loaded.direction == "maximize" and loaded.seed == 0
    with pytest.raises(ValueError, match="created with seed 0; the study file says 1"):
        op.Study("s", space, direction="maximize", storage=database, seed=1)
    listed = op.studies(database)
    assert [(one["study"], one["complete"], one["planned"]) for one in listed] == [("s", 1, 7)]
    loaded.delete()
    assert op.studies(database) == []


def test_a_study_file_is_a_study(tmp_path: Path, database: Path) -> None:
    file = tmp_path / "film.toml"
    file.write_text('direction = "minimize"\ntrials = 9\nparameters.x = { type = "float", low = 0, high = 1 }\n')
    study = op.Study.from_file(file, storage=database)
    assert study.name == "film" and study.plan["trials"] == 9 and 0 <= study.ask()["x"] <= 1
    file.write_text('direction = "sideways"\n')
    with pytest.raises(ValueError, match=r"film\.toml"):
        op.Study.from_file(file)
    with pytest.raises(OSError, match="cannot read the study file"):
        op.Study.from_file(tmp_path / "no.toml")


def test_trials_from_elsewhere_are_imported_once(study: op.Study) -> None:
    rows = [{"x": 0.1, "k": "a", "value": 1.0}, {"params_x": 0.2, "params_k": "b", "value": None}]
    assert study.import_trials(rows) == 2
    assert study.import_trials(rows) == 0
    assert [trial.state for trial in study.trials] == ["complete", "failed"]
    assert study.import_trials([{"x": 0.3, "k": "b", "loss": 2}], value="loss") == 1
    full = {"x": 0.4, "k": "a", "value": 3.0, "noise_std": 0.5, "note": "oven 2", "metrics_cost": 7}
    assert study.import_trials([full]) == 1
    last = study.trials[-1]
    assert (last.value, last.noise_std, last.note, last.metrics) == (3.0, 0.5, "oven 2", {"cost": 7})
    with pytest.raises(ValueError, match="has no column `value`"):
        study.import_trials([{"x": 0.3, "k": "b", "loss": 2}])


def test_trials_that_have_not_ended_are_not_imported_as_failed(study: op.Study) -> None:
    study.tell(study.ask(), 1.0)
    study.fail(study.ask(), "burnt")
    study.cancel(study.ask())
    study.ask()
    again = op.Study("again", study.space, direction="minimize")
    assert again.import_trials(study.to_dicts()) == 2
    assert [(trial.state, trial.reason) for trial in again.trials] == [("complete", None), ("failed", "burnt")]
    optunas = [("COMPLETE", 1.0), ("PRUNED", 0.5), ("FAIL", None), ("RUNNING", None), ("WAITING", None)]
    rows = [{"params_x": value or 0, "params_k": "a", "value": value, "state": state} for state, value in optunas]
    other = op.Study("other", study.space, direction="minimize")
    other.import_trials(rows)
    assert [trial.state for trial in other.trials] == ["complete", "failed", "failed"]


def test_what_a_user_holds_can_be_pickled_and_copied(study: op.Study, database: Path) -> None:
    trial = study.ask()
    study.tell(trial, 0.5)
    for again in (pickle.loads(pickle.dumps(study)), copy.deepcopy(study)):
        assert again.trials == study.trials
        again.tell(again.ask(), 1.0)
        assert len(again) == 2 and len(study) == 1, "a copy of a study in memory is a study of its own"
    stored = op.Study("s", {"x": (0.0, 1.0)}, direction="minimize", storage=database)
    again = pickle.loads(pickle.dumps(stored))
    pickle.loads(pickle.dumps(again.ask())).tell(1.0)
    assert stored.trials[0].value == 1.0, "a copy of a stored study is the same study"
    for held in (study.best, study.space, study.verify(), op.GoUcb(), op.Failed("x"), trial):
        assert pickle.loads(pickle.dumps(held)) == held or isinstance(held, op.Failed)
    assert {trial: "measured"}[copy.deepcopy(trial)] == "measured"
    with pytest.raises(KeyError) as caught:
        op.Study.load("x", storage=database)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_model_predicts_and_says_what_matters(study: op.Study) -> None:
    for trial in study.ask(10):
        study.tell(trial, 5 + trial["x"])
    mean, std = study.predict({"x": 0.5, "k": "a"})
    assert abs(mean - 5.5) < 0.1 and std > 0
    assert len(study.predict([{"x": 0.5, "k": "a"}, {"x": 0.0, "k": "b"}])) == 2
    importance = study.importance()
    assert importance["x"] > 0.9 and importance["k"] < 0.1
    assert study.expected_gain() >= 0
    assert next(one.trial for one in study.ranking(3)) == study.best.trial
    assert study.show()["complete"] == 10


@pytest.mark.parametrize("method", ["go-ucb", "gp-ei", "turbo", "tpe", "cma-es", "sobol", "random"])
def test_every_optimizer_can_be_named(method: str) -> None:
    study = op.Study("s", {"x": (0.0, 1.0)}, direction="minimize", trials=6, optimizer=method)
    study.run(lambda x: x, progress=False)
    assert study.verify() and len(study) == 6


def test_constraints_hold() -> None:
    space = {"copper": (0.0, 1.0), "zinc": (0.0, 1.0)}
    study = op.Study("alloy", space, direction="maximize", constraints=["copper + zinc = 1", "zinc <= 0.4"])
    for trial in study.ask(5):
        assert abs(trial["copper"] + trial["zinc"] - 1) < 1e-6 and trial["zinc"] <= 0.4 + 1e-6
    with pytest.raises(op.SpaceError, match="no values satisfy"):
        op.Study("no", space, direction="maximize", constraints=["copper + zinc <= -1"])
