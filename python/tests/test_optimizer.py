"""The low level, families of one's own, and the same suggestions everywhere."""

import copy
import importlib.util
import json
import math
import multiprocessing
import os
import pickle
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

import optimist as op

SPACE = {"lr": op.Float(1e-5, 1, log=True), "depth": op.Int(1, 12), "solver": ["sgd", "adam"]}


def height(params: dict[str, object]) -> float:
    return -((math.log10(params["lr"]) + 2) ** 2) - 0.1 * (params["depth"] - 5) ** 2 - (params["solver"] == "sgd")


def test_ask_and_tell_find_the_top() -> None:
    optimizer = op.Optimizer(SPACE, trials=25, seed=1)
    assert optimizer.recommend() is None
    for _ in range(25):
        params = optimizer.ask()
        optimizer.tell(params, height(params))
    best = optimizer.recommend()
    assert best.params["solver"] == "adam" and abs(math.log10(best.params["lr"]) + 2) < 0.5 and best.std > 0
    assert optimizer.expected_gain() >= 0 and len(optimizer.ranking(3)) == 3
    again = pickle.loads(pickle.dumps(optimizer))
    assert again.ask() == copy.deepcopy(optimizer).ask() == optimizer.ask()


def test_arrays_are_points() -> None:
    np = pytest.importorskip("numpy")
    optimizer = op.Optimizer({"x": (0.0, 1.0), "y": (0.0, 1.0)}, "random", trials=10, direction="minimize")
    x = optimizer.ask_array(5)
    assert x.shape == (5, 2) and optimizer.ask_array().shape == (2,) and optimizer.dimension == 2
    optimizer.tell(x, x.sum(axis=1))
    optimizer.tell([0.01, 0.01], 0.02)
    optimizer.tell(np.array([0.5, 0.5]), math.nan)
    assert optimizer.recommend().params == {"x": 0.01, "y": 0.01}
    for wrong in ([0.5], [0.5, 2.0], [0.5, math.nan]):
        with pytest.raises(ValueError, match="coordinate"):
            optimizer.tell(wrong, 1.0)
    with pytest.raises(ValueError, match="finite coordinates"):
        optimizer.decode([0.5])


@pytest.mark.parametrize("method", ["go-ucb", "tpe", "sobol"])
def test_the_same_seed_gives_the_same_points_in_a_study_and_at_the_low_level(method: str) -> None:
    study = op.Study("s", SPACE, direction="maximize", trials=20, seed=7, optimizer=method)
    optimizer = op.Optimizer(SPACE, method, trials=20, seed=7)
    for _ in range(20):
        trial, params = study.ask(), optimizer.ask()
        assert trial.params == params, "bit for bit"
        study.tell(trial, height(params))
        optimizer.tell(params, height(params))
    assert [trial.params for trial in study.ask(3)] == optimizer.ask(3), "pending points count alike"


def programs() -> list[str]:
    """The command that the package brings, and the one that cargo built, if the caller names it.

    That the command suggests what the Rust library does is tested in `crates/optimist-cli/tests/library.rs`.
    """
    script = os.path.join(sysconfig.get_path("scripts"), "optimist")
    return [program for program in (script, os.environ.get("OPTIMIST_PROGRAM")) if program and shutil.which(program)]


@pytest.mark.parametrize("program", programs())
def test_the_same_seed_gives_the_same_points_as_the_command(program: str, tmp_path: Path) -> None:
    def command(*words: object) -> list[dict[str, object]]:
        found = subprocess.run([program, *map(str, words)], capture_output=True, text=True, cwd=tmp_path)
        assert found.returncode == 0, found
        return [json.loads(line) for line in found.stdout.splitlines() if line.startswith("{")]

    (tmp_path / "net.toml").write_text("""
        direction = "maximize"
        seed = 11
        trials = 16
        parameters.lr = { type = "float", low = 1e-5, high = 1.0, log = true }
        parameters.depth = { type = "int", low = 1, high = 12 }
        parameters.solver = { type = "categorical", choices = ["sgd", "adam"] }
    """)
    command("create", "net.toml")
    study = op.Study("net", SPACE, direction="maximize", trials=16, seed=11, storage=tmp_path / "python.db")
    for number in range(16):
        trial = study.ask()
        assert command("ask", "net", "--json")[0]["params"] == trial.params
        study.tell(trial, height(trial.params))
        command("tell", "net", number, "--", repr(height(trial.params)))
    command("verify", "net", "--storage", "python.db")
    both = op.Study("net", SPACE, direction="maximize", trials=16, seed=11, storage=tmp_path / "optimist.db")
    assert both.verify().suggestions == 16 and [t.value for t in both.trials] == [t.value for t in study.trials]


def rate(w: list[float], s: list[float]) -> float:
    """An enzyme that too much substrate inhibits; weights are logarithms of the constants over a guess of each."""
    return 2 * math.exp(w[0]) * s[0] / (5 * math.exp(w[1]) + s[0] + s[0] ** 2 / (10 * math.exp(w[2])))


def test_a_family_of_your_own_is_searched_with() -> None:
    optimizer = op.Optimizer(
        {"substrate": (0.0, 100.0)}, op.GoUcb(family=op.Family(rate, n_weights=3, grad_w=grad_w)), trials=12, seed=0
    )
    for _ in range(12):
        params = optimizer.ask()
        optimizer.tell(params, rate([math.log(1.5), math.log(0.5), math.log(2)], [params["substrate"]]))
    assert abs(optimizer.recommend().params["substrate"] - 7.07) < 1.5
    again = pickle.loads(pickle.dumps(optimizer))
    assert again.ask() == optimizer.ask()


def grad_w(w: list[float], s: list[float]) -> list[float]:
    top, half, last = 2 * math.exp(w[0]) * s[0], 5 * math.exp(w[1]), s[0] ** 2 / (10 * math.exp(w[2]))
    below = half + s[0] + last
    return [top / below, -top * half / below**2, top * last / below**2]


def test_the_gradient_may_be_left_out() -> None:
    optimizer = op.Optimizer({"substrate": (0.0, 100.0)}, op.GoUcb(family=op.Family(rate, n_weights=3)), trials=8)
    for _ in range(8):
        params = optimizer.ask()
        optimizer.tell(params, rate([0, 0, 0], [params["substrate"]]))
    assert optimizer.recommend() is not None


@pytest.mark.parametrize("library", ["jax", "autograd"])
def test_other_libraries_differentiate(library: str) -> None:
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:  # JAX forbids forks after it
        assert process.submit(searches_with, library).result()
    with pytest.raises(ValueError, match="differentiate must be"):
        op.Optimizer({"x": (0.0, 1.0)}, op.GoUcb(family=op.Family(rate, 3, differentiate="sympy")))


def searches_with(library: str) -> bool:
    np = importlib.import_module(f"{library}.numpy")

    def law(w: object, s: object) -> object:
        return 2 * np.exp(w[0]) * s[0] / (5 * np.exp(w[1]) + s[0] + s[0] ** 2 / (10 * np.exp(w[2])))

    family = op.Family(law, n_weights=3, differentiate=library)
    w, s = [0.1, -0.2, 0.3], [3.0]
    assert family.table()["grad_w"](w, s) == pytest.approx(grad_w(w, s), rel=1e-12), "with 64 bits"
    optimizer = op.Optimizer({"substrate": (0.0, 100.0)}, op.GoUcb(family=family), trials=6)
    for _ in range(6):
        params = optimizer.ask()
        optimizer.tell(params, rate([0, 0, 0], [params["substrate"]]))
    return optimizer.recommend() is not None


def test_what_goes_wrong_in_a_family_is_raised() -> None:
    def broken(w: list[float], x: list[float]) -> float:
        raise RuntimeError("the law is broken")

    optimizer = op.Optimizer({"x": (0.0, 1.0)}, op.GoUcb(family=op.Family(broken, n_weights=1)), trials=9)
    with pytest.raises(RuntimeError, match="the law is broken"):
        for i in range(9):
            optimizer.tell(optimizer.ask(), float(i))
    with pytest.raises(ValueError, match="only `go-ucb` takes|a study cannot store your own family"):
        op.Study("s", {"x": (0.0, 1.0)}, direction="minimize", optimizer=op.GoUcb(family=op.Family(rate, 3)))
    for family, error, words in (
        (op.Family(rate, 3, prior_std=[1, 1]), ValueError, "the prior has 2 numbers"),
        (op.Family(rate, 3, prior_std=[1, 0, 1]), ValueError, "prior_std must be above 0"),
        (op.Family(rate, 3, prior_mean=0.5), TypeError, "prior_mean must be a list with a number for each weight"),  # type: ignore[arg-type]
        (op.Family(rate, -1), ValueError, "n_weights must be a whole number from 1"),
        (op.Family(3, 3), TypeError, "the value of a family must be a function"),  # type: ignore[arg-type]
        (op.Family(rate, 3, grad_x=[1.0]), TypeError, "the grad_x of a family must be a function"),  # type: ignore[arg-type]
    ):
        with pytest.raises(error, match=words):
            op.Optimizer({"x": (0.0, 1.0)}, op.GoUcb(family=family))


def test_ctrl_c_leaves_a_family_and_an_optimizer_that_can_go_on() -> None:
    script = """
import os, signal, threading, time
import optimist as op

def line(w, x):
    time.sleep(0.0005)
    return w[0] * x[0]

optimizer = op.Optimizer({"x": (0.0, 1.0)}, op.GoUcb(family=op.Family(line, 1)), trials=9)
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    while True:
        params = optimizer.ask()
        optimizer.tell(params, params["x"])
except KeyboardInterrupt:
    again = optimizer.ask()
    print(again["x"] == optimizer.recommend().params["x"] or 0 <= again["x"] <= 1)
threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
while True:
    optimizer.tell(optimizer.ask(), 1.0)
"""
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert found.stdout == "True\n" and "KeyboardInterrupt" in found.stderr and "Fatal" not in found.stderr, found


def test_the_proofs_report_each_round() -> None:
    pytest.importorskip("pandas")
    optimizer = op.Optimizer(
        {"x": (0.0, 1.0)}, op.GoUcb(preset="theory", family="linear", constants={"gradient": 2.0}), trials=12, seed=2
    )
    for _ in range(12):
        params = optimizer.ask()
        optimizer.tell(params, 0.5 * params["x"])
    reports = optimizer.round_reports()
    assert list(reports["t"]) == list(range(1, len(reports) + 1)) and len(reports) >= 6
    assert (reports["log_det_ratio"] <= reports["log_det_bound"] + 1e-9).all()
    assert {"beta_t", "u_t", "regret_bound", "cumulative_regret_bound"} <= set(reports.columns)
    with pytest.raises(ValueError, match="both w_star and optimum"):
        optimizer.round_reports(optimum=1.0)
    with pytest.raises(ValueError, match="w_star is of length 1, and the family has 2 weights; give one number"):
        optimizer.round_reports(w_star=[0.5], optimum=0.5)
    with pytest.raises(ValueError, match="w_star must be a finite number, got nan"):
        optimizer.round_reports(w_star=[0.5, math.nan], optimum=0.5)
    paper = op.Optimizer({"x": (0.0, 1.0)}, op.GoUcb(preset="paper", hidden=[5]), trials=6)
    for _ in range(6):
        params = paper.ask()
        paper.tell(params, params["x"])
    with pytest.raises(ValueError, match='only the preset "theory" reports its rounds'):
        paper.round_reports()


def test_a_study_takes_the_presets() -> None:
    study = op.Study("s", {"x": (0.0, 1.0)}, direction="minimize", trials=6, optimizer=op.GoUcb(preset="paper"))
    assert study.run(lambda x: x).verify()
    assert study.show()["optimizer"] == {"name": "go-ucb", "preset": "paper"}
