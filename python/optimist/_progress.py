"""The progress bar: a line in terminals and notebooks, nothing elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from ._outcomes import Maximize, Minimize

if TYPE_CHECKING:
    from ._study import Study
    from ._trial import Trial

WIDTH = 24


class Progress:
    """A bar with the best value so far."""

    def __init__(self, study: Study, planned: int, wanted: bool | None) -> None:
        self.planned = planned
        goals = [(name, one) for name, one in study.outcomes.items() if isinstance(one, (Minimize, Maximize))]
        #: The name of the goal and whether it's minimized; `None` if there are no goals, or several.
        self.goal = (goals[0][0], isinstance(goals[0][1], Minimize)) if len(goals) == 1 else None
        self.display: Any = None
        self.is_terminal = sys.stderr is not None and sys.stderr.isatty()
        is_notebook = _is_notebook()
        self.is_shown = (self.is_terminal or is_notebook) if wanted is None else wanted
        self.n_done, self.n_failed = 0, 0
        self.best: float | None = None
        self.last = 0.0
        if not self.is_shown:
            return
        if is_notebook:
            from IPython.display import display

            self.display = display({"text/plain": ""}, raw=True, display_id=True)
        for trial in study.trials:
            self._count(trial)

    def update(self, trial: Trial) -> None:
        """A trial has ended."""
        if self.is_shown:
            self._count(trial)
            self._show(is_last=False)

    def close(self) -> None:
        """The run has ended."""
        if self.is_shown and self.n_done:
            self._show(is_last=True)
            if self.display is None:
                sys.stderr.write("\n")

    def _count(self, trial: Trial) -> None:
        if trial.source != "imported":
            self.n_done += trial.state in ("complete", "failed")
        self.n_failed += trial.state == "failed"
        if self.goal is None or trial.state != "complete" or trial.feasible is False:
            return
        name, is_minimizing = self.goal
        value = trial.values.get(name, trial.value)
        if value is not None:
            is_better = self.best is None or (value < self.best) == is_minimizing
            self.best = value if is_better else self.best

    def _show(self, *, is_last: bool) -> None:
        now = time.monotonic()
        if not is_last and now - self.last < 0.05:
            return
        self.last = now
        filled = min(WIDTH, WIDTH * self.n_done // max(1, self.planned))
        line = f"[{'#' * filled}{'.' * (WIDTH - filled)}] {self.n_done}/{self.planned}"
        line += "" if self.best is None else f"  best {self.best:.6g}"
        line += f"  {self.n_failed} failed" if self.n_failed else ""
        if self.display is not None:
            self.display.update({"text/plain": line}, raw=True)
        else:
            sys.stderr.write(f"\r{line}\x1b[K" if self.is_terminal else f"{line}\n")
            sys.stderr.flush()


def _is_notebook() -> bool:
    shell = sys.modules.get("IPython")
    get_ipython = getattr(shell, "get_ipython", None)
    return get_ipython is not None and type(get_ipython()).__name__ == "ZMQInteractiveShell"
