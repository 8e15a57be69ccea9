"""A server is a storage: what works on a file works through `optimist serve`."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import optimist as op


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    program = os.environ.get("OPTIMIST_PROGRAM")
    if program is None:
        pytest.skip("OPTIMIST_PROGRAM names no program")
    database = str(tmp_path / "served.db")
    made = subprocess.run(
        [program, "token", "create", "--role", "admin", "--json", "--storage", database],
        capture_output=True,
        text=True,
        check=True,
    )
    monkeypatch.setenv("OPTIMIST_TOKEN", json.loads(made.stdout)["token"])
    command = [program, "serve", "--listen", "127.0.0.1:0", "--storage", database]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = re.search(r"http://[^/]+", process.stdout.readline())
        assert address is not None
        yield address.group()
        process.terminate()
        assert process.wait(timeout=30) == 0


def test_a_study_runs_through_a_server(server: str, tmp_path: Path) -> None:
    study = op.Study("bowl", {"x": op.Float(-1, 1)}, direction="minimize", trials=8, storage=server)
    study.run(lambda x: x * x)
    there = op.Study.load("bowl", storage=server)
    here = op.Study.load("bowl", storage=str(tmp_path / "served.db"))
    assert len(there.trials) == 8
    assert [trial.value for trial in there.trials] == [trial.value for trial in here.trials]
    assert op.studies(server)[0]["study"] == "bowl"
    there.delete()
    assert op.studies(server) == []


def test_a_server_that_does_not_know_the_token_says_what_to_do(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPTIMIST_TOKEN", "opt_00")
    with pytest.raises(Exception, match="OPTIMIST_TOKEN"):
        op.studies(server)
