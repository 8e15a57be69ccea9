"""Optional packages: the error of one that is missing has the command that installs it, and that command installs it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

STUDY = 'study = op.Study("s", {"x": (0.0, 1.0)}, direction="minimize"); study.tell(study.ask(), 1.0); '

#: The package that is missing, what needs it, and what installs it.
USES = [
    ("ray", "op.ray()", '"optimist[ray]"'),
    ("ray", "from optimist.ray import OptimistSearch", '"optimist[ray]"'),
    ("distributed", "op.dask()", '"optimist[dask]"'),
    ("optuna", "import optimist.optuna", '"optimist[optuna]"'),
    ("sklearn", "import optimist.sklearn", '"optimist[sklearn]"'),
    ("numpy", "import optimist.skopt", '"optimist[skopt]"'),
    ("joblib", "import optimist.skopt as skopt; skopt.load('result.pkl')", '"optimist[skopt]"'),
    ("matplotlib", "import optimist.skopt.plots as plots; plots.plot_convergence()", '"optimist[plot]"'),
    ("matplotlib", STUDY + "study.plot('history').to_matplotlib()", '"optimist[plot]"'),
    ("plotly", STUDY + "study.plot('history').to_plotly()", '"optimist[plot]"'),
    ("pandas", STUDY + "study.to_pandas()", '"optimist[pandas]"'),
    ("polars", STUDY + "study.to_polars()", '"optimist[polars]"'),
    ("pandas", 'op.Optimizer({"x": (0.0, 1.0)}, op.GoUcb("theory")).round_reports()', '"optimist[pandas]"'),
    ("numpy", 'op.Optimizer({"x": (0.0, 1.0)}).ask_array()', "numpy"),
    ("jax", 'op.Family(lambda w, x: 0.0, 1, differentiate="jax").table()', "jax"),
    ("autograd", 'op.Family(lambda w, x: 0.0, 1, differentiate="autograd").table()', "autograd"),
]


@pytest.mark.parametrize(("package", "use", "install"), USES, ids=[f"{package}-{i}" for i, (package, _, _) in enumerate(USES)])
def test_a_missing_package_gives_the_command_that_installs_it(package: str, use: str, install: str) -> None:
    if "skopt" in use:
        pytest.importorskip("scipy")
    script = f"import sys, optimist as op\nsys.modules[{package!r}] = None\n{use}"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    last = found.stderr.splitlines()[-1]
    assert last.startswith("ImportError: ") and last.endswith(f"; install it with: pip install {install}")


def test_each_extra_that_an_error_names_is_there() -> None:
    project = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    listed = project.split("[project.optional-dependencies]")[1].split("[project.scripts]")[0]
    extras = dict(re.findall(r"^(\w+) = (\[.*\])$", listed, re.MULTILINE))
    named = {install[10:-2] for _, _, install in USES if install.startswith('"optimist[')}
    assert named <= set(extras)
    assert set(re.findall(r"\w+", extras["all"])) - {"optimist"} == set(extras) - {"all"}
