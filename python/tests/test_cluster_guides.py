"""The guides to Ray Tune and to clusters do what they say."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import optimist as op

ROOT = Path(__file__).parents[2]


def blocks(guide: str, language: str) -> list[str]:
    text = (ROOT / f"docs/guides/{guide}.md").read_text()
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def run(script: str, folder: Path, **variables: str) -> str:
    """A script in a process and a folder of its own, as users run it."""
    (folder / "script.py").write_text(script)
    ray = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ADDRESS": "local"}  # no cluster that happens to be there
    environment = {**os.environ, **ray, "HOME": str(folder), **variables}
    found = subprocess.run(
        [sys.executable, "script.py"], cwd=folder, env=environment, capture_output=True, text=True, timeout=600
    )
    assert found.returncode == 0, found.stdout[-2000:] + found.stderr[-4000:]
    return found.stdout


@pytest.mark.parametrize("number", [pytest.param(0, marks=pytest.mark.long), 1])
def test_the_guide_to_ray_tune_runs(number: int, tmp_path: Path) -> None:
    pytest.importorskip("ray.tune")
    pytest.importorskip("sklearn")
    assert "'lr':" in run(blocks("ray", "python")[number], tmp_path)


def test_the_new_script_is_the_old_one_with_the_lines_that_are_marked() -> None:
    before, after = blocks("ray", "python")
    kept = [
        line for line in after.splitlines() if not line.endswith(("# new", "# if you like")) and "scheduler" not in line.lower()
    ]
    is_call = ("tuner = tune.Tuner", '    metric="error"', "))")
    assert [line for line in kept if not line.startswith(is_call)] == [
        line for line in before.splitlines() if not line.startswith(is_call)
    ]


@pytest.mark.parametrize(
    ("number", "package", "name"), [(0, "ray", "net"), (1, "distributed", "dask-net"), (2, "submitit", "slurm-net")]
)
def test_the_guide_to_clusters_runs(number: int, package: str, name: str, storage: str, tmp_path: Path) -> None:
    pytest.importorskip(package)
    if package == "ray" and "postgres" not in storage:
        pytest.skip("once is enough for what takes seconds to start")
    run(blocks("clusters", "python")[number], tmp_path, OPTIMIST_STORAGE=storage, SUBMITIT_CLUSTER="local")
    study = op.Study.load(name, storage=storage)
    assert [trial.state for trial in study.trials] == ["complete"] * 20
    assert all(trial.attempts == 1 for trial in study.trials) and study.verify()


STUDY = """
name = "crane"
direction = "minimize"
trials = 12
[objective]
command = ["python3", "-c", "import json; x = json.loads(input())['x']; print(json.dumps({'value': x * x}))"]
[parameters.x]
type = "float"
low = -1.0
high = 1.0
"""


@pytest.fixture
def crane(storage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> op.Study:
    return study_of(STUDY, storage, tmp_path, monkeypatch)


def study_of(text: str, storage: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> op.Study:
    """The study of a file, and the command `optimist` on the path, with the study's storage."""
    (folder / "crane.toml").write_text(text)
    start = f"{sys.executable} -c 'from optimist._command import main; main()'"
    (folder / "optimist").write_text(f'#!/bin/sh\nexec {start} "$@"\n')
    (folder / "optimist").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("OPTIMIST_STORAGE", storage)
    return op.Study.from_file(folder / "crane.toml", storage=storage)


def workers(commands: list[list[str]], folder: Path) -> None:
    """Runs all of them at the same time, in folders that have nothing of the study."""
    with ThreadPoolExecutor(len(commands)) as threads:
        for found in threads.map(lambda command: subprocess.run(command, cwd=folder, capture_output=True, text=True), commands):
            assert found.returncode == 0, found.stdout + found.stderr


def is_complete(study: op.Study) -> bool:
    trials = study.trials
    return (
        len(trials) == 12 and all(trial.state == "complete" and trial.attempts == 1 for trial in trials) and bool(study.verify())
    )


def test_the_job_array_runs(crane: op.Study, tmp_path: Path) -> None:
    script = tmp_path / "crane.sbatch"
    script.write_text(blocks("clusters", "sh")[0])
    workers([["sh", str(script)]] * 3, tmp_path)
    assert is_complete(crane)


def test_the_kubernetes_job_runs_its_command(crane: op.Study, tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    job = yaml.safe_load(blocks("clusters", "yaml")[0])
    assert (job["kind"], job["apiVersion"]) == ("Job", "batch/v1") and "completions" not in job["spec"]
    pod = job["spec"]["template"]["spec"]
    assert pod["restartPolicy"] in ("OnFailure", "Never"), "what a Job's pods may have"
    (container,) = pod["containers"]
    assert [variable["name"] for variable in container["env"]] == ["OPTIMIST_STORAGE"]
    workers([[*container["command"], *container["args"]]] * 3, tmp_path)
    assert is_complete(crane)


#: Its objective shows when a trial has begun, and waits until it may end.
HELD_UP = """
name = "crane"
direction = "minimize"
trials = 12
[objective]
command = ["sh", "-c", "touch begun; until [ -e go ]; do sleep 0.05; done; echo '{\\"value\\": 1}'"]
[parameters]
x = { type = "float", low = 0, high = 1 }
"""


def begun_job(folder: Path) -> subprocess.Popen[bytes]:
    """A job of the array whose trial is running."""
    (folder / "crane.sbatch").write_text(blocks("clusters", "sh")[0])
    job = subprocess.Popen(["sh", "crane.sbatch"], cwd=folder)
    while not (folder / "begun").exists():
        assert job.poll() is None
        time.sleep(0.05)
    return job


@pytest.mark.parametrize("way", ["the signal of Slurm", "the hook of Kubernetes"])
def test_a_job_that_is_asked_to_end_finishes_its_trial(
    way: str, database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = study_of(HELD_UP, str(database), tmp_path, monkeypatch)
    job = begun_job(tmp_path)
    if way == "the signal of Slurm":
        (name,) = re.findall(r"^#SBATCH --signal=B:(\w+)@\d+$", blocks("clusters", "sh")[0], re.MULTILINE)
        job.send_signal(getattr(signal, f"SIG{name}"))  # to the shell of the script alone
        hook = None
    else:
        yaml = pytest.importorskip("yaml")
        (container,) = yaml.safe_load(blocks("clusters", "yaml")[0])["spec"]["template"]["spec"]["containers"]
        words = container["lifecycle"]["preStop"]["exec"]["command"]
        hook = subprocess.Popen([re.sub(r"(-INT|-0) 1;", rf"\1 {job.pid};", word) for word in words], stderr=subprocess.DEVNULL)
        time.sleep(0.5)
        assert hook.poll() is None, "it waits for the worker"
    (tmp_path / "go").touch()
    assert job.wait() == 130
    assert hook is None or hook.wait() == 0
    assert [trial.state for trial in study.trials] == ["complete"]


def test_a_job_that_is_terminated_puts_its_trial_back(database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = study_of(HELD_UP, str(database), tmp_path, monkeypatch)
    job = begun_job(tmp_path)
    job.terminate()
    assert job.wait() == 130
    assert [trial.state for trial in study.trials] == ["waiting"]
