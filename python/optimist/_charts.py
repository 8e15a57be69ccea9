"""The numbers behind a picture as charts, which matplotlib and plotly draw in their own ways."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Marks:
    """Points, a line, bars, or a line with a band."""

    kind: str
    x: Sequence[Any]
    y: Sequence[Any]
    label: str | None = None
    #: Half the width of the band.
    std: Sequence[float] | None = None


@dataclass(frozen=True)
class Chart:
    """Marks in one frame."""

    title: str
    x_label: str
    y_label: str
    marks: list[Marks] = field(default_factory=list)


def charts(data: Mapping[str, Any]) -> list[Chart]:
    """The charts of all kinds, in their order."""
    kinds: dict[str, Callable[[Any], Iterator[Chart]]]
    kinds = {"history": _history, "slices": _slices, "parallel": _parallel, "importance": _importance, "surrogate": _surrogate}
    return [chart for kind, numbers in data.items() if numbers for chart in kinds[kind](numbers)]


def _history(trials: list[dict[str, Any]]) -> Iterator[Chart]:
    known = [one for one in trials if one.get("value") is not None]
    best = [one for one in trials if one.get("best") is not None]
    points = Marks("points", [one["trial"] for one in known], [one["value"] for one in known], "trial")
    line = Marks("line", [one["trial"] for one in best], [one["best"] for one in best], "best so far")
    yield Chart("History", "trial", "value", [points, line])


def _slices(slices: list[dict[str, Any]]) -> Iterator[Chart]:
    for one in slices:
        points = [point for point in one["points"] if point.get("value") is not None]
        x = [_text_or_number(point["param"]) for point in points]
        yield Chart(one["parameter"], one["parameter"], "value", [Marks("points", x, [point["value"] for point in points])])


def _parallel(data: dict[str, Any]) -> Iterator[Chart]:
    names = data["parameters"]
    places = {name: _places([trial["params"].get(name) for trial in data["trials"]]) for name in names}
    chart = Chart("Parallel coordinates", "parameter", "place in its range")
    for trial in data["trials"]:
        params = trial["params"]
        active = [name for name in names if name in params]
        label = f"trial {trial['trial']}: {trial.get('value')}"
        chart.marks.append(Marks("line", active, [places[name][str(params[name])] for name in active], label))
    yield chart


def _importance(parameters: list[dict[str, Any]]) -> Iterator[Chart]:
    names = [one["parameter"] for one in parameters]
    total = Marks("bars", names, [one["total"] for one in parameters], "with interactions")
    yield Chart("Importance", "parameter", "share of the variance", [total])


def _surrogate(data: dict[str, Any]) -> Iterator[Chart]:
    told = data["leave_one_out"]
    observed, predicted = [one["observed"] for one in told], [one["mean"] for one in told]
    ends = [min(observed), max(observed)] if observed else []
    marks = [Marks("points", observed, predicted, "trial"), Marks("line", ends, ends, "exact")]
    yield Chart("Predicted from all others", "observed", "predicted", marks)
    for one in data["partial_dependence"]:
        points = one["points"]
        x, mean = [_text_or_number(point["param"]) for point in points], [point["mean"] for point in points]
        band = Marks("band", x, mean, "mean ± 1 std", [point["std"] for point in points])
        yield Chart(f"On average over the others: {one['parameter']}", one["parameter"], "value", [band])


def _places(values: list[Any]) -> dict[str, float]:
    """Where each value lies, from 0 to 1: numbers in their range, others in their order."""
    known = [value for value in values if value is not None]
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in known) and known:
        low, high = min(known), max(known)
        return {str(value): (value - low) / (high - low) if high > low else 0.5 for value in known}
    ordered = sorted({str(value) for value in known})
    return {value: i / max(1, len(ordered) - 1) for i, value in enumerate(ordered)}


def _text_or_number(value: Any) -> Any:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)


def to_matplotlib(data: Mapping[str, Any]) -> Any:
    """A figure with a frame for each chart."""
    from matplotlib.figure import Figure

    found = charts(data)
    columns = min(3, len(found)) or 1
    rows = -(-len(found) // columns) or 1
    figure = Figure(figsize=(5 * columns, 3.6 * rows), layout="constrained")
    for i, chart in enumerate(found):
        axes = figure.add_subplot(rows, columns, i + 1)
        axes.set(title=chart.title, xlabel=chart.x_label, ylabel=chart.y_label)
        for marks in chart.marks:
            if marks.kind == "points":
                axes.scatter(marks.x, marks.y, s=14, label=marks.label)
            elif marks.kind == "bars":
                axes.barh(list(marks.x)[::-1], list(marks.y)[::-1], label=marks.label)
            else:
                axes.plot(marks.x, marks.y, linewidth=1, label=marks.label)
            if marks.std is not None:
                low, high = zip(*((m - s, m + s) for m, s in zip(marks.y, marks.std, strict=True)), strict=True)
                axes.fill_between(marks.x, low, high, alpha=0.2)
        if 1 < len(chart.marks) <= 3:
            axes.legend()
    return figure


def to_plotly(data: Mapping[str, Any]) -> Any:
    """A figure with a frame for each chart."""
    from plotly import graph_objects as go
    from plotly.subplots import make_subplots

    found = charts(data)
    columns = min(3, len(found)) or 1
    rows = -(-len(found) // columns) or 1
    figure = make_subplots(rows=rows, cols=columns, subplot_titles=[chart.title for chart in found])
    for i, chart in enumerate(found):
        place: dict[str, Any] = {"row": i // columns + 1, "col": i % columns + 1}
        figure.update_xaxes(title_text=chart.x_label, **place)
        figure.update_yaxes(title_text=chart.y_label, **place)
        for marks in chart.marks:
            x, y = list(marks.x), list(marks.y)
            if marks.kind == "bars":
                figure.add_trace(go.Bar(x=x, y=y, name=marks.label), **place)
                continue
            band = None if marks.std is None else {"array": list(marks.std), "visible": True}
            mode = "markers" if marks.kind == "points" else "lines"
            figure.add_trace(go.Scatter(x=x, y=y, mode=mode, name=marks.label, error_y=band), **place)
    figure.update_layout(showlegend=False, height=360 * rows)
    return figure
