"""The numbers behind a plot as charts, drawn by matplotlib or plotly."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ._packages import needed


@dataclass(frozen=True)
class Marks:
    """One series of a chart: points, a line, bars, a line with a band, or levels over two axes."""

    kind: str
    x: Sequence[Any]
    y: Sequence[Any]
    label: str | None = None
    #: Half the width of the band.
    std: Sequence[float] | None = None
    #: Of levels: a row for each of `y`, with a number for each of `x`.
    z: Sequence[Sequence[float]] | None = None


@dataclass(frozen=True)
class Chart:
    """One chart: a pair of axes with its series."""

    title: str
    x_label: str
    y_label: str
    marks: list[Marks] = field(default_factory=list)


def charts(data: Mapping[str, Any]) -> list[Chart]:
    """The charts of each kind, in order."""
    kinds: dict[str, Callable[[Any], Iterator[Chart]]] = {
        "history": _history,
        "front": _front,
        "slices": _slices,
        "parallel": _parallel,
        "importance": _importance,
        "surrogate": _surrogate,
        "contour": _contour,
        "edf": _edf,
        "timeline": _timeline,
        "metrics": _metrics,
    }
    return [chart for kind, numbers in data.items() if numbers for chart in kinds[kind](numbers)]


def _history(trials: list[dict[str, Any]]) -> Iterator[Chart]:
    if any("values" in one for one in trials):
        yield from _history_of_several(trials)
        return
    known = [one for one in trials if one.get("value") is not None]
    best = [one for one in trials if one.get("best") is not None]
    points = Marks("points", [one["trial"] for one in known], [one["value"] for one in known], "trial")
    line = Marks("line", [one["trial"] for one in best], [one["best"] for one in best], "best so far")
    yield Chart("History", "trial", "value", [points, line])


def _history_of_several(trials: list[dict[str, Any]]) -> Iterator[Chart]:
    best = [one for one in trials if one["best"] is not None]
    line = Marks("line", [one["trial"] for one in best], [one["best"] for one in best], "best so far")
    yield Chart("History", "trial", "goal, hypervolume or feasible trials", [line])
    names = dict.fromkeys(name for one in trials for name in one["values"])
    for name in names:
        known = [one for one in trials if name in one["values"]]
        points = [
            Marks("points", [one["trial"] for one in group], [one["values"][name] for one in group], label)
            for label, group in _by_feasibility(known).items()
        ]
        yield Chart(name, "trial", name, points)


def _by_feasibility(trials: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    groups = {"trial": [one for one in trials if one["feasible"] is not False]}
    groups["not feasible"] = [one for one in trials if one["feasible"] is False]
    return {label: group for label, group in groups.items() if group}


def _front(data: dict[str, Any]) -> Iterator[Chart]:
    trials = data["trials"]
    goals = list(trials[0]["values"]) if trials else []
    labels = {"infeasible": "not feasible", "beaten": "beaten", "front": "front"}
    for i, across in enumerate(goals):
        for up in goals[i + 1 :]:
            groups = {word: [one["values"] for one in trials if one["standing"] == word] for word in labels}
            marks = [
                Marks("points", [one[across] for one in group], [one[up] for one in group], labels[word])
                for word, group in groups.items()
                if group
            ]
            yield Chart("Front", across, up, marks)


def _slices(slices: list[dict[str, Any]]) -> Iterator[Chart]:
    for one in slices:
        points = [point for point in one["points"] if point.get("value") is not None]
        x = [_text_or_number(point["param"]) for point in points]
        outcome = one.get("outcome", "value")
        yield Chart(one["parameter"], one["parameter"], outcome, [Marks("points", x, [point["value"] for point in points])])


def _parallel(data: dict[str, Any]) -> Iterator[Chart]:
    names = data["parameters"]
    places = {name: _places([trial["params"].get(name) for trial in data["trials"]]) for name in names}
    chart = Chart("Parallel coordinates", "parameter", "place in its range")
    for trial in data["trials"]:
        params = trial["params"]
        active = [name for name in names if name in params]
        label = f"trial {trial['trial']}: {trial.get('value', trial.get('values'))}"
        chart.marks.append(Marks("line", active, [places[name][str(params[name])] for name in active], label))
    yield chart


def _importance(parameters: list[dict[str, Any]] | dict[str, list[dict[str, Any]]], title: str = "Importance") -> Iterator[Chart]:
    if isinstance(parameters, dict):
        for outcome, of_outcome in parameters.items():
            yield from _importance(of_outcome, f"Importance for {outcome}")
        return
    names = [one["parameter"] for one in parameters]
    total = Marks("bars", names, [one["total"] for one in parameters], "with interactions")
    yield Chart(title, "parameter", "share of the variance", [total])


def _surrogate(data: dict[str, Any], outcome: str = "value") -> Iterator[Chart]:
    if "leave_one_out" not in data:
        for name, of_outcome in data.items():
            yield from _surrogate(of_outcome, name)
        return
    told = data["leave_one_out"]
    observed, predicted = [one["observed"] for one in told], [one["mean"] for one in told]
    ends = [min(observed), max(observed)] if observed else []
    marks = [Marks("points", observed, predicted, "trial"), Marks("line", ends, ends, "exact")]
    yield Chart("Predicted from all others", "observed", "predicted", marks)
    for one in data["partial_dependence"]:
        points = one["points"]
        x, mean = [_text_or_number(point["param"]) for point in points], [point["mean"] for point in points]
        band = Marks("band", x, mean, "mean ± 1 std", [point["std"] for point in points])
        yield Chart(f"On average over the others: {one['parameter']}", one["parameter"], outcome, [band])


def _metrics(metrics: list[dict[str, Any]]) -> Iterator[Chart]:
    for one in metrics:
        points = one["points"]
        marks = Marks("points", [point["value"] for point in points], [point["metric"] for point in points])
        yield Chart(one["metric"], "value", one["metric"], [marks])


def _contour(data: dict[str, Any], outcome: str | None = None) -> Iterator[Chart]:
    if "means" not in data:
        for name, of_outcome in data.items():
            yield from _contour(of_outcome, name)
        return
    x, y = ([_text_or_number(value) for value in data[name]] for name in ("x_values", "y_values"))
    rows = [list(row) for row in zip(*data["means"], strict=True)]
    title = f"{data['y']} against {data['x']}, on average over the others"
    title = title if outcome is None else f"{outcome}: {title}"
    yield Chart(title, data["x"], data["y"], [Marks("levels", x, y, "mean", z=rows)])


def _edf(steps: list[dict[str, Any]] | dict[str, list[dict[str, Any]]], outcome: str = "value") -> Iterator[Chart]:
    if isinstance(steps, dict):
        for name, of_outcome in steps.items():
            yield from _edf(of_outcome, name)
        return
    line = Marks("line", [one["value"] for one in steps], [one["part"] for one in steps])
    yield Chart("Share of trials this good or worse", outcome, "part", [line])


def _timeline(trials: list[dict[str, Any]]) -> Iterator[Chart]:
    first = min(one["started_at"] for one in trials)
    chart = Chart("Trials by worker", "seconds since the first trial", "worker")
    for one in trials:
        ends = [(at - first) / 1000 for at in (one["started_at"], one["ended_at"] or one["started_at"])]
        label = f"trial {one['trial']} {one['state']}"
        chart.marks.append(Marks("line", ends, [one["worker"] or "by hand"] * 2, label))
    yield chart


def _places(values: list[Any]) -> dict[str, float]:
    """Where each value lies on its axis, from 0 to 1: numbers by their size, other values in alphabetical order."""
    known = [value for value in values if value is not None]
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in known) and known:
        low, high = min(known), max(known)
        return {str(value): (value - low) / (high - low) if high > low else 0.5 for value in known}
    ordered = sorted({str(value) for value in known})
    return {value: i / max(1, len(ordered) - 1) for i, value in enumerate(ordered)}


def _text_or_number(value: Any) -> Any:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)


def to_matplotlib(data: Mapping[str, Any]) -> Any:
    """A figure with axes for each chart."""
    figures = needed("matplotlib.figure", "to_matplotlib", "matplotlib", "optimist[plot]")
    found = charts(data)
    columns = min(3, len(found)) or 1
    rows = -(-len(found) // columns) or 1
    figure = figures.Figure(figsize=(5 * columns, 3.6 * rows), layout="constrained")
    for i, chart in enumerate(found):
        axes = figure.add_subplot(rows, columns, i + 1)
        axes.set(title=chart.title, xlabel=chart.x_label, ylabel=chart.y_label)
        for marks in chart.marks:
            if marks.kind == "points":
                axes.scatter(marks.x, marks.y, s=14, label=marks.label)
            elif marks.kind == "bars":
                axes.barh(list(marks.x)[::-1], list(marks.y)[::-1], label=marks.label)
            elif marks.z is not None:
                axes.pcolormesh(marks.x, marks.y, marks.z, shading="nearest")
            else:
                axes.plot(marks.x, marks.y, linewidth=1, label=marks.label)
            if marks.std is not None:
                low, high = zip(*((m - s, m + s) for m, s in zip(marks.y, marks.std, strict=True)), strict=True)
                axes.fill_between(marks.x, low, high, alpha=0.2)
        if 1 < len(chart.marks) <= 3:
            axes.legend()
    return figure


def to_plotly(data: Mapping[str, Any]) -> Any:
    """A figure with axes for each chart."""
    go = needed("plotly.graph_objects", "to_plotly", "plotly", "optimist[plot]")
    subplots = needed("plotly.subplots", "to_plotly", "plotly", "optimist[plot]")
    found = charts(data)
    columns = min(3, len(found)) or 1
    rows = -(-len(found) // columns) or 1
    figure = subplots.make_subplots(rows=rows, cols=columns, subplot_titles=[chart.title for chart in found])
    for i, chart in enumerate(found):
        place: dict[str, Any] = {"row": i // columns + 1, "col": i % columns + 1}
        figure.update_xaxes(title_text=chart.x_label, **place)
        figure.update_yaxes(title_text=chart.y_label, **place)
        for marks in chart.marks:
            x, y = list(marks.x), list(marks.y)
            if marks.kind == "bars":
                figure.add_trace(go.Bar(x=x, y=y, name=marks.label), **place)
                continue
            if marks.z is not None:
                figure.add_trace(go.Heatmap(x=x, y=y, z=marks.z, showscale=False), **place)
                continue
            band = None if marks.std is None else {"array": list(marks.std), "visible": True}
            mode = "markers" if marks.kind == "points" else "lines"
            figure.add_trace(go.Scatter(x=x, y=y, mode=mode, name=marks.label, error_y=band), **place)
    figure.update_layout(showlegend=False, height=360 * rows)
    return figure
