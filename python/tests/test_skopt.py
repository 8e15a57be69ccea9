"""Scripts for scikit-optimize run on our engine after the import was changed, without scikit-optimize."""

import importlib
import inspect
import json
import math
import pickle
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("scipy")

import optimist as op  # noqa: E402
from optimist import skopt  # noqa: E402
from optimist.skopt import callbacks, gp_minimize, utils  # noqa: E402
from optimist.skopt.benchmarks import branin, hart6  # noqa: E402
from optimist.skopt.space import Categorical, Integer, Real, Space  # noqa: E402

BRANIN = [(-5.0, 10.0), (0.0, 15.0)]
MIXED = [Real(1e-5, 1, prior="log-uniform", name="lr"), Integer(1, 12, name="depth"), Categorical(["a", None, 3], name="kind")]


def mixed(x: list) -> float:
    return (math.log10(x[0]) + 2) ** 2 + 0.1 * (x[1] - 5) ** 2 + (x[2] is not None)


@pytest.mark.parametrize("name", ["gp_minimize", "forest_minimize", "gbrt_minimize"])
def test_each_function_finds_the_minimum(name: str) -> None:
    result = getattr(skopt, name)(branin, BRANIN, n_calls=30, random_state=1)
    assert result.fun < 0.6 and len(result.x_iters) == len(result.func_vals) == 30
    assert result.fun == min(result.func_vals) == branin(result.x) and result.specs["function"] == name
    again = getattr(skopt, name)(branin, BRANIN, n_calls=30, random_state=1)
    assert again.x_iters == result.x_iters


def test_random_points_are_worse() -> None:
    found = [skopt.dummy_minimize(hart6, [(0.0, 1.0)] * 6, n_calls=25, random_state=seed).fun for seed in range(4)]
    ours = [gp_minimize(hart6, [(0.0, 1.0)] * 6, n_calls=25, random_state=seed).fun for seed in range(4)]
    assert np.mean(ours) < np.mean(found) - 0.3


def test_points_are_made_of_what_the_user_gave() -> None:
    result = gp_minimize(mixed, MIXED, n_calls=25, random_state=0)
    assert result.x[2] is None and result.fun < 0.5
    assert {type(value) for value in result.x_iters[0][:2]} == {int, float} and all(x in result.space for x in result.x_iters)


def test_points_and_values_to_begin_with() -> None:
    seen: list[list] = []

    def f(x: list) -> float:
        seen.append(x)
        return mixed(x)

    first = [[0.1, 3, "a"], [0.2, 4, 3]]
    gp_minimize(f, MIXED, n_calls=5, x0=first, random_state=0)
    assert seen[:2] == first and len(seen) == 5
    seen.clear()
    result = gp_minimize(f, MIXED, n_calls=5, x0=first, y0=[mixed(x) for x in first], random_state=0)
    assert len(seen) == 5 and result.x_iters[:2] == first and len(result.func_vals) == 7
    single = gp_minimize(f, MIXED, n_calls=1, x0=first[0], y0=0.25, random_state=0)
    assert single.func_vals[0] == 0.25
    with pytest.raises(ValueError, match="2 points and y0 1 values"):
        gp_minimize(f, MIXED, x0=first, y0=[1.0])


def test_failures_are_learnt_from_and_never_the_minimum() -> None:
    result = gp_minimize(lambda x: math.nan if x[0] > 0.5 else -x[0], [(0.0, 1.0)], n_calls=25, random_state=0)
    assert 0.4 < result.x[0] <= 0.5 and np.isnan(result.func_vals).any() and result.fun == -result.x[0]
    assert sum(x[0] > 0.5 for x in result.x_iters[12:]) <= 6
    nothing = gp_minimize(lambda x: math.inf, [(0.0, 1.0)], n_calls=3, random_state=0)
    assert nothing.x is None and math.isnan(nothing.fun)


def test_constraints_are_kept() -> None:
    below = lambda x: x[0] + x[1] <= 1  # noqa: E731
    result = gp_minimize(lambda x: -x[0] - 2 * x[1], [(0.0, 1.0)] * 2, n_calls=20, space_constraint=below, random_state=0)
    assert all(map(below, result.x_iters)) and result.fun < -1.8
    named = [Real(0, 1, name="a"), Real(0, 1, name="b")]
    linear = gp_minimize(lambda x: -x[0] - 2 * x[1], named, n_calls=15, space_constraint="a + b <= 1", random_state=0)
    assert all(x[0] + x[1] <= 1 + 1e-9 for x in linear.x_iters) and linear.fun < -1.9


def test_a_known_noise_is_told() -> None:
    result = gp_minimize(lambda x: x[0] ** 2, [(-1.0, 1.0)], n_calls=6, noise=0.04, random_state=0)
    assert result.models[-1]._told[2] == [0.2] * 6
    with pytest.raises(ValueError, match="variance"):
        gp_minimize(lambda x: x[0], [(0.0, 1.0)], noise="uniform")


def test_what_has_no_counterpart_says_what_to_use() -> None:
    f = lambda x: x[0]  # noqa: E731
    with pytest.raises(TypeError, match=r"op\.GoUcb\(family"):
        gp_minimize(f, [(0.0, 1.0)], base_estimator=object())
    with pytest.raises(ValueError, match="or one that includes the time"):
        gp_minimize(f, [(0.0, 1.0)], acq_func="EIps")
    with pytest.raises(ValueError, match="one of gp_hedge"):
        skopt.Optimizer([(0.0, 1.0)], acq_func="UCB")
    for argument in ({"xi": 0.1}, {"kappa": 5.0}, {"acq_func": "PI"}, {"initial_point_generator": "lhs"}, {"n_points": 5}):
        with pytest.warns(UserWarning, match=f"{next(iter(argument))}=.* has no effect"):
            gp_minimize(f, [(0.0, 1.0)], n_calls=2, **argument)
    from optimist.skopt.acquisition import gaussian_ei
    from optimist.skopt.learning import GaussianProcessRegressor  # an import alone does no harm
    from optimist.skopt.learning.gaussian_process.kernels import Matern
    from optimist.skopt.sampler import Lhs
    from optimist.skopt.utils import cook_estimator

    for missing, words in [
        (GaussianProcessRegressor, r"skopt\.learning\.GaussianProcessRegressor .*: .*leave base_estimator out"),
        (Matern, "skopt\\.learning\\.Matern .*: .*leave base_estimator out"),
        (gaussian_ei, r"skopt\.acquisition\.gaussian_ei has no counterpart"),
        (Lhs, "Space.rvs or scipy.stats.qmc"),
        (cook_estimator, "pass points as x0"),
        (Space.from_yaml, "pass the dimensions as a list"),
        (Space.from_df, "pass the range of each column"),
    ]:
        with pytest.raises(NotImplementedError, match=words):
            missing("a", b=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        skopt.forest_minimize(f, [(0.0, 1.0)], n_calls=2)
        gp_minimize(f, [(0.0, 1.0)], n_calls=2, base_estimator=op.GoUcb(aim="regret"), n_jobs=-1)


def test_asking_twice_is_no_other_answer() -> None:
    optimizer = skopt.Optimizer(BRANIN, random_state=0)
    first = optimizer.ask()
    assert optimizer.ask() == first == optimizer.ask(n_points=1)[0]
    points = optimizer.ask(n_points=4, strategy="cl_max")
    assert points == optimizer.ask(n_points=4) and points[0] == first and len({tuple(x) for x in points}) == 4
    result = optimizer.tell(points[1], branin(points[1]))
    assert result.x == points[1] and len(optimizer._pending) == 3
    assert optimizer.ask() not in points  # three of them are still being tried
    with pytest.raises(ValueError, match="n_points"):
        optimizer.ask(n_points=0)
    with pytest.raises(ValueError, match="strategy"):
        optimizer.ask(n_points=2, strategy="cl_mode")


def test_tells_are_checked() -> None:
    optimizer = skopt.Optimizer(BRANIN)
    for x, y, words in [
        ([0.0, 0.0], [1.0], "needs a value"),
        ([[0.0, 0.0]], 1.0, "needs a value"),
        ([[0.0, 0.0]], [1.0, 2.0], "1 points, 2 values"),
        ([99.0, 0.0], 1.0, "not in the space"),
        ([0.0, 0.0], "high", "one number"),
    ]:
        with pytest.raises(ValueError, match=words):
            optimizer.tell(x, y)
    assert optimizer.Xi == []


def test_an_optimizer_goes_on_after_a_copy_and_a_pickle() -> None:
    optimizer = skopt.Optimizer(BRANIN, n_initial_points=4, random_state=3, n_calls=20)
    result = optimizer.run(branin, n_iter=12)
    assert result.x_iters == optimizer.get_result().x_iters and len(result.models) == 9
    other = pickle.loads(pickle.dumps(optimizer))
    assert other.ask() == optimizer.ask()
    copied = optimizer.copy(random_state=1)
    assert copied.Xi == optimizer.Xi and copied.yi == optimizer.yi
    copied.tell([0.0, 0.0], 1.0)
    assert len(optimizer.Xi) == 12
    optimizer.space.dimensions[0].high = 5.0  # a narrower space, from now on
    optimizer.space.dimensions[0].low = -5.0
    with pytest.raises(ValueError):
        optimizer.tell([9.0, 1.0], 0.0)


def test_update_next_suggests_anew() -> None:
    optimizer = skopt.Optimizer(BRANIN, random_state=0, acq_func_kwargs={"xi": 0.01})
    optimizer.run(branin, 12)
    before = optimizer.ask()
    assert optimizer.acq_func_kwargs == {"xi": 0.01}  # which scripts change before they call update_next
    optimizer.update_next()
    assert optimizer._pending == [] and optimizer.ask() != before and len(optimizer.Xi) == 12


def test_small_spaces_are_tried_out_before_anything_twice() -> None:
    result = gp_minimize(lambda x: x[0] + (x[1] == "b"), [(1, 4), ["a", "b", "c"]], n_calls=12, random_state=0)
    assert len({tuple(x) for x in result.x_iters}) == 12
    assert len(gp_minimize(lambda x: x[0], [(1, 2)], n_calls=4, random_state=0).x_iters) == 4


def test_models_predict() -> None:
    result = gp_minimize(lambda x: (x[0] - 0.3) ** 2, [(-1.0, 1.0)], n_calls=15, random_state=0)
    model = result.models[-1]
    mean, std = model.predict(result.space.transform([[0.3], [0.9]]), return_std=True)
    assert abs(mean[0]) < 0.02 and abs(mean[1] - 0.36) < 0.1 and (std > 0).all()
    x, fun = skopt.expected_minimum(result, random_state=0)
    assert abs(x[0] - 0.3) < 0.05 and abs(fun) < 0.01
    assert len(gp_minimize(lambda x: x[0], [(0.0, 1.0)], n_calls=15, model_queue_size=2, random_state=0).models) == 2
    assert skopt.dummy_minimize(lambda x: x[0], [(0.0, 1.0)], n_calls=3).models == []


def test_averages_over_a_space_are_averages_of_predictions() -> None:
    result = gp_minimize(mixed, MIXED, n_calls=15, random_state=0)
    model, points = result.models[-1], result.space.rvs(20, random_state=1)
    table = model.average(points, {1: [2, 7], 2: ["a", None, 3]})
    assert table.shape == (2, 3)
    by_hand = model.at([[x[0], 7, None] for x in points])[:, 0].mean()
    assert table[1, 1] == pytest.approx(by_hand, rel=1e-9)


# Spaces


@pytest.mark.parametrize(
    "dimension", [*MIXED, Real(-2, 3, transform="normalize"), Integer(1, 100, "log-uniform", transform="normalize")]
)
def test_transforming_can_be_undone(dimension: skopt.space.Dimension) -> None:
    values = dimension.rvs(20, random_state=0)
    assert all(value in dimension for value in values)
    back = dimension.inverse_transform(dimension.transform(values))
    assert all(a == b or abs(a - b) < 1e-9 for a, b in zip(values, back, strict=True))
    assert [dimension.from_engine(dimension.to_engine(value)) for value in values] == values


@pytest.mark.parametrize("transform", ["onehot", "label", "normalize", "string", "identity"])
def test_categories_are_written_in_each_way(transform: str) -> None:
    for categories in (["a", "b", "c"], ["x", "y"]):
        one = Categorical(categories, transform=transform)
        assert list(one.inverse_transform(one.transform(categories))) == categories
        width = np.asarray(one.transform(categories)).reshape(len(categories), -1).shape[1]
        assert width == one.transformed_size


def test_spaces_are_read_as_scikit_optimize_reads_them() -> None:
    space = Space([(1, 5), (1.0, 5.0), (1, 100, "log-uniform"), ["a", "b"], [1, 2], (True, False), Real(0, 1, name="z")])
    kinds = [type(one).__name__ for one in space]
    assert kinds == ["Integer", "Real", "Integer", "Categorical", "Categorical", "Categorical", "Real"]
    assert space.dimension_names[-1] == "z" and space["z"] == (6, space.dimensions[6])
    points = space.rvs(10, random_state=0)
    assert space.inverse_transform(space.transform(points))[3][0] == points[3][0] and points[0] in space
    assert space.transform(points).shape == (10, space.transformed_n_dims)
    assert space.distance(points[0], points[0]) == 0
    for wrong in ("abc", 3, (5, 1), (0, 10, "log-uniform")):
        with pytest.raises(ValueError):
            Space([wrong])


def test_dimensions_may_have_the_same_name_where_nothing_is_meant_by_it() -> None:
    same = [Real(0, 1, name="a"), Categorical(["p", "q"], name="b"), Integer(1, 3, name="a")]
    space = Space(same)
    assert space.dimension_names == ["a", "b", "a"] and space.names == ["a", "b", "a (2)"]
    result = gp_minimize(lambda x: x[0] + x[2] + (x[1] == "p"), same, n_calls=12, random_state=0)
    assert result.x[0] < 0.1 and result.x[1:] == ["q", 1]
    with pytest.raises(ValueError, match="two dimensions have the same name: a, b, a; rename one of them"):
        Space(same, constraint="a <= 0.5")


# Callbacks


def run_with(callback: object, n_calls: int = 20, f: object = lambda x: x[0] ** 2) -> skopt.OptimizeResult:
    return gp_minimize(f, [(-1.0, 1.0)], n_calls=n_calls, callback=callback, random_state=0)


def test_stoppers_stop_when_they_say() -> None:
    assert run_with(callbacks.ThresholdStopper(0.1)).fun <= 0.1
    by_value = run_with(callbacks.DeltaYStopper(0.05, n_best=3)).func_vals
    assert np.sort(by_value)[2] - by_value.min() < 0.05 and not np.sort(by_value[:-1])[2:3] - by_value[:-1].min() < 0.05
    by_place = run_with(callbacks.DeltaXStopper(0.05)).x_iters
    assert len(by_place) < 20 and abs(by_place[-1][0] - by_place[-2][0]) < 0.05
    assert len(run_with(callbacks.HollowIterationsStopper(3), f=lambda x: 1.0).x_iters) == 4
    assert len(run_with(callbacks.DeadlineStopper(0.0)).x_iters) == 1
    assert len(run_with(callbacks.StdStopper(1e9)).x_iters) <= 10
    assert len(run_with([lambda result: len(result.x_iters) == 3, callbacks.TimerCallback()]).x_iters) == 3
    with pytest.raises(NotImplementedError):
        run_with(callbacks.EarlyStopper())
    with pytest.raises(ValueError, match="list of functions"):
        run_with("often")


def test_timers_and_prints(capsys: pytest.CaptureFixture[str]) -> None:
    timer = callbacks.TimerCallback()
    gp_minimize(lambda x: x[0], [(0.0, 1.0)], n_calls=4, callback=timer, verbose=True, x0=[0.5], n_initial_points=1)
    said = capsys.readouterr().out.splitlines()
    assert len(timer.iter_time) == 4
    assert said[0] == "Iteration No: 1 started. Evaluating function at provided point."
    assert "Iteration No: 2 ended. Evaluating function at random point." in said
    assert "Iteration No: 4 ended. Searching for the next optimal point." in said
    assert sum(line.startswith("Current minimum: ") for line in said) == 4


def test_a_search_resumes_from_a_checkpoint(tmp_path: Path) -> None:
    pytest.importorskip("joblib")
    saver = callbacks.CheckpointSaver(tmp_path / "checkpoint.pkl.gz", store_objective=False)
    assert saver.load() == {}
    run_with([saver], n_calls=4)
    assert len(skopt.load(tmp_path / "checkpoint.pkl.gz").x_iters) == 4
    resumed = gp_minimize(lambda x: x[0] ** 2, [(-1.0, 1.0)], n_calls=3, callback=[saver], random_state=1, **saver.load())
    assert len(resumed.x_iters) == 7 and len(saver.load()["y0"]) == 7


def test_results_are_kept_in_files(tmp_path: Path) -> None:
    pytest.importorskip("joblib")
    result = gp_minimize(branin, BRANIN, n_calls=5, random_state=0)
    skopt.dump(result, tmp_path / "result.pkl")
    again = skopt.load(tmp_path / "result.pkl")
    assert again.x == result.x and again.specs["args"]["func"] is branin and (again.models[-1].at([again.x]) != 0).all()
    local = gp_minimize(lambda x: x[0], [(0.0, 1.0)], n_calls=2)
    skopt.dump(local, tmp_path / "local.pkl", store_objective=False)
    assert "func" not in skopt.load(tmp_path / "local.pkl").specs["args"] and "func" in local.specs["args"]


def test_arguments_by_name() -> None:
    @utils.use_named_args(dimensions=MIXED)
    def f(lr: float, depth: int, kind: object) -> tuple:
        return lr, depth, kind

    assert f([0.1, 2, None]) == (0.1, 2, None) and f.__name__ == "f"
    with pytest.raises(ValueError, match="expected 3 values"):
        f([1])
    with pytest.raises(ValueError, match="needs a name"):
        utils.use_named_args([Real(0, 1)])


# Plots


def test_plots_show_what_was_found() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    from optimist.skopt import plots

    result = gp_minimize(mixed, MIXED, n_calls=14, random_state=0)
    ax = plots.plot_convergence(("ours", result), ("all", [result, result]), true_minimum=0.0)
    assert list(ax.lines[0].get_ydata()) == list(np.minimum.accumulate(result.func_vals)) and ax.get_legend()
    assert plots.plot_regret(result, ax=pyplot.figure().gca()).lines[0].get_ydata()[-1] == pytest.approx(
        sum(result.func_vals - result.fun)
    )
    axes = plots.plot_evaluations(result)
    assert axes.shape == (3, 3) and axes[1, 0].get_xscale() == "log" and axes[2, 0].get_ylabel() == "kind"
    assert len(axes[1, 0].collections[0].get_offsets()) == 14
    axes = plots.plot_objective(result, n_points=6, n_samples=20, plot_dims=["lr", "kind"], minimum="expected_minimum_random")
    assert axes.shape == (2, 2) and [text.get_text() for text in axes[1, 1].get_xticklabels()] == ["a", "None", "3"]
    with pytest.raises(ValueError, match="random search makes none"):
        plots.plot_objective(skopt.dummy_minimize(mixed, MIXED, n_calls=3))
    line = gp_minimize(lambda x: x[0] ** 2, [(-1.0, 1.0)], n_calls=12, random_state=0)
    ax = plots.plot_gaussian_process(line, ax=pyplot.figure().gca(), n_calls=0, objective=lambda x: x[0] ** 2, n_points=30)
    assert len(ax.lines) == 3 and len(ax.lines[-1].get_xdata()) == line.models[0].n
    pyplot.close("all")


def test_the_improvement_that_a_model_expects_is_drawn_beside_it_or_alone() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot
    from scipy.stats import norm

    from optimist.skopt import plots

    line = gp_minimize(lambda x: math.nan if x[0] > 0.9 else x[0] ** 2, [(-1.0, 1.0)], n_calls=12, random_state=0)
    figure = pyplot.figure()
    shown = plots.plot_gaussian_process(line, ax=figure.gca(), n_points=30, show_acq_func=True, show_next_point=True)
    beside = next(ax for ax in figure.axes if ax is not shown)
    curve, highest = beside.lines
    x, expected = curve.get_xdata(), curve.get_ydata()
    mean, std = line.models[-1].at([[one] for one in x]).T
    gain = line.fun - mean
    assert expected == pytest.approx(gain * norm.cdf(gain / std) + std * norm.pdf(gain / std))
    assert highest.get_ydata()[0] == expected.max() and beside.get_ylabel() == "EI(x)"
    labels = [text.get_text() for text in beside.get_legend().get_texts()]
    assert labels == [r"$\mu(x)$", "Observations", "EI(x)", "Highest EI(x)"]
    alone = pyplot.figure()
    plots.plot_gaussian_process(line, ax=alone.gca(), n_points=30, show_mu=False, show_observations=False, show_acq_func=True)
    assert len(alone.axes) == 1
    pyplot.close("all")


def test_one_dimension_and_a_pair_are_drawn() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    from optimist.skopt import plots

    result = gp_minimize(mixed, MIXED, n_calls=14, random_state=0)
    ax = plots.plot_histogram(result, "kind", rotate_labels=20, ax=pyplot.figure().gca())
    kinds = [x[2] for x in result.x_iters]
    assert [bar.get_height() for bar in ax.patches] == [kinds.count(kind) for kind in ("a", None, 3)]
    assert [text.get_text() for text in ax.get_xticklabels()] == ["a", "None", "3"] and ax.get_xlabel() == "kind"
    ax = plots.plot_histogram(result, 0, bins=5, ax=pyplot.figure().gca())
    assert ax.get_xscale() == "log" and sum(bar.get_height() for bar in ax.patches) == 14
    ax = plots.plot_objective_2D(result, "depth", "lr", n_points=5, n_samples=10, zscale="linear", ax=pyplot.figure().gca())
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_yscale()) == ("depth", "lr", "log")
    tried, marked = (points.get_offsets() for points in ax.collections[-2:])
    assert [tuple(one) for one in tried] == [(x[1], x[0]) for x in result.x_iters] and tuple(marked[0]) == (
        result.x[1],
        result.x[0],
    )
    with pytest.raises(ValueError, match="random search makes none"):
        plots.plot_objective_2D(skopt.dummy_minimize(mixed, MIXED, n_calls=3), 0, 1)
    with pytest.raises(ImportError, match="plot_objective_2D draw it"):
        from optimist.skopt.plots import partial_dependence  # noqa: F401
    pyplot.close("all")


def test_classes_are_also_where_scikit_optimize_defines_them() -> None:
    from optimist.skopt.optimizer.optimizer import Optimizer
    from optimist.skopt.space.space import Real as SameReal

    assert Optimizer is skopt.Optimizer and SameReal is Real
    pytest.importorskip("sklearn")
    from optimist.skopt.searchcv import BayesSearchCV

    assert BayesSearchCV is skopt.BayesSearchCV


# What scikit-optimize has


@pytest.fixture(scope="module")
def theirs() -> object:
    return pytest.importorskip("skopt")


#: Where ours is meant to differ: values are Python's own numbers; `iid` and the like have no types.
DIFFERENT = {("Integer", "dtype")}


@pytest.mark.parametrize(
    "path",
    [
        *("gp_minimize", "forest_minimize", "gbrt_minimize", "dummy_minimize", "optimizer.base_minimize", "dump", "load"),
        *("Optimizer", "Optimizer.ask", "Optimizer.tell", "Optimizer.run", "Optimizer.copy", "Optimizer.get_result"),
        *("Optimizer.update_next", "Space", "Space.rvs", "Space.transform", "Space.inverse_transform", "Space.distance"),
        *(
            "space.Real",
            "space.Integer",
            "space.Categorical",
            "space.check_dimension",
            "utils.use_named_args",
            "utils.create_result",
        ),
        *("expected_minimum", "expected_minimum_random_sampling", "utils.point_asdict", "utils.dimensions_aslist"),
        *(f"callbacks.{name}" for name in callbacks.__all__),
        *(
            f"plots.plot_{name}"
            for name in ("convergence", "objective", "objective_2D", "evaluations", "histogram", "regret", "gaussian_process")
        ),
    ],
)
def test_arguments_are_those_of_scikit_optimize(path: str, theirs: object) -> None:
    if path.startswith("plots"):
        pytest.importorskip("matplotlib").use("Agg")
        importlib.import_module("skopt.plots")
    found = []
    for module in (theirs, skopt):
        one = module
        for name in path.split("."):
            one = getattr(one, name)
        found.append(list(inspect.signature(one).parameters.values()))
    their_arguments, ours = found
    keywords = [argument for argument in ours if argument.kind is inspect.Parameter.KEYWORD_ONLY]
    ours = [argument for argument in ours if argument not in keywords or path.startswith("plots")]
    assert [argument.name for argument in ours] == [argument.name for argument in their_arguments]
    for our, their in zip(ours, their_arguments, strict=True):
        if (path.rpartition(".")[2], our.name) not in DIFFERENT:
            assert our.default == their.default or our.default is their.default, our


def test_bayes_search_takes_their_arguments(theirs: object) -> None:
    ours, their = (inspect.signature(one.BayesSearchCV).parameters for one in (skopt, theirs))
    assert list(ours) == list(their)
    assert [argument.default for argument in ours.values()] == [argument.default for argument in their.values()]


def test_dimensions_of_theirs_are_understood(theirs: object) -> None:
    from skopt.space import Categorical as TheirCategorical
    from skopt.space import Integer as TheirInteger
    from skopt.space import Real as TheirReal

    their_space = [TheirReal(1e-5, 1, prior="log-uniform", name="lr"), TheirInteger(1, 12, name="depth")]
    space = Space([*their_space, TheirCategorical(["a", None, 3], name="kind")])
    assert space == Space(MIXED) and space.names == ["lr", "depth", "kind"]


def test_nothing_of_it_is_imported_before_it_is_used() -> None:
    heavy = ("skopt", "sklearn", "matplotlib", "joblib")
    script = f"import json, sys, optimist.skopt; print(json.dumps([m for m in {heavy} if m in sys.modules]))"
    assert json.loads(subprocess.check_output([sys.executable, "-c", script], text=True)) == []


ROOT = Path(__file__).parents[2]
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "docs/guides/scikit-optimize.md").read_text(), re.DOTALL)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_the_guide_runs(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for module, sign in {"skopt": "from skopt", "joblib": "dump", "matplotlib": "plot_"}.items():
        if sign in BLOCKS[number]:
            pytest.importorskip(module)
    if "plot_" in BLOCKS[number]:
        importlib.import_module("matplotlib").use("Agg")
    exec(compile(BLOCKS[number], f"block {number} of the guide", "exec"), {"__name__": "guide"})


#: What scikit-optimize's own examples do, in short: after `import` only the name of the package differs.
EXAMPLES = {
    "ask and tell": """
from PACKAGE import Optimizer
from PACKAGE.space import Real
from joblib import Parallel, delayed
from PACKAGE.benchmarks import branin
optimizer = Optimizer(dimensions=[Real(-5.0, 10.0), Real(0.0, 15.0)], random_state=1, base_estimator='gp')
for i in range(3):
    x = optimizer.ask(n_points=4)
    y = Parallel(n_jobs=1)(delayed(branin)(v) for v in x)
    optimizer.tell(x, y)
found = min(optimizer.yi)
""",
    "interruptible": """
from PACKAGE import gp_minimize, callbacks, load
from PACKAGE.callbacks import CheckpointSaver
from PACKAGE.benchmarks import bench3
saver = CheckpointSaver("./checkpoint.pkl", store_objective=False)
gp_minimize(bench3, [(-20.0, 20.0)], x0=[-20.0], n_calls=12, n_random_starts=3, callback=[saver], random_state=777)
res = load('./checkpoint.pkl')
res = gp_minimize(bench3, [(-20.0, 20.0)], x0=res.x_iters, y0=res.func_vals, n_calls=10, n_random_starts=3, random_state=777)
assert len(res.x_iters) == 22
found = res.fun
""",
    "hyper-parameters": """
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.model_selection import cross_val_score
from PACKAGE.space import Real, Integer
from PACKAGE.utils import use_named_args
from PACKAGE import gp_minimize
X, y = load_diabetes(return_X_y=True)
reg = GradientBoostingRegressor(n_estimators=10, random_state=0)
space = [Integer(1, 5, name='max_depth'), Real(10**-5, 10**0, "log-uniform", name='learning_rate'),
         Integer(1, X.shape[1], name='max_features'), Integer(2, 100, name='min_samples_split')]
@use_named_args(space)
def objective(**params):
    reg.set_params(**params)
    return -np.mean(cross_val_score(reg, X, y, cv=3, scoring="neg_mean_absolute_error"))
res_gp = gp_minimize(objective, space, n_calls=11, random_state=0)
found = res_gp.fun - 80
""",
    "comparing": """
from functools import partial
from PACKAGE import gp_minimize, forest_minimize, dummy_minimize
from PACKAGE.benchmarks import branin
def run(minimizer, n_iter=2):
    return [minimizer(branin, [(-5.0, 10.0), (0.0, 15.0)], n_calls=12, random_state=n) for n in range(n_iter)]
from PACKAGE.plots import plot_convergence
plot = plot_convergence(("dummy_minimize", run(dummy_minimize)), ("gp_minimize", run(gp_minimize)),
                        ("rf", run(partial(forest_minimize, base_estimator='RF'))), true_minimum=0.397887, yscale="log")
found = 0
""",
    "visualising": """
import numpy as np
from PACKAGE.benchmarks import hart6
from PACKAGE.plots import plot_evaluations, plot_objective
from PACKAGE import dummy_minimize, forest_minimize, expected_minimum
bounds = [(0., 1.)] * 3
def hart(x):
    return hart6([*x, 0.3, 0.3, 0.6])
result = forest_minimize(hart, bounds, n_calls=14, base_estimator="ET", random_state=4)
_ = plot_evaluations(result, bins=10)
_ = plot_objective(result, n_samples=10, n_points=5, sample_source='result', minimum='expected_minimum', levels=5)
_ = plot_objective(result, n_samples=10, n_points=5, sample_source=[0.5, 0.5, 0.5], zscale='linear', dimensions=["a", "b", "c"])
found = expected_minimum(result, n_random_starts=5, random_state=0)[1]
""",
    "search": """
from PACKAGE import BayesSearchCV
from PACKAGE.space import Real, Categorical, Integer
from sklearn.datasets import load_iris
from sklearn.svm import LinearSVC, SVC
from sklearn.pipeline import Pipeline
X, y = load_iris(return_X_y=True)
pipe = Pipeline([('model', SVC())])
svc_search = {'model': Categorical([SVC()]), 'model__C': Real(1e-6, 1e+6, prior='log-uniform'),
              'model__degree': Integer(1, 8), 'model__kernel': Categorical(['linear', 'poly', 'rbf'])}
linsvc_search = {'model': [LinearSVC(max_iter=100)], 'model__C': (1e-6, 1e+6, 'log-uniform')}
opt = BayesSearchCV(pipe, [(svc_search, 3), (linsvc_search, 3)], cv=2, random_state=0)
opt.fit(X, y, callback=lambda res: res.fun < -2)
assert opt.total_iterations == 6
found = opt.best_score_
""",
}


@pytest.mark.parametrize("package", ["skopt", "optimist.skopt"])
@pytest.mark.parametrize("name", list(EXAMPLES))
def test_scripts_run_after_the_import_was_changed(
    name: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if (name, package) == ("comparing", "skopt"):
        pytest.skip("scikit-optimize's own dummy_minimize fails with scikit-learn 1.9: it asks None for its tags")
    monkeypatch.chdir(tmp_path)
    for module in ("sklearn", "joblib", "matplotlib", package):
        pytest.importorskip(module)
    importlib.import_module("matplotlib").use("Agg")
    names: dict[str, object] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(EXAMPLES[name].replace("PACKAGE", package), names)
    assert names["found"] < 30
