"""Plots of results with matplotlib, as in `skopt.plots`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult
from scipy.stats import norm

from .._packages import needed
from ._dimensions import Categorical, Dimension
from .utils import expected_minimum, expected_minimum_random_sampling

__all__ = [
    "plot_convergence",
    "plot_evaluations",
    "plot_gaussian_process",
    "plot_histogram",
    "plot_objective",
    "plot_objective_2D",
    "plot_regret",
]


def plot_convergence(*args: Any, true_minimum: float | None = None, yscale: str | None = None, ax: Any = None) -> Any:
    """Plots the lowest value after each call, for one or several results.

    Args:
        args: Results; lists of results, drawn with their mean; or pairs of a label and one of these.
        true_minimum: Drawn as a line.
        yscale: Such as `"log"`.
        ax: Axes of matplotlib to draw in.
    """
    ax = _axes(ax, "Convergence plot", "Number of calls $n$", r"$\min f(x)$ after $n$ calls", yscale)
    _traces(ax, args, lambda values: np.fmin.accumulate(values))
    if true_minimum is not None:
        ax.axhline(true_minimum, linestyle="--", color="r", lw=1, label="True minimum")
    if true_minimum is not None or any(isinstance(one, tuple) for one in args):
        ax.legend(loc="best")
    return ax


def plot_regret(*args: Any, ax: Any = None, true_minimum: float | None = None, yscale: str | None = None) -> Any:
    """Plots the cumulative regret after each call; takes the arguments of `plot_convergence`.

    Without `true_minimum` it is relative to the lowest value of all results.
    """
    ax = _axes(ax, "Cumulative regret plot", "Number of calls $n$", r"$\sum_{i=0}^n(f(x_i) - optimum)$ after $n$ calls", yscale)
    lowest = true_minimum if true_minimum is not None else min(one.fun for _, group in map(_group, args) for one in group)
    _traces(ax, args, lambda values: np.nancumsum(values - lowest))
    if any(isinstance(one, tuple) for one in args):
        ax.legend(loc="best")
    return ax


def plot_gaussian_process(
    res: OptimizeResult,
    ax: Any = None,
    n_calls: int = -1,
    objective: Callable[[Any], float] | None = None,
    n_points: int = 1000,
    noise_level: float = 0,
    show_legend: bool = True,
    show_title: bool = True,
    show_acq_func: bool = False,
    show_next_point: bool = False,
    show_observations: bool = True,
    show_mu: bool = True,
) -> Any:
    """Plots the model of a search over one dimension, with two standard deviations, and the observed values.

    Args:
        n_calls: Takes an earlier model of `res.models`.
        show_acq_func: Whether to draw the model's expected improvement over the lowest value.
        show_next_point: Whether to mark the highest expected improvement. The engine's next point may be another one, because
            it also decides how far from the best point to look.
    """
    if res.space.n_dims != 1:
        raise ValueError(f"the space must have one dimension, but has {res.space.n_dims}; use plot_objective")
    if not res.models:
        raise ValueError(NO_MODEL)
    ax = _axes(ax, "", "x", "f(x)", None)
    x = _values(res.space.dimensions[0], n_points)
    model = res.models[n_calls]
    if objective is not None:
        fx = np.array([objective([one]) for one in x])
        ax.plot(x, fx, "r--", label="True (unknown)")
        ax.fill_between(x, fx - 1.96 * noise_level, fx + 1.96 * noise_level, alpha=0.2, color="r", linewidth=0)
    mean, std = model.at([[one] for one in x]).T
    if show_mu:
        ax.plot(x, mean, "g--", label=r"$\mu(x)$")
        ax.fill_between(x, mean - 1.96 * std, mean + 1.96 * std, alpha=0.2, color="g", linewidth=0)
    if show_observations:
        seen = [point[0] for point in res.x_iters[: model.n]]
        ax.plot(seen, res.func_vals[: model.n], "r.", markersize=8, label="Observations")
    axes = [ax]
    if show_acq_func:
        if show_mu or show_observations or objective is not None:
            axes.append(ax.twinx())  # improvements have a scale of their own
        _improvements(axes[-1], x, mean, std, res.func_vals[: model.n], show_next_point)
    if show_title:
        ax.set_title(f"x* = {res.x[0]:.4f}, f(x*) = {res.fun:.4f}")
    if show_legend:
        lines = [line for one in axes for line in one.get_legend_handles_labels()[0]]
        axes[-1].legend(handles=lines, loc="best", prop={"size": 6}, numpoints=1)
    return ax


def plot_histogram(
    result: OptimizeResult, dimension_identifier: str | int, bins: int = 20, rotate_labels: int = 0, ax: Any = None
) -> Any:
    """Plots how often the values of a dimension were tried.

    Args:
        dimension_identifier: The name or number of the dimension.
        rotate_labels: Degrees by which the names of categories are turned.
    """
    ((place, one, label),) = _shown(result, [dimension_identifier], None)
    ax = _pyplot().gca() if ax is None else ax
    seen = [_place(one, point[place]) for point in result.x_iters]
    if isinstance(one, Categorical):
        ax.bar(range(len(one.categories)), [seen.count(i) for i in range(len(one.categories))])
        ax.tick_params(axis="x", labelrotation=rotate_labels)
    else:
        ax.hist(seen, bins=_edges(one, bins))
    _scale(ax.xaxis, ax.set_xlim, ax.set_xscale, one)
    ax.set(xlabel=label, ylabel="Sample count")
    return ax


def plot_evaluations(
    result: OptimizeResult,
    bins: int = 20,
    dimensions: Sequence[str] | None = None,
    plot_dims: Sequence[Any] | None = None,
    size: float = 2,
    wspace: float = 0.35,
    hspace: float = 0.35,
    cmap: str = "viridis",
    ax: Any = None,
) -> Any:
    """Plots where the trials were, later ones brighter: a histogram for each dimension, and points for each pair.

    Returns an array of axes, a row and a column for each dimension. Arguments as of `plot_objective`.
    """
    shown = _shown(result, plot_dims, dimensions)
    axes = _matrix(len(shown), size, wspace, hspace, ax)
    order = range(len(result.x_iters))
    columns = [[_place(one, point[place]) for point in result.x_iters] for place, one, _ in shown]
    best = [_place(one, result.x[place]) for place, one, _ in shown]
    for i, (_, one, _) in enumerate(shown):
        axes[i, i].hist(columns[i], bins=_edges(one, bins))
        for j in range(i):
            axes[i, j].scatter(columns[j], columns[i], c=order, s=40, lw=0.0, cmap=cmap)
            axes[i, j].scatter(best[j], best[i], c=["r"], s=100, lw=0.0, marker="*")
    _frame(axes, shown, "Number of samples")
    return axes


def plot_objective(
    result: OptimizeResult,
    levels: int = 10,
    n_points: int = 40,
    n_samples: int = 250,
    size: float = 2,
    wspace: float = 0.35,
    hspace: float = 0.35,
    zscale: str = "linear",
    dimensions: Sequence[str] | None = None,
    sample_source: Any = "random",
    minimum: Any = "result",
    n_minimum_search: int | None = None,
    plot_dims: Sequence[Any] | None = None,
    show_points: bool = True,
    cmap: str = "viridis_r",
    ax: Any = None,
) -> Any:
    """Plots the model along each dimension and each pair of dimensions, averaged over the others.

    Args:
        n_points: Values along each dimension.
        n_samples: Random points that the others are averaged over.
        sample_source: `"random"`; or the values that the others have: `"result"`, `"expected_minimum"`,
            `"expected_minimum_random"` or a point.
        minimum: Which point is marked; words as of `sample_source`.
        dimensions: Labels, if not the names.
        plot_dims: Names or numbers of the dimensions to draw, if not all.

    Returns an array of axes, a row and a column for each dimension.
    """
    shown = _shown(result, plot_dims, dimensions)
    dependence = _Dependence(result, n_points, n_samples, levels, zscale, sample_source, minimum, n_minimum_search, cmap)
    axes = _matrix(len(shown), size, wspace, hspace, ax)
    for i, row in enumerate(shown):
        dependence.draw(axes[i, i], row)
        for j, column in enumerate(shown[:i]):
            dependence.draw_pair(axes[i, j], column, row, show_points)
    _frame(axes, shown, "Partial dependence")
    return axes


def plot_objective_2D(
    result: OptimizeResult,
    dimension_identifier1: str | int,
    dimension_identifier2: str | int,
    n_points: int = 40,
    n_samples: int = 250,
    levels: int = 10,
    zscale: str = "linear",
    sample_source: Any = "random",
    minimum: Any = "result",
    n_minimum_search: int | None = None,
    ax: Any = None,
) -> Any:
    """Plots the model over two dimensions, averaged over the others, with the points that were tried.

    Args:
        dimension_identifier1, dimension_identifier2: The names or numbers of the dimensions along x and y.

    The other arguments are those of `plot_objective`.
    """
    column, row = _shown(result, [dimension_identifier1, dimension_identifier2], None)
    dependence = _Dependence(result, n_points, n_samples, levels, zscale, sample_source, minimum, n_minimum_search, "viridis_r")
    ax = _pyplot().gca() if ax is None else ax
    dependence.draw_pair(ax, column, row, True)
    _scale(ax.xaxis, ax.set_xlim, ax.set_xscale, column[1])
    _scale(ax.yaxis, ax.set_ylim, ax.set_yscale, row[1])
    ax.set(xlabel=column[2], ylabel=row[2])
    return ax


def __getattr__(name: str) -> Any:
    if name.startswith("partial_dependence"):
        raise ImportError(
            f"skopt.plots.{name} has no counterpart in Optimist: plot_objective and plot_objective_2D draw it, and "
            "result.models[-1].average(points, {dimension: values}) has the numbers"
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


#: A dimension: its place, itself and its label.
Shown = tuple[int, Dimension, str]

NO_MODEL = "the result has no model to plot; random search makes none"


class _Dependence:
    """The last model of a result along one or two dimensions, averaged over the others."""

    def __init__(
        self,
        result: OptimizeResult,
        n_points: int,
        n_samples: int,
        levels: int,
        zscale: str,
        sample_source: Any,
        minimum: Any,
        n_minimum_search: int | None,
        cmap: str,
    ) -> None:
        if zscale not in ("linear", "log"):
            raise ValueError(f"zscale must be 'linear' or 'log', got {zscale!r}")
        if not result.models:
            raise ValueError(NO_MODEL)
        self._tried, self._model, self._n_points = result.x_iters, result.models[-1], n_points
        self._levels, self._zscale, self._cmap = levels, zscale, cmap
        is_random = isinstance(sample_source, str) and sample_source == "random"
        self._averaged = result.space.rvs(n_samples) if is_random else [_point(result, sample_source, n_minimum_search)]
        self._marked = _point(result, minimum, n_minimum_search)

    def draw(self, ax: Any, shown: Shown) -> None:
        """Draws a line along one dimension."""
        place, one, _ = shown
        grid = _values(one, self._n_points)
        ax.plot([_place(one, value) for value in grid], self._model.average(self._averaged, {place: grid}))
        ax.axvline(_place(one, self._marked[place]), linestyle="--", color="r", lw=1)

    def draw_pair(self, ax: Any, along_x: Shown, along_y: Shown, show_points: bool) -> None:
        """Draws contours over two dimensions."""
        from matplotlib.ticker import LogLocator

        (column, one, _), (row, other, _) = along_x, along_y
        x, y = _values(one, self._n_points), _values(other, self._n_points)
        means = self._model.average(self._averaged, {row: y, column: x})
        locator = LogLocator() if self._zscale == "log" else None
        places = [_place(one, value) for value in x], [_place(other, value) for value in y]
        ax.contourf(*places, means, self._levels, locator=locator, cmap=self._cmap)
        if show_points:
            seen = [(_place(one, point[column]), _place(other, point[row])) for point in self._tried]
            ax.scatter(*zip(*seen, strict=True), c="k", s=10, lw=0.0)
        marked = _place(one, self._marked[column]), _place(other, self._marked[row])
        ax.scatter(*marked, c=["r"], s=100, lw=0.0, marker="*")


def _improvements(ax: Any, x: Sequence[Any], mean: Any, std: Any, values: Any, show_highest: bool) -> None:
    """Draws by how much the values at each point are expected to fall below the lowest one so far."""
    lowest, std = values[np.isfinite(values)].min(), np.maximum(std, 1e-12)
    z = (lowest - mean) / std
    expected = (lowest - mean) * norm.cdf(z) + std * norm.pdf(z)
    ax.plot(x, expected, "b", label="EI(x)")
    ax.set_ylabel("EI(x)")
    if show_highest:
        highest = int(expected.argmax())
        ax.plot(x[highest], expected[highest], "bo", markersize=6, label="Highest EI(x)")


def _pyplot() -> Any:
    return needed("matplotlib.pyplot", "optimist.skopt.plots", "matplotlib", "optimist[plot]")


def _axes(ax: Any, title: str, x_label: str, y_label: str, yscale: str | None) -> Any:
    ax = _pyplot().gca() if ax is None else ax
    ax.set(title=title, xlabel=x_label, ylabel=y_label)
    ax.grid()
    if yscale is not None:
        ax.set_yscale(yscale)
    return ax


def _group(arg: Any) -> tuple[str | None, list[OptimizeResult]]:
    label, found = arg if isinstance(arg, tuple) else (None, arg)
    if isinstance(found, OptimizeResult):
        return label, [found]
    if isinstance(found, Iterable):
        group = list(found)
        if group and all(isinstance(one, OptimizeResult) for one in group):
            return label, group
    raise ValueError(f"expected a result, a list of results, or a pair of a label and either; got {arg!r}")


def _traces(ax: Any, args: Sequence[Any], trace: Callable[[Any], Any]) -> None:
    colors = _pyplot().cm.viridis(np.linspace(0.25, 1.0, len(args)))
    for (label, group), color in zip(map(_group, args), colors, strict=True):
        traces = [trace(one.func_vals) for one in group]
        longest = max(map(len, traces))
        for one in traces if len(traces) > 1 else ():
            ax.plot(range(1, 1 + len(one)), one, c=color, alpha=0.2)
        table = np.array([np.pad(one, (0, longest - len(one)), constant_values=np.nan) for one in traces])
        known = np.isfinite(table).any(axis=0)  # all calls up to one of them may have failed
        calls = np.arange(1, 1 + longest)[known]
        ax.plot(calls, np.nanmean(table[:, known], axis=0), c=color, marker=".", markersize=12, lw=2, label=label)


def _shown(result: OptimizeResult, plot_dims: Sequence[Any] | None, labels: Sequence[str] | None) -> list[Shown]:
    space = result.space
    if plot_dims is None:
        found = [(place, one) for place, one in enumerate(space.dimensions) if not one.is_constant]
    else:
        found = space[list(plot_dims)]
    names = labels if labels is not None else [one.name or f"$X_{{{place}}}$" for place, one in found]
    if len(names) != len(found):
        raise ValueError(f"dimensions has {len(names)} labels for {len(found)} dimensions; pass one for each")
    if any(one.when for _, one in found):
        raise ValueError(
            "a space with dimensions that are not always there cannot be drawn as a matrix; choose others as plot_dims"
        )
    return [(place, one, name) for (place, one), name in zip(found, names, strict=True)]


def _point(result: OptimizeResult, word: Any, n_search: int | None) -> list[Any]:
    if not isinstance(word, str):
        if len(word) != result.space.n_dims:
            raise ValueError(f"a point needs {result.space.n_dims} values, got {len(word)}")
        return list(word)
    if word == "result":
        return list(result.x)
    if word == "expected_minimum":
        return expected_minimum(result, n_search or 20)[0]
    if word == "expected_minimum_random":
        return expected_minimum_random_sampling(result, min(n_search or 10_000, 100_000))[0]
    raise ValueError(f"expected 'result', 'expected_minimum', 'expected_minimum_random' or a point, got {word!r}")


def _place(one: Dimension, value: Any) -> float:
    return one.index(value) if isinstance(one, Categorical) else float(value)


def _values(one: Any, n_points: int) -> list[Any]:
    """Values along a dimension: all of them if there are few."""
    if isinstance(one, Categorical):
        return list(one.categories)
    found = [one.from_engine(value) for value in one._unscaled(_evenly(one, n_points))]
    return sorted(set(found))


def _edges(one: Any, bins: int) -> Any:
    if isinstance(one, Categorical):
        return np.arange(len(one.categories) + 1) - 0.5
    return np.unique(one._unscaled(_evenly(one, bins + 1)))


def _evenly(one: Any, n: int) -> Any:
    """Positions along the scale of a dimension."""
    low, high = one._scaled([one.low, one.high])
    return np.linspace(low, high, n)


def _matrix(n: int, size: float, wspace: float, hspace: float, ax: Any) -> Any:
    from matplotlib import gridspec

    if ax is None:
        figure, _ = _pyplot().subplots(figsize=(size * n, size * n))
        figure.clear()
        grid: Any = gridspec.GridSpec(n, n, figure=figure, wspace=wspace, hspace=hspace)
    else:
        figure = ax.get_figure()
        grid = gridspec.GridSpecFromSubplotSpec(n, n, subplot_spec=ax.get_subplotspec(), wspace=wspace, hspace=hspace)
        ax.axis("off")
    axes: Any = np.empty((n, n), dtype=object)
    for i in range(n):
        for j in range(n):
            axes[i, j] = figure.add_subplot(grid[i, j])
    return axes


def _frame(axes: Any, shown: list[Shown], label: str) -> None:
    """Sets limits, scales and labels: those of rows on the left, those of columns below."""
    n = len(shown)
    for i, (_, one, name) in enumerate(shown):
        for j, (_, other, other_name) in enumerate(shown[: i + 1]):
            ax = axes[i, j]
            _scale(ax.xaxis, ax.set_xlim, ax.set_xscale, other)
            if i == j:
                ax.yaxis.tick_right()
                ax.yaxis.set_label_position("right")
                ax.set_ylabel(label)
            else:
                _scale(ax.yaxis, ax.set_ylim, ax.set_yscale, one)
                if j == 0:
                    ax.set_ylabel(name)
                else:
                    ax.tick_params(labelleft=False)
            if i == n - 1:
                ax.set_xlabel(other_name)
                ax.tick_params(axis="x", labelrotation=45)
            elif i != j:
                ax.tick_params(labelbottom=False)
        for j in range(i + 1, n):
            axes[i, j].axis("off")


def _scale(axis: Any, set_limits: Callable[..., Any], set_scale: Callable[[str], Any], one: Any) -> None:
    if isinstance(one, Categorical):
        axis.set_ticks(range(len(one.categories)), [str(category) for category in one.categories])
        return
    if one.prior == "log-uniform":
        set_scale("log")
    set_limits(one.low, one.high)
