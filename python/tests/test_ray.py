"""Studies and searches on a real Ray, started once for all of these: under two minutes. `test_ray_cluster.py` kills nodes."""

from __future__ import annotations

import copy
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import optimist as op

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
ray = pytest.importorskip("ray")
tune = pytest.importorskip("ray.tune")

SPACE = {"x": op.Float(-1, 1), "k": ["a", "b"]}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Ray on this machine, which has two processors whatever there is."""
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # tests are on no path that Ray's processes know
    ray.init("local", num_cpus=2, include_dashboard=False, object_store_memory=80_000_000, log_to_driver=False)
    yield ray
    ray.shutdown()


def bowl(x: float, k: str) -> float:
    return x**2 + (k == "a")


def test_trials_run_as_ray_tasks(cluster: Any, database: Path) -> None:
    def objective(x: float, k: str) -> dict[str, Any]:
        return {"value": bowl(x, k), "metrics": {"process": os.getpid()}}

    study = op.Study("s", SPACE, direction="minimize", trials=8, storage=database)
    study.run(objective, executor=op.ray(num_cpus=1))
    assert [trial.state for trial in study.trials] == ["complete"] * 8
    assert os.getpid() not in {trial.metrics["process"] for trial in study.trials}
    assert study.verify()


def test_what_an_objective_raises_is_a_failed_trial_with_its_reason(cluster: Any) -> None:
    def objective(x: float, k: str) -> float:
        if k == "a":
            raise op.Failed("smoke")
        if x > 0:
            raise ValueError("too hot")
        return x

    study = op.Study("s", SPACE, direction="minimize", trials=6)
    for x, k in [(0.5, "a"), (0.5, "b"), (-0.5, "b")]:
        study.enqueue({"x": x, "k": k})
    study.run(objective, executor=op.ray(), trials=3)
    assert [(one.state, one.failure, one.reason) for one in study.trials] == [
        ("failed", "infeasible", "smoke"),
        ("failed", "crashed", "ValueError: too hot"),
        ("complete", None, None),
    ]


def test_a_trial_whose_process_dies_is_put_back_and_run_again(cluster: Any, database: Path, tmp_path: Path) -> None:
    mark = tmp_path / "died"

    def objective(x: float, k: str) -> float:
        try:
            mark.touch(exist_ok=False)
        except FileExistsError:
            return bowl(x, k)
        os._exit(1)

    study = op.Study("s", SPACE, direction="minimize", trials=5, storage=database)
    study.run(objective, executor=op.ray(), workers=2)
    assert [trial.state for trial in study.trials] == ["complete"] * 5
    assert sorted(trial.attempts for trial in study.trials) == [1, 1, 1, 1, 2]
    assert study.verify()


def test_room_is_counted_by_what_trials_need(cluster: Any) -> None:
    assert op.ray(num_cpus=1)._max_workers == 2  # type: ignore[attr-defined]
    assert op.ray(num_cpus=0.5)._max_workers == 4  # type: ignore[attr-defined]
    with pytest.raises(op.StudyError, match="no room for a trial that needs 1 CPU, 1 GPU"):
        op.ray(num_gpus=1)
    with pytest.raises(op.StudyError, match="say how many to run at a time"):
        op.ray(num_cpus=0)


DRIVER = """
import os, sys, time
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
import ray
import optimist as op

def objective(x, k):
    time.sleep(0.2)
    return x**2 + (k == "a")

ray.init(address=sys.argv[2], log_to_driver=False)
study = op.Study.load("s", storage=sys.argv[1])
study.run(objective, executor=op.ray(), callbacks=[lambda study, trial: print(trial.number, flush=True)])
"""


def test_another_driver_resumes_when_the_first_was_killed(cluster: Any, database: Path, tmp_path: Path) -> None:
    script = tmp_path / "driver.py"
    script.write_text(DRIVER)
    study = op.Study("s", SPACE, direction="minimize", trials=12, storage=database)
    address = ray.get_runtime_context().gcs_address
    driver = subprocess.Popen([sys.executable, str(script), str(database), address], stdout=subprocess.PIPE, text=True)
    assert driver.stdout is not None
    for _ in range(3):
        assert driver.stdout.readline().strip().isdigit()
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    study.run(bowl, executor=op.ray())
    assert [trial.state for trial in study.trials] == ["complete"] * 12
    assert all(trial.attempts <= 2 for trial in study.trials) and study.verify()


def test_a_stopped_run_puts_back_what_was_running(cluster: Any) -> None:
    def slow(x: float, k: str) -> float:
        time.sleep(60)
        return 0.0

    def interrupt(study: op.Study, trial: op.Trial) -> None:
        raise KeyboardInterrupt

    def objective(x: float, k: str) -> float:
        return x if k == "a" else slow(x, k)

    study = op.Study("s", SPACE, direction="minimize", trials=2)
    study.enqueue({"x": 0.0, "k": "a"})
    study.enqueue({"x": 0.0, "k": "b"})
    with pytest.raises(KeyboardInterrupt):
        study.run(objective, executor=op.ray(), callbacks=[interrupt])
    assert [trial.state for trial in study.trials] == ["complete", "waiting"]


def test_tune_runs_the_searcher_with_a_scheduler_that_stops_trials(cluster: Any, tmp_path: Path) -> None:
    from ray.tune.schedulers import ASHAScheduler

    from optimist.ray import OptimistSearch

    def train(config: dict[str, Any]) -> None:
        for epoch in range(1, 5):
            tune.report({"loss": (config["net"]["x"] - 0.3) ** 2 + config["depth"] * config["scale"] + 1 / epoch})

    search = OptimistSearch(seed=1)
    tuner = tune.Tuner(
        train,
        param_space={"net": {"x": tune.uniform(-1, 1)}, "depth": tune.randint(0, 3), "scale": 0.1},
        tune_config=tune.TuneConfig(
            metric="loss",
            mode="min",
            search_alg=search,
            num_samples=8,
            max_concurrent_trials=2,
            scheduler=ASHAScheduler(max_t=4, grace_period=1, reduction_factor=2),
            reuse_actors=True,
        ),
        run_config=tune.RunConfig(storage_path=str(tmp_path), name="run", verbose=0),
    )
    results = tuner.fit()
    study = search._ready()
    assert len(results) == 8 and len(study) == 8 and study.plan["trials"] == 8
    assert [trial.state for trial in study.trials] == ["complete"] * 8
    stopped = {number for number, (_, noise_std) in search._curves.stopped.items() if noise_std is not None}
    short = {trial.number for trial in study.trials if search._curves.curves[trial.number][-1][0] < 4}
    assert short and stopped == short, "what the scheduler stopped is unfinished, and nothing else"
    assert study.verify()


def test_tune_runs_the_searcher_with_several_metrics(cluster: Any, tmp_path: Path) -> None:
    from optimist.ray import OptimistSearch

    def train(config: dict[str, Any]) -> None:
        tune.report({"error": config["x"] ** 2, "seconds": (config["x"] - 1) ** 2})

    search = OptimistSearch(metric=["error", "seconds"], mode=["min", "min"])
    tuner = tune.Tuner(
        train,
        param_space={"x": tune.uniform(-2, 2)},
        tune_config=tune.TuneConfig(search_alg=search, num_samples=6, max_concurrent_trials=2, reuse_actors=True),
        run_config=tune.RunConfig(storage_path=str(tmp_path), name="run", verbose=0),
    )
    assert len(tuner.fit()) == 6
    assert search.study.plan["trials"] == 6 and search.study.front and search.study.verify()


def test_what_ray_asks_of_a_searcher_about_values_that_are_none(cluster: Any, tmp_path: Path) -> None:
    """Cases of Ray's own `test_searchers.py`: the anonymous metric, constants with lists, NaN, infinities, evaluated trials."""
    from optimist.ray import OptimistSearch

    def invalid(config: dict[str, Any]) -> None:
        kinds = {4: math.inf, 3: -math.inf, 2: math.nan}
        tune.report({"_metric": kinds.get(int(config["report"]), config["report"])})

    search = OptimistSearch(points_to_evaluate=[{"report": x} for x in (4.5, 3.5, 2.5)])
    analysis = tune.run(
        invalid,
        search_alg=search,
        config={"report": tune.uniform(0.0, 5.0), "list": [1, 2, 3], "num": 4},
        metric="_metric",
        mode="max",
        num_samples=8,
        reuse_actors=True,
        storage_path=str(tmp_path),
        verbose=0,
    )
    best = analysis.best_trial
    assert best.config["report"] <= 2.0 and best.config["list"] == [1, 2, 3] and best.config["num"] == 4
    assert [trial.state for trial in search.study.trials][:3] == ["failed"] * 3
    assert all((trial.state == "failed") == (2 <= trial.params["report"] < 5) for trial in search.study.trials)

    for trials in (analysis, analysis.trials, analysis.trials[3]):
        other = OptimistSearch({"report": tune.uniform(0.0, 5.0)}, metric="_metric", mode="max")
        copied = copy.deepcopy(other)
        copied.add_evaluated_trials(trials, "_metric")
        assert len(copied.study) == (8 if trials is not analysis.trials[3] else 1)
        known = {trial.params["report"]: trial.value for trial in copied.study.trials if trial.state == "complete"}
        assert known and known.items() <= {trial.params["report"]: trial.value for trial in search.study.trials}.items()
        assert copied.suggest("next") is not None
