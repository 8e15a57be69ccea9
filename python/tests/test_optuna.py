"""The sampler for Optuna: what Optuna's own suites do not say."""

import copy
import doctest
import importlib
import itertools
import math
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("optuna", minversion="4.8")

import optuna
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import TrialState, create_trial
from optuna_tasks import TASKS, Objective, models, network, trials_to

import optimist
from optimist.optuna import OptimistImportanceEvaluator, OptimistSampler
from optimist.optuna._goals import Goals
from optimist.optuna._trials import OFFERED, Curves, Outcome, Row


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(level)


def study_of(objective: Objective, n_trials: int, seed: int = 0, **keywords: Any) -> Any:
    study = optuna.create_study(sampler=OptimistSampler(n_trials, seed=seed))
    study.optimize(objective, n_trials, **keywords)
    return study


def asked(study: Any) -> list[dict[str, Any]]:
    return [trial.params for trial in study.trials]


def square(trial: Any) -> float:
    return (trial.suggest_float("x", -1, 1) - 0.3) ** 2 + (trial.suggest_float("y", -1, 1) + 0.2) ** 2


# How good it is.


@pytest.mark.parametrize("name", TASKS)
def test_it_takes_fewer_trials_than_tpe_to_a_good_value(name: str) -> None:
    objective, target = TASKS[name]
    ours = [trials_to(target, objective, OptimistSampler(100, seed=seed)) for seed in range(3)]
    tpe = [trials_to(target, objective, optuna.samplers.TPESampler(seed=seed)) for seed in range(3)]
    print(f"{name}: {ours}, TPE {tpe}")
    assert sum(ours) < sum(tpe)


# What it learns from.


def test_trials_that_run_are_not_asked_for_again() -> None:
    study = study_of(square, 15)
    running = [study.ask() for _ in range(6)]
    points = [(trial.suggest_float("x", -1, 1), trial.suggest_float("y", -1, 1)) for trial in running]
    apart = [math.dist(one, other) for i, one in enumerate(points) for other in points[:i]]
    assert min(apart) > 1e-3, points


def test_what_is_pending_is_seen_by_other_processes_before_its_parameters_are(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path}/optuna.db"
    study = optuna.create_study(study_name="s", storage=storage, sampler=OptimistSampler(20, seed=0))
    study.optimize(square, 12)
    first = study.ask()
    first.suggest_float("x", -1, 1)  # but not y yet
    elsewhere = optuna.load_study(study_name="s", storage=storage, sampler=OptimistSampler(20, seed=0))
    second = elsewhere.ask()
    second.suggest_float("x", -1, 1)
    (record,) = elsewhere.sampler._records
    (engine,) = record._engines.values()
    assert list(engine._pending) == [first.number]
    offered = elsewhere.trials[first.number].system_attrs[OFFERED]
    assert offered["x"] == first.params["x"] and set(offered) == {"x", "y"}


def test_a_region_that_fails_is_avoided() -> None:
    def objective(trial: Any) -> float:
        x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
        if x + y > 1:  # just where the values would be best
            raise ValueError
        return -x - y

    study = study_of(objective, 40, catch=ValueError)
    failed = [trial.state == TrialState.FAIL for trial in study.trials]
    assert sum(failed[:10]) > 2 and sum(failed[20:]) <= 10, failed  # half of the space fails
    assert study.best_value < -0.98


def test_a_trial_that_fails_before_it_has_asked_for_everything_is_told_where_it_would_have_been() -> None:
    study = study_of(square, 10)
    trial = study.ask()
    trial.suggest_float("x", -1, 1)
    offered = study.trials[-1].system_attrs[OFFERED]
    study.tell(trial, state=TrialState.FAIL)
    study.optimize(square, 1)
    (record,) = study.sampler._records
    assert record.rows[10].values == offered and record.rows[10].outcomes is None


def curves() -> Curves:
    known = Curves()
    for start in (0.1, 0.2, 0.3, 0.4):
        known.add({1: start, 5: start + 0.2, 9: start + 0.3}, start + 0.3)
    return known


def test_a_pruned_trial_is_expected_to_gain_what_complete_ones_did_from_its_step() -> None:
    assert curves().expected({1: 0.05}) == Outcome(pytest.approx(0.35))
    assert curves().expected({1: 0.05, 5: 0.1}) == Outcome(pytest.approx(0.2))
    assert curves().expected({1: 0.05, 6: 0.1}) == Outcome(pytest.approx(0.2))  # the nearest step
    uneven = curves()
    for gain in (0.5, 0.6, 0.7, 0.9):
        uneven.add({1: -1.0}, gain - 1.0)
    expected = uneven.expected({1: 0.0})
    assert expected is not None and expected.noise_std is not None and 0.1 < expected.noise_std < 0.4


def test_a_pruned_trial_is_not_believed_to_be_better_than_the_best_complete_one() -> None:
    assert curves().expected({1: 0.65}) == Outcome(0.7)


def test_a_pruned_trial_is_what_it_has_reported_while_none_is_complete_and_failed_without_a_report() -> None:
    assert Curves().expected({3: 0.5}) == Outcome(0.5)
    assert Curves().expected({}) is None and Curves().expected({3: math.nan}) is None


def trained(trial: Any) -> float:
    """Its value falls to its end by 81 epochs; early on, a large rate looks better than it is."""
    rate, width = trial.suggest_float("rate", 1e-4, 1, log=True), trial.suggest_int("width", 1, 64)
    final = (math.log10(rate) + 2) ** 2 / 4 + (width - 40) ** 2 / 1000
    for epoch in range(1, 82):
        loss = final + 2 * math.exp(-epoch * (0.03 + rate / 5))
        trial.report(loss, epoch)
        if trial.should_prune():
            raise optuna.TrialPruned
    return final + 2 * math.exp(-81 * (0.03 + rate / 5))


@pytest.mark.parametrize(
    "pruner", [optuna.pruners.MedianPruner(n_warmup_steps=5), optuna.pruners.HyperbandPruner(max_resource=81)]
)
def test_pruned_trials_are_learnt_from(pruner: Any) -> None:
    study = optuna.create_study(sampler=OptimistSampler(60, seed=0), pruner=pruner)
    study.optimize(trained, 60)
    states = [trial.state for trial in study.trials]
    assert states.count(TrialState.PRUNED) > 15, states
    assert study.best_value < 0.25
    late = [(math.log10(trial.params["rate"]), trial.params["width"]) for trial in study.trials[40:]]
    assert sum(abs(rate + 2) < 1 and abs(width - 40) < 16 for rate, width in late) > 10, late


def test_a_bracket_is_a_study_of_its_own() -> None:
    study = optuna.create_study(sampler=OptimistSampler(30, seed=0), pruner=optuna.pruners.HyperbandPruner(max_resource=27))
    study.optimize(trained, 30)
    records = study.sampler._records
    numbers = [{row.number for row in record.rows} for record in records]
    assert len(records) > 2 and sum(map(len, numbers)) <= 30
    assert all(not one & other for i, one in enumerate(numbers) for other in numbers[:i])


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_what_is_not_finite_counts_as_failed(value: float) -> None:
    study = study_of(lambda trial: value if trial.suggest_float("x", 0, 1) > 0.7 else trial.params["x"], 20)
    (record,) = study.sampler._records
    assert all((row.outcomes is None) == (row.values["x"] > 0.7) for row in record.rows)
    assert sum(row.outcomes is None for row in record.rows) < 10


def test_trials_of_elsewhere_are_learnt_from() -> None:
    study = optuna.create_study(sampler=OptimistSampler(20, seed=0), direction="maximize")
    ranges = {"x": FloatDistribution(-1, 1), "y": FloatDistribution(-1, 1)}
    for i in range(30):
        x, y = math.sin(5 * i), math.sin(7 * i + 1)
        study.add_trial(create_trial(params={"x": x, "y": y}, distributions=ranges, value=-((x - 0.3) ** 2) - (y + 0.2) ** 2))
    trial = study.ask(ranges)
    assert math.dist((trial.params["x"], trial.params["y"]), (0.3, -0.2)) < 0.1


def test_no_trial_is_made_twice_while_there_are_others() -> None:
    def objective(trial: Any) -> float:
        return trial.suggest_int("k", 1, 4) + (trial.suggest_categorical("c", ["a", None, True]) == "a")

    study = study_of(objective, 12)
    assert len({tuple(params.values()) for params in asked(study)}) == 12
    study.optimize(objective, 3)  # nothing is left, and it goes on


# Several values, and constraints.


def hypervolume(study: Any, reference: tuple[float, float]) -> float:
    """The area that the trials of a study dominate, both values minimised."""
    area, height = 0.0, reference[1]
    for first, second in sorted(tuple(trial.values) for trial in study.best_trials):
        if first < reference[0] and second < height:
            area += (reference[0] - first) * (height - second)
            height = second
    return area


def two(trial: Any) -> tuple[float, float]:
    """ZDT1 in three dimensions, the second value to be maximised."""
    x, y, z = (trial.suggest_float(name, 0, 1) for name in "xyz")
    far = 1 + 4.5 * (y + z)
    return x, -far * (1 - math.sqrt(x / far))


def test_the_front_of_two_objectives_is_better_than_that_of_random_search() -> None:
    areas = []
    for sampler in (OptimistSampler(40, seed=0), optuna.samplers.RandomSampler(seed=0)):
        study = optuna.create_study(directions=["minimize", "minimize"], sampler=sampler)
        study.optimize(lambda trial: (two(trial)[0], -two(trial)[1]), 40)
        areas.append(hypervolume(study, (1.1, 1.1)))
    print(f"hypervolume of 0.87: {areas[0]:.3f}, random {areas[1]:.3f}")
    assert areas[0] > areas[1]


def test_each_direction_counts() -> None:
    study = optuna.create_study(directions=["minimize", "maximize"], sampler=OptimistSampler(30, seed=0))
    study.optimize(two, 30)
    late = study.trials[20:]
    assert sum(trial.params["y"] < 0.2 and trial.params["z"] < 0.2 for trial in late) >= 6, [one.params for one in late]


def tight(trial: Any) -> float:
    """At best 0.5 where x + y <= 1."""
    x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
    if hasattr(trial, "set_constraint"):
        trial.set_constraint("sum", x + y - 1)
    return (x - 1) ** 2 + (y - 1) ** 2


def listed(trial: Any) -> list[float]:
    return [trial.params["x"] + trial.params["y"] - 1]


@pytest.mark.filterwarnings("ignore")  # constraints_func is deprecated
@pytest.mark.parametrize("way", ["set_constraint", "constraints_func"])
def test_constraints_on_what_is_measured_are_met(way: str) -> None:
    if way == "set_constraint" and not hasattr(optuna.Trial, way):
        pytest.skip("Optuna 5 brings set_constraint")
    func = listed if way == "constraints_func" else None
    objective = (
        (lambda trial: (trial.suggest_float("x", 0, 1) - 1) ** 2 + (trial.suggest_float("y", 0, 1) - 1) ** 2) if func else tight
    )
    study = optuna.create_study(sampler=OptimistSampler(40, seed=0, constraints_func=func))
    study.optimize(objective, 40)
    met = [trial.value for trial in study.trials if listed(trial)[0] <= 0]
    assert 0.5 <= min(met) < 0.501 and len(met) > 4, (min(met), len(met))


def test_constraints_that_a_trial_has_not_set_are_met_and_those_of_a_failed_one_unknown() -> None:
    goals = Goals(2, ("a", "b"))
    row = Row(0, {}, {}, {}, {}, {"a": 0.5}, outcomes=(Outcome(1.0), Outcome(2.0, 0.1)))
    assert goals.outcomes(row) == [(1.0, None), (2.0, 0.1), (-0.5, None), (0.0, None)]
    assert goals.outcomes(replace(row, outcomes=None)) == [None, None, (-0.5, None), None]
    assert goals.outcomes(replace(row, constraints={"b": math.inf}))[2:] == [(0.0, None), None]


def test_constraints_beyond_what_the_engine_knows_are_one_the_worst_of_them() -> None:
    names = tuple("abcdefghij")
    row = Row(0, {}, {}, {}, {}, {name: float(i) for i, name in enumerate(names)}, outcomes=(Outcome(1.0),))
    assert goals_told(Goals(1, names), row) == [1.0, 0.0, -1.0, -2.0, -3.0, -4.0, -5.0, -9.0]
    assert len(Goals(1, names).to_list()) == 8


def goals_told(goals: Goals, row: Row) -> list[float | None]:
    return [None if one is None else one[0] for one in goals.outcomes(row)]


# Spaces.


def space_of(study: Any) -> Any:
    (record,) = study.sampler._records
    return record.space


def test_what_a_parameter_waits_for_is_learnt() -> None:
    study = study_of(models, 30)
    assert space_of(study).whens == {
        "model": {},
        **{"c": {"model": 0}, "gamma": {"model": 0}, "trees": {"model": 1}, "leaf": {"model": 1}},
        **{"layers": {"model": 2}, "rate": {"model": 2}, "drop": {"model": 2}},
    }
    trial = study.ask()
    own = {"svm": {"c", "gamma"}, "forest": {"trees", "leaf"}, "network": {"layers", "rate", "drop"}}
    model = trial.suggest_categorical("model", ["svm", "forest", "network"])
    assert set(study.trials[-1].system_attrs[OFFERED]) == {"model"} | own[model]  # all that it will need, and nothing else


def test_a_condition_on_a_number_leaves_its_parameters_always_there() -> None:
    def objective(trial: Any) -> float:
        n_layers = trial.suggest_int("n_layers", 1, 3)
        widths = [trial.suggest_int(f"width{i}", 1, 64) for i in range(n_layers)]
        return abs(n_layers - 2) + sum(abs(width - 30) for width in widths) / 30

    study = study_of(objective, 40)
    assert set(space_of(study).axes()) == {"n_layers", "width0", "width1", "width2"}
    assert study.best_value < 0.3


def test_a_range_that_was_edited_counts_as_it_is_now() -> None:
    study = optuna.create_study(sampler=OptimistSampler(30, seed=0))
    study.optimize(lambda trial: (trial.suggest_float("x", 0, 10) - 8) ** 2, 10)
    study.optimize(lambda trial: (trial.suggest_float("x", 0, 5) - 8) ** 2, 8)
    assert study.trials[-1].params["x"] > 4.9
    study.optimize(lambda trial: (trial.suggest_float("x", 0, 20) - 8) ** 2, 12)
    assert study.best_value < 1e-3


def test_of_a_range_that_depends_on_others_it_counts_where_in_it_a_value_lies() -> None:
    def objective(trial: Any) -> float:
        depth = trial.suggest_int("depth", 1, 10)
        leaves = trial.suggest_int("leaves", 2, 2**depth)
        return (depth - 7) ** 2 / 10 + (math.log2(leaves) / depth - 0.8) ** 2

    study = study_of(objective, 60)
    assert space_of(study).axes()["leaves"] is None
    assert study.best_value < 0.05
    assert all(2 <= params["leaves"] <= 2 ** params["depth"] for params in asked(study))


def test_names_that_never_come_again_do_not_grow_the_space() -> None:
    study = study_of(lambda trial: trial.suggest_float(f"x{trial.number}", 0, 1) + trial.suggest_float("y", 0, 1), 50)
    assert len(space_of(study).axes()) <= 32


CHOICES = ["a", None, 1, True, 1.5]


def test_choices_are_told_apart_by_their_place() -> None:
    study = optuna.create_study(sampler=OptimistSampler(20, seed=0))
    seen = []

    def objective(trial: Any) -> float:
        seen.append(trial.suggest_categorical("c", CHOICES))
        return 0.0 if seen[-1] is True else 1.0

    study.optimize(objective, 20)
    assert {repr(one) for one in seen} <= {repr(one) for one in CHOICES} and {repr(one) for one in seen} >= {"None", "'a'"}


@pytest.mark.parametrize(
    "range_",
    [
        FloatDistribution(-1.7e308, 1.7e308),
        FloatDistribution(0, 1e17, step=1),
        IntDistribution(0, 2**70),
        IntDistribution(1, 2**70, log=True),
    ],
)
def test_no_range_is_too_wide(range_: Any) -> None:
    study = optuna.create_study(sampler=OptimistSampler(10, seed=0))
    for _ in range(6):
        trial = study.ask({"x": range_})
        assert range_._contains(range_.to_internal_repr(trial.params["x"]))
        study.tell(trial, float(trial.params["x"]) / 1e308)


def test_parameters_that_are_enqueued_are_kept_and_the_others_suggested() -> None:
    study = study_of(square, 5)
    study.enqueue_trial({"x": 0.5})
    study.enqueue_trial({"x": 0.25, "y": 0.75})
    waiting = study.ask({"x": FloatDistribution(-1, 1), "y": FloatDistribution(-1, 1)})
    (record,) = study.sampler._records
    engine = list(record._engines.values())[-1]
    assert waiting.params["x"] == 0.5 and engine._pending == {6: [0.625, 0.875]}  # what waits is pending as well
    study.tell(waiting, square(optuna.trial.FixedTrial(waiting.params)))
    study.optimize(square, 3)
    assert asked(study)[6] == {"x": 0.25, "y": 0.75} and all(trial.state == TrialState.COMPLETE for trial in study.trials)


# The same again.


def test_the_same_seed_gives_the_same_trials_however_often_the_sampler_is_made_anew() -> None:
    straight = study_of(models, 20)
    storage = optuna.storages.InMemoryStorage()
    optuna.create_study(study_name="s", storage=storage)
    for _ in range(20):
        optuna.load_study(study_name="s", storage=storage, sampler=OptimistSampler(20, seed=0)).optimize(models, 1)
    again = optuna.load_study(study_name="s", storage=storage)
    assert asked(straight) == asked(again) != asked(study_of(models, 20, seed=1))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda sampler: pickle.loads(pickle.dumps(sampler))])
def test_a_copy_of_a_sampler_suggests_the_same(copied: Callable[[Any], Any]) -> None:
    study, other = study_of(models, 12), study_of(models, 12)
    other.sampler = copied(study.sampler)
    study.optimize(models, 5)
    other.optimize(models, 5)
    assert asked(study) == asked(other)


def test_other_processes_with_other_hashes_suggest_the_same() -> None:
    script = (
        "import sys, optuna; sys.path.insert(0, sys.argv[1]); from optuna_tasks import models; "
        "from optimist.optuna import OptimistSampler; optuna.logging.set_verbosity(optuna.logging.ERROR); "
        "study = optuna.create_study(sampler=OptimistSampler(12, seed=0)); study.optimize(models, 12); "
        "print([trial.params for trial in study.trials])"
    )
    command = [sys.executable, "-c", script, str(Path(__file__).parent)]
    found = {subprocess.check_output(command, env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)}) for seed in "12"}
    assert len(found) == 1


def test_one_sampler_serves_several_studies() -> None:
    sampler = OptimistSampler(20, seed=0)
    first, second = optuna.create_study(sampler=sampler), optuna.create_study(sampler=sampler, direction="maximize")
    for _ in range(10):
        first.optimize(square, 1)
        second.optimize(lambda trial: -network(trial), 1)
    assert asked(first) == asked(study_of(square, 20))[:10]
    alone = optuna.create_study(sampler=OptimistSampler(20, seed=0), direction="maximize")
    alone.optimize(lambda trial: -network(trial), 10)
    assert asked(second) == asked(alone)


def test_threads_share_a_sampler() -> None:
    study = study_of(models, 40, n_jobs=4)
    assert sorted(trial.number for trial in study.trials) == list(range(40))
    assert all(trial.state == TrialState.COMPLETE for trial in study.trials)
    points = [tuple(trial.params.values()) for trial in study.trials]
    assert len(set(points)) >= 39


# What it costs.


def calls_by_part(objective: Objective, n_trials: int, **settings: Any) -> list[int]:
    """Calls of engines in each fifth of a study."""
    study, calls = optuna.create_study(sampler=OptimistSampler(n_trials, seed=0, **settings)), [0]
    for _ in range(5):
        study.optimize(objective, n_trials // 5)
        records = study.sampler._records
        calls.append(sum(engine.n_calls for record in records for engine in record._engines.values()))
    return [after - before for before, after in itertools.pairwise(calls)]


def test_the_engine_is_told_only_what_is_new() -> None:
    assert calls_by_part(network, 100)[1:] == [60, 60, 60, 60]  # suggest, propose, tell
    assert max(calls_by_part(models, 100)[2:]) <= 70


def test_a_trial_that_never_ends_does_not_slow_down_the_others() -> None:
    study = optuna.create_study(sampler=OptimistSampler(60, seed=0))
    study.ask({"x": FloatDistribution(-1, 1), "y": FloatDistribution(-1, 1)})
    study.optimize(square, 40)
    (record,) = study.sampler._records
    assert record._open == [0, 40] and len(record.rows) == 39


# The rest.


def test_settings_are_checked_at_once() -> None:
    assert "OptimistSampler" in str(OptimistSampler(preset="paper"))
    with pytest.raises(optimist.StudyError, match="n_trials must be a whole number"):
        OptimistSampler(0)
    with pytest.raises(optimist.StudyError, match="explorashun"):
        OptimistSampler(explorashun=2)


def test_without_optuna_the_import_says_what_to_install() -> None:
    script = (
        "import sys; sys.modules['optuna'] = None\ntry:\n    import optimist.optuna\nexcept ImportError as error: print(error)"
    )
    found = subprocess.check_output([sys.executable, "-c", script], text=True, env={"PYTHONPATH": ":".join(sys.path)})
    assert found == 'optimist.optuna needs Optuna; install it with: pip install "optimist[optuna]"\n'


def test_optuna_is_imported_only_when_it_is_asked_for() -> None:
    script = "import sys, optimist; optimist.minimize(lambda x: x, {'x': (0., 1.)}, trials=2); print('optuna' in sys.modules)"
    found = subprocess.check_output([sys.executable, "-c", script], text=True, env={"PYTHONPATH": ":".join(sys.path)})
    assert found == "False\n"


def test_importances_are_shares_of_the_variance_conditional_parameters_included() -> None:
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(lambda trial: 2 * trial.suggest_float("a", 0, 1) + trial.suggest_float("b", 0, 1), 30)
    found = OptimistImportanceEvaluator().evaluate(study)
    assert found == {"a": pytest.approx(0.8, abs=0.05), "b": pytest.approx(0.2, abs=0.05)}
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(models, 60)
    found = OptimistImportanceEvaluator().evaluate(study)
    assert set(found) == {"model", "c", "gamma", "trees", "leaf", "layers", "rate", "drop"} and found["gamma"] > found["drop"]


@pytest.mark.parametrize("name", ["_importance", "_sampler"])
def test_examples_of_docstrings_hold(name: str) -> None:
    found = doctest.testmod(importlib.import_module(f"optimist.optuna.{name}"))
    assert found.attempted > 0 and found.failed == 0


def test_a_single_choice_is_not_searched() -> None:
    study = optuna.create_study(sampler=OptimistSampler(5, seed=0))
    ranges = {"c": CategoricalDistribution(["only"]), "x": FloatDistribution(0, 1)}
    for _ in range(3):
        trial = study.ask(ranges)
        study.tell(trial, trial.params["x"])
    assert set(space_of(study).axes()) == {"x"}
