"""Plots of a study that show themselves."""

from __future__ import annotations

import os
from typing import Any

from . import _native
from ._errors import StudyError


class Plot:
    """A plot of a study: shows itself as SVG in notebooks, and can be saved."""

    def __init__(self, native: _native.Plots) -> None:
        self._native: _native.Plots | Rendered = native

    @property
    def data(self) -> dict[str, Any]:
        """The numbers behind it, by kind."""
        return dict(self._native.data())

    @property
    def svg(self) -> str:
        """As SVG."""
        return self._native.svg()

    @property
    def png(self) -> bytes:
        """As a PNG file."""
        return self._native.png()

    @property
    def html(self) -> str:
        """As a self-contained HTML page, with a caption for each plot."""
        return self._native.html()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a file whose name ends in `.svg`, `.png` or `.html`."""
        file = os.fspath(path)
        ending = os.path.splitext(file)[1].lower()
        if ending == ".png":
            content = self.png
        elif ending == ".svg":
            content = self.svg.encode()
        elif ending in (".html", ".htm"):
            content = self.html.encode()
        else:
            raise StudyError(f"cannot tell what {file} should be; end its name in .svg, .png or .html")
        with open(file, "wb") as written:
            written.write(content)

    def to_matplotlib(self) -> Any:
        """As a matplotlib figure; matplotlib must be installed."""
        from ._charts import to_matplotlib

        return to_matplotlib(self.data)

    def to_plotly(self) -> Any:
        """As a plotly figure; plotly must be installed."""
        from ._charts import to_plotly

        return to_plotly(self.data)

    def _repr_svg_(self) -> str:
        return self.svg

    # A copy has what was drawn, not the study.

    def __getstate__(self) -> dict[str, Any]:
        return {"drawn": Rendered(self.svg, self.png, self.html, self.data)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._native = state["drawn"]

    def __repr__(self) -> str:
        return f"<optimist.Plot of {', '.join(self.data)}>"


class Rendered:
    """A picture that has been drawn, with the methods of `_native.Plots`."""

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
