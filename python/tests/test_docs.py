"""The guide, the docstrings and the examples do what they say; stubs and types hold."""

import doctest
import importlib
import os
import pkgutil
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import optimist as op

ROOT = Path(__file__).parents[2]
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "docs/guides/python.md").read_text(), re.DOTALL)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_the_guide_runs(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    needed = {"optuna": "import optuna", "skopt": "from skopt", "ax.api.client": "from ax.", "pandas": "round_reports"}
    for module, sign in needed.items():
        if sign in BLOCKS[number]:
            pytest.importorskip(module)
    exec(compile(BLOCKS[number], f"block {number} of the guide", "exec"), {"__name__": "guide"})


@pytest.mark.parametrize("file", sorted((ROOT / "examples/python").glob("*.py")), ids=lambda file: file.name)
def test_examples_run(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(file), run_name="__main__")
    assert capsys.readouterr().out


@pytest.mark.parametrize("name", [module.name for module in pkgutil.iter_modules(op.__path__)])
def test_examples_of_docstrings_hold(name: str) -> None:
    found = doctest.testmod(importlib.import_module(f"optimist.{name}"))
    assert found.failed == 0


def test_everything_public_is_documented() -> None:
    for name in op.__all__:
        one = getattr(op, name)
        assert name == "__version__" or one.__doc__, name
        for key, member in vars(one).items() if isinstance(one, type) else []:
            assert key.startswith("_") or not callable(member) or member.__doc__, f"{name}.{key}"


def mypy(*words: str) -> None:
    pytest.importorskip("mypy")
    config = str(ROOT / "pyproject.toml")
    environment = {**os.environ, "MYPY_CACHE_DIR": "/dev/null"}
    found = subprocess.run([sys.executable, "-m", *words, config], capture_output=True, text=True, cwd="/", env=environment)
    assert found.returncode == 0, found.stdout + found.stderr


def test_examples_are_typed_strictly() -> None:
    files = [str(file) for file in (ROOT / "examples/python").glob("*.py")]
    for file in files:
        mypy("mypy", "--strict", file, "--config-file")


def test_pyright_finds_nothing() -> None:
    pytest.importorskip("basedpyright")
    words = ["basedpyright", "--level", "error", "--project", str(ROOT), "--pythonpath", sys.executable]
    found = subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr


def test_the_package_is_typed_strictly() -> None:
    mypy("mypy", "--strict", str(ROOT / "python/optimist"), "--config-file")


def test_a_notebook_shows_progress_and_plots() -> None:
    nbformat, nbclient = pytest.importorskip("nbformat.v4"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    run = "import optimist as op\nstudy = op.Study('s', {'x': (0.0, 1.0)}, direction='minimize', trials=4).run(lambda x: x)"
    cells = [nbformat.new_code_cell(source) for source in (run, "study.plot('history')")]
    notebook = nbformat.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, kernel_name="python3").execute()
    progress, plot = notebook.cells[0].outputs[0]["data"], notebook.cells[1].outputs[0]["data"]
    assert "] 4/4  best " in progress["text/plain"] and plot["image/svg+xml"].startswith("<svg")


def test_stubs_say_what_is_there() -> None:
    mypy("mypy.stubtest", "optimist", "--mypy-config-file")


def test_the_import_is_quick() -> None:
    script = "import time; t = time.perf_counter(); import optimist; print(time.perf_counter() - t)"
    times = [float(subprocess.check_output([sys.executable, "-c", script])) for _ in range(5)]
    print(f"import optimist: {1000 * min(times):.1f} ms")
    heavy = "import sys, optimist; print([m for m in ('asyncio', 'concurrent.futures', 'multiprocessing') if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", heavy], text=True).strip() == "[]"
