"""Rounds of a search: candidates in, scores out.

If all fits of a round fail, its candidates are failed trials; scikit-learn would end the search. All rounds have the same
folds, and callbacks see them as one task.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sklearn.exceptions import FitFailedWarning

Candidate = dict[str, Any]

#: scikit-learn's error if all fits of a round have failed.
ALL_FAILED = re.compile(r"All the (\d+) fits failed")


class SameFolds:
    """Repeats the first folds of a splitter: with different folds, candidates of different rounds couldn't be compared."""

    def __init__(self, splitter: Any) -> None:
        self._splitter = splitter
        self._folds: list[Any] | None = None

    def split(self, *data: Any, **params: Any) -> Iterator[Any]:
        """Returns the same folds every time."""
        if self._folds is None:
            self._folds = list(self._splitter.split(*data, **params))
        return iter(self._folds)


class OneTask:
    """The context of callbacks: each round takes it as its own, but callbacks see one task with all fits, as in a random
    search."""

    def __init__(self, context: Any) -> None:
        self._context, self._n = context, 0

    def subcontext(self, *, task_name: str, task_id: int) -> Any:
        """The context of the next fit. scikit-learn counts the fits of each round from 0."""
        self._n += 1
        return self._context.subcontext(task_name=task_name, task_id=self._n - 1)


class Rounds:
    """The rounds of one search.

    Args:
        search: The search that is being fitted.
        evaluate: scikit-learn's `evaluate_candidates`.
        context: The context of callbacks, if scikit-learn has one.
        planned: How many candidates there will be.
    """

    def __init__(self, search: Any, evaluate: Callable[..., Any], context: Any, planned: int) -> None:
        self.search, self._evaluate = search, evaluate
        self._folds = SameFolds(search._checked_cv_orig)
        self._context = context and context.subcontext(
            task_name="search", max_subtasks=planned * search.n_splits_, sequential_subtasks=False
        ).call_on_fit_task_begin(estimator=search)
        self._options = {} if context is None else {"callback_ctx": OneTask(self._context)}
        self.results: Any = None
        self.n_candidates = 0
        #: The candidates without a score by index, and scikit-learn's error for the last one.
        self.failed: dict[int, Candidate] = {}
        self._error: ValueError | None = None
        self._last: tuple[Any, ...] = ()
        self._is_warned = False

    def run(self, candidates: Sequence[Candidate]) -> list[float]:
        """Returns the mean score of each candidate, NaN if it failed.

        The optimizer isn't told how the score varies between folds. All candidates have the same folds, so most of that
        variation is common to all and doesn't say which one is better. Told as noise, it made the search worse than a random
        one (docs/results/scikit-learn.md).
        """
        try:
            self.results = self._evaluate(list(candidates), cv=self._folds, **self._options)
        except ValueError as error:
            if self.search.error_score == "raise" or not ALL_FAILED.search(str(error)):
                raise
            self._error = error
            self.failed |= {self.n_candidates + i: candidate for i, candidate in enumerate(candidates)}
            self.n_candidates += len(candidates)
            return [math.nan] * len(candidates)
        self.n_candidates += len(candidates)
        return [float(mean) for mean in self.results[f"mean_test_{self._metric()}"][-len(candidates) :]]

    def _metric(self) -> str:
        """The metric to optimize: the one that `refit` names, or the only one."""
        names = [str(key)[10:] for key in self.results if str(key).startswith("mean_test_")]
        refit = self.search.refit
        if len(names) > 1:
            if callable(self.search.scoring):
                self.search._check_refit_for_multimetric(dict.fromkeys(names))
            if not isinstance(refit, str) and not self._is_warned:
                self._is_warned = True
                message = f"the search follows `{names[0]}`, the first of {len(names)} metrics; name another one with refit="
                warnings.warn(message, UserWarning, stacklevel=2)
        return refit if isinstance(refit, str) and refit in names else names[0]

    def format(
        self, formatted: Callable[..., Any], candidates: Any, n_splits: int, out: Any, more: Any, is_quiet: bool = True
    ) -> Any:
        """Returns scikit-learn's table, with rows for the candidates that have no score."""
        self._last = (formatted, candidates, n_splits, out, more)
        every, rows = list(candidates), list(out)
        for place, candidate in sorted(self.failed.items()):
            every.insert(place, candidate)
            rows[place * n_splits : place * n_splits] = [_unscored(out[0], self.search.error_score)] * n_splits
        with warnings.catch_warnings():
            if is_quiet:  # the warning comes once, at the end
                warnings.filterwarnings("ignore", message=".*scores are non-finite", category=UserWarning)
            return formatted(every, n_splits, rows, more)

    def close(self) -> None:
        """Ends the search: gives scikit-learn the table with all candidates.

        Raises:
            ValueError: If no candidate has a score.
        """
        n_fits = len(self.failed) * self.search.n_splits_
        if self.results is None:
            said = str(self._error) if self._error else "No fits were performed."
            raise ValueError(ALL_FAILED.sub(f"All the {n_fits} fits failed", said)) from None
        if self.failed:
            warnings.warn(
                f"{len(self.failed)} of {self.n_candidates} candidates failed in all folds; the last:{self._error}",
                FitFailedWarning,
                stacklevel=2,
            )
        formatted, candidates, n_splits, out, more = self._last
        final = self.format(formatted, candidates, n_splits, out, more, is_quiet=False)
        self.results.clear()
        self.results.update(final)
        if self._context is not None:
            self._context.call_on_fit_task_end(estimator=self.search)


def _unscored(scored: dict[str, Any], error_score: float) -> dict[str, Any]:
    """The row of a fit that has no score."""
    row = dict(scored) | {"fit_time": 0.0, "score_time": 0.0}
    for key in ("test_scores", "train_scores"):
        if key in row:
            row[key] = dict.fromkeys(row[key], error_score) if isinstance(row[key], dict) else error_score
    return row
