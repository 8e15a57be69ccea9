"""The page about Optuna does what it says."""

import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("optuna", minversion="4.8")

import optuna

PAGE = (Path(__file__).parents[2] / "docs/guides/optuna.md").read_text()
SECTIONS = [section for section in re.split(r"^## ", PAGE, flags=re.MULTILINE) if "```python\n" in section]
#: What a section needs, by a sign that it does.
NEEDED = {"sklearn": ("sklearn",), "keras": ("keras", "jax", "optuna_integration"), "mlflow": ("mlflow", "optuna_integration")}


def examples() -> list[Any]:
    """Examples that follow each other, section by section; those of other programs by themselves."""
    found = []
    for section in SECTIONS:
        title, blocks = section.split("\n")[0], re.findall(r"```python\n(.*?)```", section, re.DOTALL)
        groups = [[one] for one in blocks] if title.startswith("Where Optuna is inside") else [blocks]
        found += [pytest.param(group, id=f"{title} {i}") for i, group in enumerate(groups)]
    return found


@pytest.mark.parametrize("blocks", examples())
@pytest.mark.filterwarnings("ignore")  # Optuna's own: what is experimental, what is deprecated
def test_the_page_runs(blocks: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KERAS_BACKEND", "jax")
    code = "\n".join(blocks)
    for sign, modules in NEEDED.items():
        for module in modules if f"import {sign}" in code or f"from {sign}" in code or f"{sign} =" in code else ():
            pytest.importorskip(module)
    names: dict[str, Any] = {"__name__": "guide", "optuna": optuna}
    exec(compile(code, "the page", "exec"), names)
    study = names["study"]
    assert len(study.trials) >= 4 and study.best_trials


def test_what_is_not_run_can_be_read() -> None:
    blocks = re.findall(r"```python not-run\n(.*?)```", PAGE, re.DOTALL)
    for block in blocks:
        compile(block, "the page", "exec")
    assert len(blocks) == 2


def test_the_registry_of_optunahub_can_load_the_sampler() -> None:
    optunahub = pytest.importorskip("optunahub")
    root = Path(__file__).parents[2] / "optunahub/package"
    loaded = optunahub.load_local_module("samplers/go_ucb", registry_root=str(root))
    assert loaded.__all__ == ["OptimistSampler"]
    study = optuna.create_study(sampler=loaded.OptimistSampler(n_trials=10, seed=0))
    study.optimize(lambda trial: trial.suggest_float("x", -1, 1) ** 2, 10)
    assert study.best_value < 0.01


def test_the_folder_of_optunahub_is_as_its_registry_wants_it() -> None:
    folder = Path(__file__).parents[2] / "optunahub/package/samplers/go_ucb"
    readme = (folder / "README.md").read_text()
    _, header, text = readme.split("---\n", 2)
    keys = dict(line.split(": ", 1) for line in header.splitlines())
    assert list(keys) == ["author", "title", "description", "tags", "optuna_versions", "license"]
    assert keys["license"] == "MIT License" and "sampler" in keys["tags"].strip("[]").split(", ")
    assert re.findall(r"^## (.*)", text, re.MULTILINE)[:2] == ["Abstract", "APIs"]
    assert (folder / "LICENSE").read_text().startswith("MIT License")
    block = re.search(r"```python\n(.*?)```", readme, re.DOTALL)
    assert block and compile(block[1], "README.md", "exec")
