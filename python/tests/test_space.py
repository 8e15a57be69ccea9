"""Spaces and values: what is written comes back, as Python's own types and as the very objects that were given."""

import math
import sys
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import optimist as op

finite = st.floats(-1e9, 1e9, allow_nan=False)


@st.composite
def floats(draw: st.DrawFn) -> op.Float:
    low, high = sorted((draw(finite), draw(finite)))
    return op.Float(low, high)


@st.composite
def log_floats(draw: st.DrawFn) -> op.Float:
    low, high = sorted((draw(st.floats(1e-12, 1e9)), draw(st.floats(1e-12, 1e9))))
    return op.Float(low, high, log=True)


@st.composite
def ints(draw: st.DrawFn) -> op.Int:
    low, high = sorted((draw(st.integers(-(2**40), 2**40)), draw(st.integers(-(2**40), 2**40))))
    return op.Int(low, high, step=draw(st.none() | st.integers(1, 1000)))


choices = st.lists(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.text(max_size=8)
    | st.tuples(st.integers(0, 9), st.integers(0, 9)),
    min_size=1,
    max_size=5,
    unique_by=lambda value: str(value),
).map(op.Choice)
spaces = st.dictionaries(
    st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), min_size=1, max_size=8),
    floats() | log_floats() | ints() | choices | st.builds(op.Bool),
    min_size=1,
    max_size=6,
)


@given(spaces, st.integers(0, 2**64 - 1))
@settings(max_examples=150, deadline=None)
def test_a_suggestion_lies_in_its_space_and_can_be_enqueued(space: dict[str, object], seed: int) -> None:
    study = op.Study("s", space, direction="minimize", seed=seed)
    trial = study.ask()
    assert list(trial.params) == list(space)
    for name, parameter in space.items():
        value = trial[name]
        if isinstance(parameter, op.Float):
            assert type(value) is float and parameter.low <= value <= parameter.high
        elif isinstance(parameter, op.Int):
            assert type(value) is int and parameter.low <= value <= parameter.high
            assert (value - parameter.low) % (parameter.step or 1) == 0
        elif isinstance(parameter, op.Choice):
            assert any(value is option for option in parameter.options)
        else:
            assert type(value) is bool
    study.enqueue(trial.params)
    assert study.ask().params == trial.params
    assert op.Space.from_dict(study.space.to_dict()).to_dict() == study.space.to_dict()


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(0, 1e300))
@settings(max_examples=100, deadline=None)
def test_values_are_kept_bit_for_bit(value: float, noise: float) -> None:
    study = op.Study("s", {"x": (0.0, 1.0)}, direction="maximize", optimizer="random")
    study.tell(study.ask(), value, noise_std=noise)
    trial = study.trials[0]
    assert (trial.value, trial.noise_std) == (value, noise)
    assert math.copysign(1, trial.value) == math.copysign(1, value)


class Model:
    pass


def test_choices_are_the_very_objects_that_were_given() -> None:
    def relu(x: float) -> float:
        return max(x, 0)

    model = Model()
    options = {"layers": [(64, 64), [32], None], "activation": [relu, math.tanh, Model], "one": [1, "1", True, 0.5]}
    study = op.Study("s", {**options, "model": op.Choice({"small": model})}, direction="minimize", trials=30)
    for trial in study.ask(30):
        assert trial["model"] is model
        assert all(any(trial[name] is option for option in known) for name, known in options.items())
        study.tell(trial, 1.0)
    study.enqueue({"layers": [32], "activation": relu, "one": "1", "model": model})
    assert study.ask()["activation"] is relu
    frame = study.to_dicts()
    assert {str(row["params_layers"]) for row in frame} == {"(64, 64)", "[32]", "None"}
    with pytest.raises(ValueError, match="has no name that lasts; name the choices with a dictionary"):
        op.Study("s", {"model": [model]}, direction="minimize")


def test_conditions_wait_for_objects_too() -> None:
    space = {"kind": [None, (1, 2)], "size": op.Int(1, 3, when={"kind": (1, 2)})}
    study = op.Study("s", space, direction="minimize")
    for trial in study.ask(12):
        assert ("size" in trial.params) == (trial["kind"] == (1, 2))


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ((1, 12), op.Int(1, 12)),
        ((0.0, 1.0), op.Float(0.0, 1.0)),
        ((1, 12.5), op.Float(1.0, 12.5)),
        ((1e-5, 1.0, "log-uniform"), op.Float(1e-5, 1.0, log=True)),
        ((1, 1024, "log-uniform"), op.Int(1, 1024, log=True)),
        (["a", "b"], op.Choice(["a", "b"])),
        (range(3), op.Choice([0, 1, 2])),
    ],
)
def test_tuples_and_lists_are_understood(written: object, expected: object) -> None:
    assert op.Space({"x": written}).parameters["x"] == expected


@pytest.mark.parametrize(
    ("space", "error", "words"),
    [
        ({"x": op.Float(1, 0)}, ValueError, "parameter `x`: low 1.0 is above high 0.0; swap the bounds"),
        ({"x": op.Float(0, 1, log=True)}, ValueError, "a log scale needs low > 0"),
        ({"x": op.Float(0, math.inf)}, ValueError, "high inf is not finite"),
        ({"x": op.Int(0.5, 3)}, TypeError, "must be a whole number, got 0.5"),
        ({"x": op.Float("a", 1)}, TypeError, "low must be a number, got 'a'"),
        ({"x": []}, ValueError, "has no choices"),
        ({"x": [1, 1]}, ValueError, "listed twice"),
        ({"x": [1, 1.0]}, ValueError, "listed twice"),
        ({"x": [lambda: 1, lambda: 2]}, ValueError, "two choices are called `<lambda>`; name the choices with a dictionary"),
        ({}, ValueError, "the space has no parameters"),
        ({"x": 3}, TypeError, "cannot understand 3; give op.Float"),
        ({"x": ("a", "b")}, TypeError, "write choices as a list"),
        ({"x": (0, 1, "normal")}, TypeError, "write choices as a list"),
        ({3: (0, 1)}, TypeError, "the name of a parameter must be a string"),
        (3, TypeError, "a space must be a dictionary"),
        ({"x": op.Float(0, 1, when={"y": 1})}, ValueError, "depends on `y`, which is not declared"),
    ],
)
def test_a_space_that_cannot_be_searched_says_why(space: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        op.Study("s", space, direction="minimize")


def test_numpy_is_understood() -> None:
    np = pytest.importorskip("numpy")
    study = op.Study("s", {"x": (np.float64(0), np.float32(1)), "k": list(np.arange(3))}, direction="minimize")
    trial = study.ask()
    assert type(trial["x"]) is float and isinstance(trial["k"], np.int64)
    study.enqueue({"x": np.float32(0.5), "k": np.int64(2)})
    assert study.ask().params == {"x": 0.5, "k": 2}
    for answer in (np.float64(1), np.float32(2), np.int64(3), np.array(4.0), np.array([5.0])):
        study.run(lambda x, k, answer=answer: answer, trials=1)
    assert [trial.value for trial in study.trials[2:]] == [1, 2, 3, 4, 5]
    study.tell(trial, np.float64(0.5), metrics={"curve": np.array([1.0, 2.0]), "many": 10**30, "more": -(2**63)})
    assert study.trials[0].metrics == {"curve": [1.0, 2.0], "many": 1e30, "more": -(2**63)}
    study.fail(trial := study.ask())
    assert study.retry(np.int64(trial.number)) == [trial.number]


def test_scipy_is_understood() -> None:
    stats = pytest.importorskip("scipy.stats")
    space = op.Space({"a": stats.uniform(1, 2), "b": stats.loguniform(1e-4, 1), "c": stats.randint(1, 10)})
    expected = {"a": op.Float(1.0, 3.0), "b": op.Float(1e-4, 1.0, log=True), "c": op.Int(1, 9)}
    assert space.parameters == expected
    with pytest.raises(TypeError, match=r"cannot understand scipy.stats.norm; a search needs bounds"):
        op.Space({"a": stats.norm()})


def test_scikit_optimize_is_understood() -> None:
    skopt = pytest.importorskip("skopt.space")
    dimensions = [
        skopt.Real(1e-5, 1, prior="log-uniform", name="lr"),
        skopt.Integer(1, 12, name="depth"),
        skopt.Categorical(["sgd", "adam"], name="solver"),
    ]
    expected = {"lr": op.Float(1e-5, 1.0, log=True), "depth": op.Int(1, 12), "solver": op.Choice(["sgd", "adam"])}
    assert op.Space(dimensions).parameters == expected
    assert op.Space(skopt.Space(dimensions)).parameters == expected
    assert list(op.Space([(0.0, 1.0), ["a", "b"]]).parameters) == ["x0", "x1"]


def test_config_space_is_understood() -> None:
    cs = pytest.importorskip("ConfigSpace")
    space = cs.ConfigurationSpace({"lr": (1e-5, 1.0), "depth": (1, 12), "solver": ["adam", "sgd"], "epochs": 10})
    momentum = cs.Float("momentum", (0.0, 0.99))
    space.add(momentum)
    space.add(cs.EqualsCondition(momentum, space["solver"], "sgd"))
    parameters = op.Space(space).parameters
    assert parameters["lr"] == op.Float(1e-5, 1.0) and parameters["depth"] == op.Int(1, 12)
    assert parameters["solver"] == op.Choice(["adam", "sgd"]) and parameters["epochs"] == op.Choice([10])
    assert parameters["momentum"] == op.Float(0.0, 0.99, when={"solver": "sgd"})
    assert op.Study("s", space, direction="minimize").ask()["epochs"] == 10


def test_nothing_is_imported_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    import subprocess

    script = (
        "import sys, optimist as op\n"
        "op.minimize(lambda x: x, {'x': (0.0, 1.0)}, trials=3)\n"
        "print([m for m in ('numpy', 'pandas', 'polars', 'IPython', 'matplotlib', 'scipy') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert found.stdout.strip() == "[]", found
    assert isinstance(sys.modules["optimist"], ModuleType)


def test_trials_become_data_frames() -> None:
    study = op.Study("s", {"x": (0.0, 1.0), "k": ["a", None]}, direction="minimize")
    study.tell(study.ask(), 1.0, metrics={"cost": 2})
    study.fail(study.ask(), "burnt")
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    frame, table = study.to_pandas(), study.to_polars()
    for columns in (list(frame.columns), table.columns):
        assert columns[:4] == ["number", "state", "value", "noise_std"]
        assert columns[-3:] == ["params_x", "params_k", "metrics_cost"]
    assert list(frame["state"]) == table["state"].to_list() == ["complete", "failed"]
    assert frame["datetime_start"].dt.tz is not None
    assert isinstance(frame, pandas.DataFrame) and isinstance(table, polars.DataFrame)


def test_data_frames_become_trials() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    space = {
        "k": ["a", None],
        "n": op.Int(1, 9, when={"k": "a"}),
        "m": op.Choice([None, 1], when={"k": "a"}),
        "layers": [(64, 64), None],
    }
    study = op.Study("s", space, direction="minimize", trials=8, optimizer="sobol")
    for trial in study.ask(8):
        study.tell(trial, 1.0 + trial.number)
    frames = [study.to_pandas(), study.to_pandas().convert_dtypes(), study.to_polars(), study.to_dicts()]
    assert isinstance(frames[0], pandas.DataFrame) and isinstance(frames[2], polars.DataFrame)
    for frame in frames:
        again = op.Study("t", space, direction="minimize")
        assert again.import_trials(frame) == 8
        assert [trial.params for trial in again.trials] == [trial.params for trial in study.trials], type(frame)
        if not isinstance(frame, list):
            assert again.predict(frame) == [study.predict(trial.params) for trial in study.trials]
