"""Pictures that show themselves."""

import copy
import pickle
from pathlib import Path

import pytest

import optimist as op

KINDS = ["history", "slices", "parallel", "importance", "surrogate", "contour", "edf", "timeline"]


@pytest.fixture
def measured() -> op.Study:
    space = {"x": (0.0, 1.0), "k": ["a", None], "n": op.Int(1, 4, when={"k": "a"})}
    return op.Study("s", space, direction="minimize", trials=10).run(lambda x, k, n=0: x + n)


def test_a_plot_shows_itself_and_is_saved(measured: op.Study, tmp_path: Path) -> None:
    plot = measured.plot("history")
    assert plot._repr_svg_().startswith("<svg") and list(plot.data) == ["history"]
    for ending, start in ((".svg", b"<svg"), (".png", b"\x89PNG"), (".html", b"<!doctype html>")):
        file = tmp_path / f"x{ending}"
        plot.save(file)
        assert file.read_bytes().startswith(start)
    assert list(measured.plot().data) == [*KINDS, "metrics"]
    assert measured.plot("metrics").data == {"metrics": []}
    with pytest.raises(ValueError, match="there is no plot `slice`; choose from history, front, slices"):
        measured.plot("slice")
    with pytest.raises(ValueError, match="end it in .svg, .png or .html"):
        plot.save("x.pdf")
    with pytest.raises(OSError, match="No such file"):
        plot.save(tmp_path / "no" / "x.svg")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_can_be_had_from_other_libraries(measured: op.Study, kind: str) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("plotly")
    plot = measured.plot(kind)
    assert len(plot.to_matplotlib().axes) >= 1
    assert len(plot.to_plotly().data) >= 1


def test_a_copy_of_a_plot_has_what_was_drawn(measured: op.Study) -> None:
    plot = measured.plot("history", "slices")
    for again in (pickle.loads(pickle.dumps(plot)), copy.deepcopy(plot)):
        assert (again.svg, again.png, again.html, again.data) == (plot.svg, plot.png, plot.html, plot.data)


def test_a_study_without_values_can_be_drawn() -> None:
    pytest.importorskip("matplotlib")
    plot = op.Study("s", {"x": (0.0, 1.0)}, direction="minimize").plot()
    assert "<svg" in plot.svg
    plot.to_matplotlib()
