"""Pictures of a study that show themselves."""

from __future__ import annotations

import os
from typing import Any

from . import _native


class Plot:
    """A picture of a study: as SVG in notebooks, or as a file."""

    def __init__(self, native: _native.Plots) -> None:
        self._native = native

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
        """As a page that needs nothing else, with a caption for each picture."""
        return self._native.html()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a file whose name ends in `.svg`, `.png` or `.html`."""
        self._native.write(os.fspath(path))

    def to_matplotlib(self) -> Any:
        """As a figure of matplotlib, which must be installed."""
        from ._charts import to_matplotlib

        return to_matplotlib(self.data)

    def to_plotly(self) -> Any:
        """As a figure of plotly, which must be installed."""
        from ._charts import to_plotly

        return to_plotly(self.data)

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<optimist.Plot of {', '.join(self.data)}>"
