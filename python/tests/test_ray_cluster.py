"""Ray clusters of two nodes, one of which is killed; Tune killed and restored. Minutes: `scripts/test-bridges` runs them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import optimist as op

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
ray = pytest.importorskip("ray")
tune = pytest.importorskip("ray.tune")
pytestmark = pytest.mark.long

NODE = {"num_cpus": 1, "object_store_memory": 80_000_000}


@pytest.fixture
def cluster() -> Iterator[Any]:
    """Two nodes with one processor each; the driver is connected to the first."""
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={**NODE, "include_dashboard": False})
    cluster.doomed = cluster.add_node(**NODE)
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # tests are on no path that Ray's processes know
    ray.init(address=cluster.address, log_to_driver=False)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


def kill_once(cluster: Any, is_time: Any) -> threading.Thread:
    """Kills the second node, without a word to anybody, as soon as it is time."""

    def wait_and_kill() -> None:
        while not is_time():
            time.sleep(0.2)
        cluster.remove_node(cluster.doomed, allow_graceful=False)

    thread = threading.Thread(target=wait_and_kill, daemon=True)
    thread.start()
    return thread


def test_a_study_loses_nothing_when_a_node_dies(cluster: Any, storage: str, tmp_path: Path) -> None:
    def objective(x: float) -> dict[str, Any]:
        node = ray.get_runtime_context().get_node_id()
        (tmp_path / f"{node}-{time.time_ns()}").touch()
        time.sleep(2)
        return {"value": x**2, "metrics": {"node": node}}

    doomed = cluster.doomed.node_id
    study = op.Study("s", {"x": (-1.0, 1.0)}, direction="minimize", trials=10, storage=storage, lease=10)
    thread = kill_once(cluster, lambda: any(file.name.startswith(doomed) for file in tmp_path.iterdir()))
    study.run(objective, executor=op.ray(), workers=2)
    thread.join()
    trials = study.trials
    assert [trial.state for trial in trials] == ["complete"] * 10
    assert max(trial.attempts for trial in trials) == 2, "what was running there was put back and run again"
    assert study.verify()


def test_tune_loses_nothing_when_a_node_dies(cluster: Any, tmp_path: Path) -> None:
    from optimist.ray import OptimistSearch

    marks = tmp_path / "marks"
    marks.mkdir()

    def train(config: dict[str, Any]) -> None:
        (marks / f"{ray.get_runtime_context().get_node_id()}-{time.time_ns()}").touch()
        time.sleep(3)
        tune.report({"loss": config["x"] ** 2})

    search = OptimistSearch(storage=str(tmp_path / "optimist.db"))
    doomed = cluster.doomed.node_id
    thread = kill_once(cluster, lambda: any(file.name.startswith(doomed) for file in marks.iterdir()))
    results = tune.Tuner(
        train,
        param_space={"x": tune.uniform(-1, 1)},
        tune_config=tune.TuneConfig(metric="loss", mode="min", search_alg=search, num_samples=6, max_concurrent_trials=2),
        run_config=tune.RunConfig(storage_path=str(tmp_path), verbose=0, failure_config=tune.FailureConfig(max_failures=2)),
    ).fit()
    thread.join()
    assert len(results) == 6 and results.num_errors == 0
    study = op.Study.load("ray-tune", storage=tmp_path / "optimist.db")
    reported = sorted(result.metrics["loss"] for result in results)
    assert sorted(trial.value for trial in study.trials if trial.value is not None) == pytest.approx(reported)
    assert [trial.state for trial in study.trials] == ["complete"] * 6 and study.verify()


SCRIPT = """
import os, sys, time
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["TUNE_GLOBAL_CHECKPOINT_S"] = "1"
import ray
from ray import tune
from optimist.ray import OptimistSearch

def train(config):
    time.sleep(1)
    tune.report({"loss": (config["x"] - 0.3) ** 2 + config["n"]})
    print("reported", flush=True)

folder = sys.argv[1]
ray.init("local", num_cpus=1, include_dashboard=False, object_store_memory=80_000_000)
if len(sys.argv) > 2:
    tuner = tune.Tuner.restore(folder + "/run", train, resume_unfinished=True)
else:
    tuner = tune.Tuner(
        train,
        param_space={"x": tune.uniform(-1, 1), "n": tune.randint(0, 4)},
        tune_config=tune.TuneConfig(
            metric="loss", mode="min", search_alg=OptimistSearch(seed=3), num_samples=14, max_concurrent_trials=1,
            reuse_actors=True,
        ),
        run_config=tune.RunConfig(storage_path=folder, name="run", verbose=0),
    )
results = tuner.fit()
for result in results:
    print("trial", result.config["x"], result.config["n"], result.metrics["loss"], flush=True)
"""


def test_tune_that_was_killed_and_restored_suggests_what_it_would_have(tmp_path: Path) -> None:
    from optimist.ray import OptimistSearch

    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    words = [sys.executable, str(script), str(tmp_path)]
    first = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
    assert first.stdout is not None
    n_reported = 0
    for line in first.stdout:
        n_reported += "reported" in line
        if n_reported == 6:
            break
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    second = subprocess.run([*words, "restore"], capture_output=True, text=True)
    found = [tuple(map(float, line.split()[1:])) for line in second.stdout.splitlines() if line.startswith("trial ")]

    search = OptimistSearch(seed=3)
    search.set_search_properties("loss", "min", {"x": tune.uniform(-1, 1), "n": tune.randint(0, 4)}, num_samples=14)
    expected = []
    for i in range(14):
        config = search.suggest(str(i))
        loss = (config["x"] - 0.3) ** 2 + config["n"]
        result = {"loss": loss, "training_iteration": 1}
        search.on_trial_result(str(i), result)
        search.on_trial_complete(trial_id=str(i), result=result)
        expected.append((config["x"], config["n"], loss))
    assert sorted(found) == sorted(expected), second.stderr[-2000:]
