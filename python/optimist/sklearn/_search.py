"""`OptimistSearchCV`, and `BayesSearchCV` with scikit-optimize's order of arguments."""

from __future__ import annotations

import numbers
from abc import ABCMeta
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils._param_validation import Interval

from .._errors import StudyError
from .._outcomes import Maximize
from .._progress import Progress
from .._space import Space as EngineSpace
from ..skopt import Optimizer
from ..skopt._dimensions import check_random_state
from ..skopt.callbacks import check_callback
from ..skopt.space import Space
from ._rounds import Rounds
from ._spaces import Plan, plans


class OptimistSearchCV(BaseSearchCV, metaclass=ABCMeta):  # type: ignore[misc]  # the metaclass is that of run time
    """Searches the parameters of an estimator by cross-validation. The scores so far decide which candidate to try next.

    Takes the arguments of `RandomizedSearchCV` and of scikit-optimize's `BayesSearchCV`.

    All candidates are scored on the same folds. If a candidate fails in all of them, it's a failed trial, from which the search
    learns, and its scores in `cv_results_` are `error_score`. If no candidate has a score, the search raises an error.

    In addition to the attributes of `RandomizedSearchCV`, it has `optimizer_results_`, a result of `optimist.skopt` for each
    search, whose values are negated scores; `optimizers_`; and `total_iterations`.

    Args:
        estimator: The estimator to tune, or a pipeline.
        param_distributions: What to search, by the name of the parameter: distributions of `scipy.stats`, lists, tuples such as
            `(1e-6, 1e6, "log-uniform")`, dimensions of scikit-optimize, `op.Float(…)`. A list of numbers in increasing or
            decreasing order is a scale, any other list a choice. A list of dictionaries is one search, which also chooses the
            dictionary.
        search_spaces: In place of `param_distributions`, as in `BayesSearchCV`: in a list, each dictionary is a search by itself
            with `n_iter` candidates, and a pair `(dictionary, n)` is one with `n`.
        n_iter: How many candidates to try; a smaller space is tried completely. By default 10, or 50 for each of `search_spaces`.
        n_points: How many candidates to try at the same time. If `n_jobs` is larger than the number of folds, use more than 1.
        optimizer_kwargs: Arguments of `optimist.skopt.Optimizer`, such as `{"base_estimator": "gp-ei"}`.
        fit_params: Arguments of the estimator's `fit`; `fit` takes them, too.
        scoring, n_jobs, refit, cv, verbose, pre_dispatch, error_score, return_train_score: As in `RandomizedSearchCV`. With
            several metrics, the search optimizes the one that `refit` names.
        random_state: The same seed gives the same candidates, whatever `n_jobs` is.
        progress: Whether to show a progress bar; by default, in terminals and notebooks.
    """

    _parameter_constraints: dict[str, Any] = {  # noqa: RUF012 (scikit-learn's way)
        **BaseSearchCV._parameter_constraints,
        "param_distributions": [dict, list, EngineSpace, Space, None],
        "search_spaces": [dict, list, EngineSpace, Space, None],
        "n_iter": [Interval(numbers.Integral, 1, None, closed="left"), None],
        "n_points": [Interval(numbers.Integral, 1, None, closed="left")],
        "optimizer_kwargs": [dict, None],
        "fit_params": [dict, None],
        "random_state": ["random_state"],
        "progress": ["boolean", None],
    }

    def __init__(
        self,
        estimator: Any,
        param_distributions: Any = None,
        *,
        search_spaces: Any = None,
        n_iter: int | None = None,
        n_points: int = 1,
        optimizer_kwargs: dict[str, Any] | None = None,
        fit_params: dict[str, Any] | None = None,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: int | str = "2*n_jobs",
        random_state: Any = None,
        error_score: Any = np.nan,
        return_train_score: bool = False,
        progress: bool | None = None,
    ) -> None:
        self.param_distributions = param_distributions
        self.search_spaces = search_spaces
        self.n_iter = n_iter
        self.n_points = n_points
        self.optimizer_kwargs = optimizer_kwargs
        self.fit_params = fit_params
        self.random_state = random_state
        self.progress = progress
        super().__init__(
            estimator=estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )

    def fit(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Runs the search, and fits the estimator with the best parameters to all data.

        Args:
            X, y: The data.
            params: Arguments of the estimator's `fit`, `groups` for the splitter, or whatever metadata routing passes on; and
                `callback`, a function of the results so far, or a list of them, which ends the search by returning true.
        """
        callback = params.pop("callback", None)
        self._now = SimpleNamespace(callbacks=check_callback(callback), rounds=None)
        try:
            return super().fit(X, y, **{**(self.fit_params or {}), **params})
        finally:
            del self._now

    @property
    def total_iterations(self) -> int:
        """How many candidates `fit` will try."""
        return sum(plan.n_iter for plan in self._plans(0))

    def _plans(self, random_state: Any) -> list[Plan]:
        if (self.param_distributions is None) == (self.search_spaces is None):
            raise StudyError("give param_distributions or search_spaces, not both")
        if self.search_spaces is None:
            return plans(self.param_distributions, self.n_iter or 10, True, random_state)
        return plans(self.search_spaces, self.n_iter or 50, False, random_state)

    def _run_search(self, evaluate_candidates: Any, *, callback_ctx: Any = None) -> None:
        rng = check_random_state(self.random_state)
        planned = self._plans(rng)
        bar = Progress(_SCORES, sum(plan.n_iter for plan in planned), self.progress)
        rounds = self._now.rounds = Rounds(self, evaluate_candidates, callback_ctx, bar.planned)
        found = [self._search(plan, rounds, rng, bar) for plan in planned]
        bar.close()
        rounds.close()
        self.optimizers_ = [optimizer for optimizer in found if optimizer is not None]
        self.optimizer_results_ = [optimizer.get_result() for optimizer in self.optimizers_]

    def _search(self, plan: Plan, rounds: Rounds, rng: Any, bar: Progress) -> Optimizer | None:
        """Searches one space."""
        if plan.space is None:
            _show(bar, rounds.run([{}] * plan.n_iter))
            return None
        arguments: dict[str, Any] = {"random_state": rng, "n_calls": plan.n_iter, **(self.optimizer_kwargs or {})}
        optimizer = Optimizer(plan.space, **arguments)
        remaining = plan.n_iter
        while remaining > 0:
            start, k = plan.n_iter - remaining, min(self.n_points, remaining)
            points = plan.every[start : start + k] if plan.every else optimizer.ask(k)
            remaining -= k
            scores = rounds.run([plan.params(point) for point in points])
            result = optimizer.tell(points, [-score for score in scores])
            _show(bar, scores)
            if any([bool(callback(result)) for callback in self._now.callbacks]):
                break
        return optimizer

    def _format_results(self, candidate_params: Any, n_splits: int, out: Any, more_results: Any = None) -> Any:
        return self._now.rounds.format(super()._format_results, candidate_params, n_splits, out, more_results)

    def __getstate__(self) -> Any:
        # scikit-learn pickles the search for the processes that fit, which don't need this
        return {key: value for key, value in super().__getstate__().items() if key != "_now"}


class BayesSearchCV(OptimistSearchCV):
    """`OptimistSearchCV` with the order and the defaults of the arguments of scikit-optimize's `BayesSearchCV`."""

    def __init__(
        self,
        estimator: Any,
        search_spaces: Any,
        optimizer_kwargs: dict[str, Any] | None = None,
        n_iter: int = 50,
        scoring: Any = None,
        fit_params: dict[str, Any] | None = None,
        n_jobs: int | None = 1,
        n_points: int = 1,
        iid: Any = "deprecated",
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: int | str = "2*n_jobs",
        random_state: Any = None,
        error_score: Any = "raise",
        return_train_score: bool = False,
    ) -> None:
        super().__init__(
            estimator,
            search_spaces=search_spaces,
            n_iter=n_iter,
            n_points=n_points,
            optimizer_kwargs=optimizer_kwargs,
            fit_params=fit_params,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            random_state=random_state,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.iid = iid

    _parameter_constraints: dict[str, Any] = {  # noqa: RUF012
        key: value
        for key, value in OptimistSearchCV._parameter_constraints.items()
        if key not in ("param_distributions", "progress")
    }


#: What `Progress` needs to know about a study.
_SCORES: Any = SimpleNamespace(outcomes={"value": Maximize()}, trials=())


def _show(bar: Progress, scores: Iterable[float]) -> None:
    for score in scores:
        is_scored = bool(np.isfinite(score))
        state, value = ("complete", score) if is_scored else ("failed", None)
        trial: Any = SimpleNamespace(source="suggested", state=state, value=value, values={}, feasible=None)
        bar.update(trial)
