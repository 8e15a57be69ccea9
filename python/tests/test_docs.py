"""The guide, the docstrings and the examples do what they say; stubs and types hold."""

import ast
import dataclasses
import doctest
import importlib
import inspect
import itertools
import os
import re
import runpy
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import optimist as op

ROOT = Path(__file__).parents[2]
PACKAGE = Path(op.__path__[0])


def blocks(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (ROOT / "docs" / page).read_text(), re.DOTALL)


BLOCKS = blocks("guides/python.md")


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_the_guide_runs(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    needed = {"optuna": "import optuna", "skopt": "from skopt", "ax.api.client": "from ax.", "pandas": "round_reports"}
    for module, sign in needed.items():
        if sign in BLOCKS[number]:
            pytest.importorskip(module)
    exec(compile(BLOCKS[number], f"block {number} of the guide", "exec"), {"__name__": "guide"})


def test_the_tutorial_runs_from_top_to_bottom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "tutorial"}
    for block in blocks("tutorials/python.md"):
        exec(compile(block, "a block of the tutorial", "exec"), names)
    assert (tmp_path / "slices.svg").exists() and len(op.studies("optimist.db")) == 1


def test_the_readme_and_the_start_page_run(capsys: pytest.CaptureFixture[str]) -> None:
    readme = {"train": lambda lr, solver: lr + (solver == "sgd")}
    exec(blocks("../README.md")[0].replace("trials=60", "trials=10"), readme)
    indented = re.findall(r"    ```python\n(.*?)    ```", (ROOT / "docs/index.md").read_text(), re.DOTALL)
    exec(textwrap.dedent(indented[0]), {})
    assert capsys.readouterr().out.count("{") == 2, "both print parameters"


def test_the_pictures_of_the_explanation_can_be_made_again(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    subprocess.run([sys.executable, str(ROOT / "docs/explanations/pictures.py"), str(tmp_path)], check=True)
    for name in ("ball.svg", "rounds.svg"):
        made, kept = (folder / name for folder in (tmp_path, ROOT / "docs/explanations"))
        assert made.stat().st_size == pytest.approx(kept.stat().st_size, rel=0.1), name


@pytest.mark.parametrize("file", sorted((ROOT / "examples/python").glob("*.py")), ids=lambda file: file.name)
def test_examples_run(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(file), run_name="__main__")
    assert capsys.readouterr().out


@pytest.mark.parametrize("name", [path.relative_to(PACKAGE).with_suffix("").as_posix() for path in sorted(PACKAGE.rglob("*.py"))])
def test_examples_of_docstrings_hold(name: str) -> None:
    try:
        module = importlib.import_module(f"optimist.{name}".replace("/", ".").removesuffix(".__init__"))
    except ImportError as error:  # of a package that is not installed
        pytest.skip(str(error))
    assert doctest.testmod(module, optionflags=doctest.ELLIPSIS).failed == 0


def test_everything_public_is_documented() -> None:
    for name in op.__all__:
        one = getattr(op, name)
        assert name == "__version__" or one.__doc__, name
        for key, member in vars(one).items() if isinstance(one, type) else []:
            assert key.startswith("_") or not callable(member) or member.__doc__, f"{name}.{key}"


def test_every_field_says_what_it_is_as_the_reference_shows_it() -> None:
    for name in op.__all__:
        one = getattr(op, name)
        if not dataclasses.is_dataclass(one):
            continue
        body = ast.parse(textwrap.dedent(inspect.getsource(one))).body[0]
        assert isinstance(body, ast.ClassDef)
        for field, after in itertools.zip_longest(body.body, body.body[1:]):
            if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name) or field.target.id.startswith("_"):
                continue
            has_own = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            is_argument = re.search(rf"^ +([\w, ]+, )?{field.target.id}(, [\w, ]+)?: ", one.__doc__ or "", re.MULTILINE)
            assert has_own or is_argument, f"{name}.{field.target.id}"


def test_no_docstring_has_the_marks_of_another_tool() -> None:
    for file in PACKAGE.rglob("*.py"):
        assert not re.search(r":(class|meth|attr|func|mod):`", file.read_text()), file


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
