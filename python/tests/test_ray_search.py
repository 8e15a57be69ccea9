"""The searcher for Ray Tune, called as Tune calls it; no cluster is started. `test_ray.py` has runs."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import optimist as op

tune = pytest.importorskip("ray.tune")

from ray.tune.search import ConcurrencyLimiter  # noqa: E402
from ray.tune.search.variant_generator import parse_spec_vars  # noqa: E402

from optimist.ray import OptimistSearch  # noqa: E402

ITERATION = "training_iteration"


def begun(param_space: dict[str, Any], *, num_samples: int = 20, mode: str = "min", **more: Any) -> OptimistSearch:
    search = OptimistSearch(**more)
    search.set_search_properties("loss", mode, param_space, num_samples=num_samples)
    return search


def report(search: Any, trial: str, *values: float) -> None:
    """A function that reports these values and returns: Tune ends it with its last report."""
    for i, value in enumerate(values, 1):
        search.on_trial_result(trial, {"loss": value, ITERATION: i})
    search.on_trial_complete(trial_id=trial, result={"loss": values[-1], ITERATION: len(values)})


def stop(search: Any, trial: str, *values: float) -> None:
    """A scheduler stops it at the last of these: Tune shows that as the end alone."""
    for i, value in enumerate(values[:-1], 1):
        search.on_trial_result(trial, {"loss": value, ITERATION: i})
    search.on_trial_complete(trial_id=trial, result={"loss": values[-1], ITERATION: len(values)})


def study_of(search: Any) -> op.Study:
    study = search._ready()
    assert isinstance(study, op.Study)
    return study


# Spaces.


def test_every_domain_with_bounds_is_taken_over() -> None:
    model = object()
    search = begun(
        {
            "uniform": tune.uniform(0, 1),
            "quniform": tune.quniform(0.5, 2, 0.25),
            "loguniform": tune.loguniform(1e-5, 1),
            "qloguniform": tune.qloguniform(0.5, 4, 0.5),
            "randint": tune.randint(1, 5),
            "qrandint": tune.qrandint(3, 16, 5),
            "qrandint_1": tune.qrandint(3, 16, 1),
            "lograndint": tune.lograndint(1, 100),
            "qlograndint": tune.qlograndint(4, 64, 4),
            "choice": tune.choice(["a", None, (1, 2), 1, True, model]),
            "constant": 7,
        }
    )
    known = study_of(search).space.parameters
    expected = {
        "uniform": op.Float(0, 1),
        "quniform": op.Float(0.5, 2, step=0.25),
        "loguniform": op.Float(1e-5, 1, log=True),
        "qloguniform": op.Float(0.5, 4, log=True, step=0.5),
        "randint": op.Int(1, 4),
        "qrandint": op.Int(5, 15, step=5),
        "qrandint_1": op.Int(3, 15),
        "lograndint": op.Int(1, 99, log=True),
        "qlograndint": op.Int(4, 64, log=True, step=4),
    }
    assert {name: known[name] for name in expected} == expected
    assert "constant" not in known


def test_what_is_suggested_is_in_the_domain() -> None:
    space = {
        "a": {"b": {"x": tune.uniform(-3, -1), "n": tune.randint(0, 3)}, "q": tune.quniform(0, 1, 0.1)},
        "k": tune.choice([None, [1], "x"]),
        "own": op.Int(3, 9),
        "fixed": {"of": "no matter"},
    }
    search = begun(space, num_samples=30)
    seen = set()
    for i in range(30):
        config = search.suggest(str(i))
        assert -3 <= config["a"]["b"]["x"] <= -1 and config["a"]["b"]["n"] in (0, 1, 2)
        assert math.isclose(config["a"]["q"] * 10, round(config["a"]["q"] * 10), abs_tol=1e-9)
        assert config["k"] in (None, [1], "x") and 3 <= config["own"] <= 9
        assert set(config) == {"a", "k", "own"}, "constants are Tune's business"
        seen.add(config["a"]["b"]["n"])
        report(search, str(i), config["a"]["b"]["x"] ** 2)
    assert seen == {0, 1, 2}


@pytest.mark.parametrize(
    ("domain", "sentence"),
    [
        (lambda: tune.randn(), "tune.randn has no bounds, which a search needs"),
        (lambda: tune.qrandn(0, 1, 0.2), "tune.randn has no bounds, which a search needs"),
        (lambda: tune.sample_from(lambda: 1), "tune.sample_from has no range to search"),
        (lambda: tune.grid_search([1, 2]), "a grid is run point by point, not searched; use tune.choice"),
    ],
)
def test_what_cannot_be_searched_is_refused(domain: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(op.SpaceError, match=f"parameter `a/x`: {sentence}"):
        begun({"a": {"x": domain()}})


def test_a_domain_inside_a_list_is_refused() -> None:
    with pytest.raises(op.SpaceError, match="is inside a list; put it in a dictionary"):
        begun({"layers": [tune.randint(1, 5)]})


def test_a_space_of_ours_may_be_given_to_the_searcher() -> None:
    for space in (
        {"x": (0.0, 1.0), "k": ["a", "b"]},
        op.Space({"x": (0.0, 1.0), "k": ["a", "b"]}, constraints=()),
        {"x": tune.uniform(0, 1), "k": tune.choice(["a", "b"])},
    ):
        search = OptimistSearch(space, metric="loss", mode="max")
        assert set(search.suggest("0")) == {"x", "k"}
        assert study_of(search).direction == "maximize"
    nested = OptimistSearch({"net": {"x": op.Float(0, 1)}}, metric="loss", mode="min")
    assert set(nested.suggest("0")["net"]) == {"x"}


def test_constraints_hold() -> None:
    search = begun({"a": tune.uniform(0, 1), "b": tune.uniform(0, 1)}, constraints="a + b <= 0.5")
    assert all(sum(search.suggest(str(i)).values()) <= 0.5 + 1e-9 for i in range(10))


# The metric, and how many trials.


def test_the_number_of_samples_is_the_plan() -> None:
    assert study_of(begun({"x": tune.uniform(0, 1)}, num_samples=37)).plan["trials"] == 37
    assert study_of(begun({"x": tune.uniform(0, 1)}, num_samples=37, trials=12)).plan["trials"] == 12
    assert study_of(begun({"x": tune.uniform(0, 1)}, num_samples=-1)).plan["trials"] == 50, "endless"


def test_a_missing_metric_or_space_is_said_when_it_is_needed() -> None:
    with pytest.raises(op.StudyError, match='write OptimistSearch\\(…, metric="loss", mode="min"\\). Tune passes'):
        OptimistSearch({"x": (0.0, 1.0)}).suggest("0")
    with pytest.raises(op.StudyError, match="there is nothing to search: give domains in tune.Tuner"):
        begun({"only": "constants"}).suggest("0")
    with pytest.raises(op.StudyError, match='mode must be "min" or "max", got \'least\''):
        OptimistSearch(metric="loss", mode="least")


def test_metric_and_mode_are_kept_when_the_space_is_not_taken() -> None:
    search = OptimistSearch({"x": (0.0, 1.0)})
    assert search.set_search_properties("loss", "max", {"constant": 1}, num_samples=9) is False
    assert study_of(search).direction == "maximize" and study_of(search).plan["trials"] == 9


def test_a_mode_alone_means_the_anonymous_metric() -> None:
    search = OptimistSearch()
    search.set_search_properties(None, "max", {"x": tune.uniform(0, 1)}, num_samples=9)
    search.suggest("0")
    search.on_trial_complete(trial_id="0", result={"_metric": 3.0, ITERATION: 1})
    assert study_of(search).get_trial(0).value == 3.0


def begun_with_two(**more: Any) -> OptimistSearch:
    search = OptimistSearch(metric=["loss", "seconds"], mode=["min", "max"], **more)
    search.set_search_properties(None, None, {"x": tune.uniform(0, 1)}, num_samples=20)
    return search


def test_several_metrics_are_goals() -> None:
    search = begun_with_two()
    for i in range(12):
        x = search.suggest(str(i))["x"]
        search.on_trial_complete(trial_id=str(i), result={"loss": x, "seconds": x - x**2 / 3, ITERATION: 1})
    study = study_of(search)
    assert study.outcomes == {"loss": op.Minimize(), "seconds": op.Maximize()}
    assert study.front is not None and len(study.front) > 1 and study.verify()


def test_metrics_may_be_constraints() -> None:
    search = OptimistSearch(outcomes={"loss": "minimize", "memory": op.AtMost(0.5)})
    assert search.set_search_properties("loss", "max", {"x": tune.uniform(0, 1)}, num_samples=15), "Tune's is the scheduler's"
    for i in range(15):
        x = search.suggest(str(i))["x"]
        search.on_trial_complete(trial_id=str(i), result={"loss": -x, "memory": x, ITERATION: 1})
    best = study_of(search).best
    assert best is not None and 0.4 < best.params["x"] <= 0.5 and best.value == -best.params["x"]


def test_a_metric_that_is_missing_among_several_is_a_failure_with_the_others() -> None:
    search = begun_with_two()
    search.suggest("0")
    search.on_trial_complete(trial_id="0", result={"loss": 0.5, "seconds": math.nan, ITERATION: 1})
    trial = study_of(search).get_trial(0)
    assert trial.state == "failed" and trial.values == {"loss": 0.5}
    assert trial.reason == "the value must be a finite number, got nan"


def test_a_stopped_trial_is_unfinished_in_each_of_several_metrics() -> None:
    search = begun_with_two()
    for trial, values in {"a": [(9, 1), (5, 2)], "b": [(8, 1), (6, 3)], "c": [(7, 1)]}.items():
        search.suggest(trial)
        reports = [{"loss": loss, "seconds": seconds, ITERATION: i} for i, (loss, seconds) in enumerate(values, 1)]
        for one in reports if trial != "c" else []:
            search.on_trial_result(trial, one)
        search.on_trial_complete(trial_id=trial, result=reports[-1])
    c = study_of(search).get_trial(2)
    assert c.values == {"loss": 4.0, "seconds": 2.5} and c.note == "stopped at training_iteration 1 with loss 7, seconds 1"
    assert c.noise_std == pytest.approx({"loss": math.sqrt(2), "seconds": math.sqrt(0.5)})


def test_evaluated_points_may_have_several_values() -> None:
    search = begun_with_two(points_to_evaluate=[{"x": 0.1}], evaluated_rewards=[(2.0, 3.0)])
    search.add_evaluated_point({"x": 0.2}, {"loss": 1.0, "seconds": 2.0})
    search.add_evaluated_point({"x": 0.3}, {"loss": 1.0, "seconds": math.nan})
    search.add_evaluated_point({"x": 0.4}, None, pruned=True, intermediate_values=[(4.0, 5.0)])
    assert [(trial.state, dict(trial.values)) for trial in study_of(search).trials] == [
        ("complete", {"loss": 2.0, "seconds": 3.0}),
        ("complete", {"loss": 1.0, "seconds": 2.0}),
        ("failed", {"loss": 1.0}),
        ("complete", {"loss": 4.0, "seconds": 5.0}),
    ]


def test_metrics_and_modes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(op.StudyError, match="give each metric once, with one mode for each"):
        OptimistSearch(metric=["a", "b"], mode=["min"])
    with pytest.raises(op.StudyError, match="give each metric once, with one mode for each"):
        OptimistSearch(metric=["a", "a"], mode=["min", "max"])
    with pytest.raises(op.StudyError, match="give a list of metrics, with one mode for each"):
        OptimistSearch(metric="a", mode=["min", "max"])
    with pytest.raises(op.StudyError, match="give outcomes, or metric and mode, not both"):
        OptimistSearch(metric="a", mode="min", outcomes={"a": "minimize"})


# What becomes of trials.


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, None, "high"])
def test_a_value_that_is_none_is_a_failed_trial(value: Any) -> None:
    search = begun({"x": tune.uniform(0, 1)})
    for i in range(6):
        search.suggest(str(i))
        search.on_trial_complete(trial_id=str(i), result={"loss": value if i % 2 else float(i), ITERATION: 1})
    trials = study_of(search).trials
    assert [trial.state for trial in trials] == ["complete", "failed"] * 3
    assert trials[1].failure == "unreadable" and trials[1].reason
    assert search.suggest("next") is not None


def test_a_missing_metric_is_a_failed_trial_that_says_so() -> None:
    search = begun({"x": tune.uniform(0, 1)})
    search.suggest("0")
    search.on_trial_result("0", {"accuracy": 0.5, ITERATION: 1})
    search.on_trial_complete(trial_id="0", result={"accuracy": 0.5, ITERATION: 1})
    assert study_of(search).get_trial(0).reason == "the trial has not reported `loss`"


def test_a_crash_is_a_failed_trial() -> None:
    search = begun({"x": tune.uniform(0, 1)})
    search.suggest("0")
    search.on_trial_result("0", {"loss": 0.5, ITERATION: 1})
    search.on_trial_complete(trial_id="0", result=None, error=True)
    assert study_of(search).get_trial(0).failure == "crashed"


def test_a_trial_without_any_report_does_not_count() -> None:
    search = begun({"x": tune.uniform(0, 1)})
    search.suggest("0")
    search.on_trial_complete(trial_id="0")
    assert study_of(search).get_trial(0).state == "cancelled"


def test_late_reports_second_ends_and_unknown_trials_do_no_harm() -> None:
    search = begun({"x": tune.uniform(0, 1)})
    search.suggest("0")
    report(search, "0", 1.0)
    report(search, "0", 5.0)
    search.on_trial_complete(trial_id="0", error=True)
    report(search, "never suggested", 5.0)
    assert study_of(search).get_trial(0).value == 1.0 and len(study_of(search)) == 1


def test_the_same_trial_gets_the_same_configuration() -> None:
    search = begun({"x": tune.uniform(0, 1)})
    assert search.suggest("0") == search.suggest("0") and len(study_of(search)) == 1


# Trials that a scheduler stopped.


def test_a_trial_that_was_stopped_is_told_at_what_it_would_have_reached() -> None:
    search = begun({"x": tune.uniform(0, 1)})
    for trial in "abcd":
        search.suggest(trial)
    report(search, "a", 10.0, 6.0, 2.0)
    report(search, "b", 9.0, 6.0, 3.0)
    stop(search, "c", 12.0)
    c = study_of(search).get_trial(2)
    assert c.value == pytest.approx(12.0 - 7.0) and c.noise_std == pytest.approx(math.sqrt(2))
    assert c.note == "stopped at training_iteration 1 with 12"


def test_a_function_that_returns_early_is_finished() -> None:
    search = begun({"x": tune.uniform(0, 1)})
    for trial in "ab":
        search.suggest(trial)
    report(search, "a", 10.0, 6.0, 2.0)
    report(search, "b", 9.0, 6.0)
    b = study_of(search).get_trial(1)
    assert (b.value, b.noise_std, b.note) == (6.0, None, None)


def test_a_trial_that_was_stopped_before_others_came_further_is_amended() -> None:
    search = begun({"x": tune.uniform(0, 1)})
    for trial in "abc":
        search.suggest(trial)
    search.on_trial_result("b", {"loss": 9.0, ITERATION: 1})
    stop(search, "a", 10.0, 8.0)
    assert study_of(search).get_trial(0).value == 8.0, "nobody has come further"
    report(search, "b", 9.0, 7.0, 5.0)
    search.suggest("d")
    a = study_of(search).get_trial(0)
    assert a.value == pytest.approx(6.0) and a.noise_std == pytest.approx(2.0) and a.amended
    assert study_of(search).verify()


def test_a_trial_at_the_end_of_the_others_is_finished_however_it_ended() -> None:
    search = begun({"x": tune.uniform(0, 1)})
    for trial in "ab":
        search.suggest(trial)
        stop(search, trial, 3.0, 2.0, 1.0)
    assert [(one.value, one.noise_std) for one in study_of(search).trials] == [(1.0, None)] * 2


def test_without_a_time_every_trial_counts_as_it_is() -> None:
    search = begun({"x": tune.uniform(0, 1)}, time_attr=None)
    for trial in "ab":
        search.suggest(trial)
    report(search, "a", 10.0, 6.0, 2.0)
    stop(search, "b", 12.0)
    assert study_of(search).get_trial(1).value == 12.0


def test_what_is_stopped_while_it_is_paused_is_told_at_its_last_report() -> None:
    search = begun({"x": tune.uniform(0, 1)})
    for trial in "ab":
        search.suggest(trial)
    report(search, "a", 10.0, 6.0)
    search.on_trial_result("b", {"loss": 8.0, ITERATION: 1})
    search.on_trial_complete(trial_id="b")
    assert study_of(search).get_trial(1).value == pytest.approx(4.0)


# What was tried elsewhere.


def test_points_to_evaluate_come_first() -> None:
    points = [{"a": {"x": 0.25}, "n": 3}, {"a": {"x": 0.75}, "n": 1, "constant": 7}]
    search = begun({"a": {"x": tune.uniform(0, 1)}, "n": tune.randint(0, 5), "constant": 7}, points_to_evaluate=points)
    assert search.suggest("0") == {"a": {"x": 0.25}, "n": 3}
    assert search.suggest("1") == {"a": {"x": 0.75}, "n": 1}
    assert search.suggest("2") not in points


def test_points_with_rewards_are_learnt_from_and_not_tried() -> None:
    points, rewards = [{"x": 0.25}, {"x": 0.5}], [2.0, 1.0]
    search = begun({"x": tune.uniform(0, 1)}, points_to_evaluate=points, evaluated_rewards=rewards)
    assert search.suggest("0") not in points
    assert [trial.value for trial in study_of(search).trials[:2]] == rewards
    with pytest.raises(op.StudyError, match="got 2 points_to_evaluate and 1 evaluated_rewards; give one for each"):
        OptimistSearch(points_to_evaluate=points, evaluated_rewards=[1.0])


def test_evaluated_points_may_have_failed_or_been_pruned() -> None:
    search = begun({"a": {"x": tune.uniform(0, 1)}})
    for trial in "ab":
        search.suggest(trial)
    report(search, "a", 10.0, 6.0, 2.0)
    search.add_evaluated_point({"a": {"x": 0.1}, "constant": 1}, 3.0)
    search.add_evaluated_point({"a/x": 0.2}, 3.0, error=True)
    search.add_evaluated_point({"a": {"x": 0.3}}, math.nan)
    search.add_evaluated_point({"a": {"x": 0.4}}, None, pruned=True, intermediate_values=[9.0, 8.0])
    search.add_evaluated_point({"a": {"x": 0.5}}, None, pruned=True)
    known = [(trial.params["a/x"], trial.state, trial.value) for trial in study_of(search).trials[2:]]
    assert known == [(0.1, "complete", 3.0), (0.2, "failed", None), (0.3, "failed", None), (0.4, "complete", 4.0)]
    assert search.suggest("c") is not None


# Stops and copies.

SPACE = {"a": {"x": tune.uniform(-1, 1)}, "lr": tune.loguniform(1e-4, 1), "k": tune.choice(["p", None])}


def course(search: Any, first: int, last: int) -> list[Any]:
    """What is suggested, two trials at a time, some stopped and some failed."""
    suggested = []
    for i in range(first, last):
        suggested.append(copy.deepcopy(search.suggest(str(i))))
        if i == 0:
            continue
        config, before = suggested[-1], str(i - 1)
        loss = config["a"]["x"] ** 2 + abs(math.log10(config["lr"]) + 2)
        if i % 4 == 1:
            stop(search, before, loss + 1)
        elif i % 4 == 2:
            search.on_trial_complete(trial_id=before, error=True)
        else:
            report(search, before, loss + 2, loss + 1, loss)
    return suggested


@pytest.mark.parametrize("way", ["save", "pickle"])
def test_a_searcher_that_was_stopped_suggests_what_it_would_have(way: str, tmp_path: Path) -> None:
    whole = begun(SPACE, num_samples=30)
    course(whole, 0, 20)
    expected = course(whole, 20, 28)

    search = begun(SPACE, num_samples=30)
    course(search, 0, 20)
    if way == "save":
        search.save(str(tmp_path / "state"))
        restored = OptimistSearch(seed=99)  # Tune restores without telling it the space again
        restored.restore(str(tmp_path / "state"))
    else:
        restored = pickle.loads(pickle.dumps(search))
    assert course(restored, 20, 28) == expected
    assert study_of(restored).verify()


def test_a_trial_that_never_ends_stays_known_after_a_stop(tmp_path: Path) -> None:
    search = begun({"x": tune.uniform(0, 1)})
    search.suggest("lost")
    search.suggest("late")
    search.save(str(tmp_path / "state"))
    restored = OptimistSearch()
    restored.restore(str(tmp_path / "state"))
    report(restored, "late", 1.0)
    assert [trial.state for trial in study_of(restored).trials] == ["running", "complete"]
    assert restored.suggest("next") not in (search.suggest("lost"), search.suggest("late"))


def test_what_was_suggested_after_the_save_is_suggested_again(database: Path, tmp_path: Path) -> None:
    search = begun({"x": tune.uniform(0, 1)}, storage=str(database), study_name="tune")
    search.suggest("0")
    search.save(str(tmp_path / "state"))
    forgotten = search.suggest("1")
    others = op.Study.load("tune", storage=database).ask(worker="somebody else")
    restored = OptimistSearch()
    restored.restore(str(tmp_path / "state"))
    assert restored.suggest("1 again") == forgotten
    assert study_of(restored).get_trial(others.number).state == "running"
    assert len(op.Study.load("tune", storage=database)) == 3 and study_of(restored).verify()


@pytest.mark.parametrize("batch", [False, True])
def test_a_concurrency_limiter_limits(batch: bool) -> None:
    limited = ConcurrencyLimiter(OptimistSearch(), max_concurrent=2, batch=batch)
    limited.set_search_properties("loss", "min", {"x": tune.uniform(0, 1)}, num_samples=9)
    assert limited.suggest("0") is not None and limited.suggest("1") is not None and limited.suggest("2") is None
    report(limited, "0", 1.0)
    assert (limited.suggest("2") is None) is batch
    report(limited, "1", 1.0)
    assert limited.suggest("3") is not None


def test_it_finds_the_best_point() -> None:
    search = begun({"x": tune.uniform(-5, 5), "y": tune.uniform(-5, 5)}, num_samples=30)
    losses = []
    for i in range(30):
        config = search.suggest(str(i))
        losses.append((config["x"] - 1) ** 2 + (config["y"] + 2) ** 2)
        report(search, str(i), losses[-1])
    assert min(losses) < 0.1


def test_tune_resolves_what_it_suggests() -> None:
    """A suggestion that is merged into `param_space`, as Tune does it, leaves no domain unresolved."""
    from ray.tune.search.search_generator import merge_dicts

    space = {"a": {"x": tune.uniform(0, 1), "fixed": 3}, "own": op.Float(0, 1)}
    merged = merge_dicts(space, begun(space).suggest("0"))
    assert parse_spec_vars(merged)[1] == [] and merged["a"]["fixed"] == 3 and isinstance(merged["own"], float)
