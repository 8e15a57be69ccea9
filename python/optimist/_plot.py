"""Plots of a study."""

from __future__ import annotations

import os
from typing import Any

from . import _native
from ._errors import StudyError


class Plot:
    """A plot of a study. A notebook displays it as SVG.

    >>> import optimist as op
    >>> plot = op.minimize(lambda x: x**2, {"x": (-1.0, 1.0)}, trials=8).study.plot("history")
    >>> plot.svg.startswith("<svg"), list(plot.data)
    (True, ['history'])
    """

    def __init__(self, native: _native.Plots) -> None:
        self._native: _native.Plots | Rendered = native

    @property
    def data(self) -> dict[str, Any]:
        """The numbers behind the plot, by kind."""
        return dict(self._native.data())

    @property
    def svg(self) -> str:
        """The plot as SVG."""
        return self._native.svg()

    @property
    def png(self) -> bytes:
        """The plot as the content of a PNG file."""
        return self._native.png()

    @property
    def html(self) -> str:
        """The plot as a self-contained HTML page with captions."""
        return self._native.html()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Saves the plot in a file whose name ends in `.svg`, `.png` or `.html`."""
        file = os.fspath(path)
        ending = os.path.splitext(file)[1].lower()
        if ending == ".png":
            content = self.png
        elif ending == ".svg":
            content = self.svg.encode()
        elif ending in (".html", ".htm"):
            content = self.html.encode()
        else:
            raise StudyError(f"cannot tell the format of {file} from its name; end it in .svg, .png or .html")
        with open(file, "wb") as written:
            written.write(content)

    def to_matplotlib(self) -> Any:
        """Returns the plot as a matplotlib figure."""
        from ._charts import to_matplotlib

        return to_matplotlib(self.data)

    def to_plotly(self) -> Any:
        """Returns the plot as a plotly figure."""
        from ._charts import to_plotly

        return to_plotly(self.data)

    def _repr_svg_(self) -> str:
        return self.svg

    # A copy keeps what was drawn, not the study.

    def __getstate__(self) -> dict[str, Any]:
        return {"drawn": Rendered(self.svg, self.png, self.html, self.data)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._native = state["drawn"]

    def __repr__(self) -> str:
        return f"<optimist.Plot of {', '.join(self.data)}>"


class Rendered:
    """A plot that has been drawn, with the methods of `_native.Plots`."""

    def __init__(self, svg: str, png: bytes, html: str, data: dict[str, Any]) -> None:
        self._forms = (svg, png, html, data)

    def svg(self) -> str:
        return self._forms[0]

    def png(self) -> bytes:
        return self._forms[1]

    def html(self) -> str:
        return self._forms[2]

    def data(self) -> dict[str, Any]:
        return self._forms[3]
