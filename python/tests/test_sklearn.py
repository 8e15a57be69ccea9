"""`OptimistSearchCV` where `RandomizedSearchCV` and `BayesSearchCV` were."""

import pickle
import re
import warnings
from pathlib import Path
from typing import Any

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("sklearn")

from scipy import sparse  # noqa: E402
from scipy.stats import expon, loguniform, norm, randint, uniform  # noqa: E402
from sklearn.base import BaseEstimator, ClassifierMixin, clone  # noqa: E402
from sklearn.datasets import load_iris, make_classification  # noqa: E402
from sklearn.exceptions import FitFailedWarning  # noqa: E402
from sklearn.linear_model import LogisticRegression, Ridge  # noqa: E402
from sklearn.model_selection import GroupKFold, KFold, RandomizedSearchCV, ShuffleSplit  # noqa: E402
from sklearn.pipeline import Pipeline, make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.svm import SVC  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

import optimist as op  # noqa: E402
from optimist.sklearn import BayesSearchCV, OptimistSearchCV  # noqa: E402
from optimist.sklearn._spaces import plans  # noqa: E402
from optimist.skopt import callbacks  # noqa: E402
from optimist.skopt.space import Categorical, Integer, Real  # noqa: E402

X, Y = load_iris(return_X_y=True)
SVC_SPACE = {"C": loguniform(1e-3, 1e3), "gamma": loguniform(1e-4, 1e1)}


class Hill(ClassifierMixin, BaseEstimator):
    """Scores 1 less the distance to `x = 0.3`, in each fold a little otherwise; fails above `wall`."""

    def __init__(self, x: float = 0.0, wall: float = 9.0, kind: Any = "a") -> None:
        self.x, self.wall, self.kind = x, wall, kind

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "Hill":
        if self.x > self.wall:
            raise ValueError(f"{self.x} is beyond the wall")
        self.classes_, self.weight_ = np.unique(y), sample_weight
        return self

    def predict(self, X: Any) -> Any:
        return np.zeros(len(X), int)

    def score(self, X: Any, y: Any) -> float:
        return 1 - abs(self.x - 0.3) + 0.01 * float(np.mean(y))


def hill(search: type = OptimistSearchCV, **arguments: Any) -> Any:
    given = {"param_distributions": {"x": uniform(0, 1)}, "n_iter": 8, "random_state": 0, "cv": 3}
    return search(Hill(wall=arguments.pop("wall", 9.0)), **{**given, **arguments})


def test_it_finds_better_parameters_than_random_search() -> None:
    ours = [OptimistSearchCV(SVC(), SVC_SPACE, n_iter=20, random_state=seed).fit(X, Y).best_score_ for seed in range(4)]
    theirs = [RandomizedSearchCV(SVC(), SVC_SPACE, n_iter=20, random_state=seed).fit(X, Y).best_score_ for seed in range(4)]
    assert np.mean(ours) >= np.mean(theirs) and min(ours) >= 0.98


def test_the_table_of_results_has_the_columns_of_random_search() -> None:
    ours, theirs = (
        search.fit(X, Y) for search in (hill(return_train_score=True), hill(RandomizedSearchCV, return_train_score=True))
    )
    assert list(ours.cv_results_) == list(theirs.cv_results_)
    assert {key: np.asarray(column).shape for key, column in ours.cv_results_.items()} == {
        key: np.asarray(column).shape for key, column in theirs.cv_results_.items()
    }
    assert ours.best_params_ == ours.cv_results_["params"][ours.best_index_] and abs(ours.best_params_["x"] - 0.3) < 0.05


# What fails


def test_candidates_that_fail_do_not_end_the_search() -> None:
    search = hill(wall=0.5, n_iter=15)
    with pytest.warns(FitFailedWarning, match="candidates failed in all folds; the last:") as said:
        search.fit(X, Y)
    scores, tried = search.cv_results_["mean_test_score"], [params["x"] for params in search.cv_results_["params"]]
    assert len(scores) == 15 and [bool(np.isnan(score)) for score in scores] == [x > 0.5 for x in tried]
    assert any(x > 0.5 for x in tried) and abs(search.best_params_["x"] - 0.3) < 0.05
    assert sum("non-finite" in str(one.message) for one in said) == 1
    assert np.isnan(search.optimizer_results_[0].func_vals).sum() == np.isnan(scores).sum()
    assert search.cv_results_["param_x"].shape == (15,) and (search.cv_results_["rank_test_score"] >= 1).all()


def test_a_failed_candidate_at_the_end_and_at_the_beginning_has_its_row() -> None:
    order = {"kind": ["bad", "good", "worse"]}

    class Picky(Hill):
        def fit(self, X: Any, y: Any) -> Any:
            if self.kind != "good":
                raise ValueError(self.kind)
            return super().fit(X, y)

    for seed in range(3):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            search = OptimistSearchCV(Picky(0.3), order, n_iter=3, random_state=seed, cv=2, error_score=-1.0).fit(X, Y)
        table = dict(
            zip((one["kind"] for one in search.cv_results_["params"]), search.cv_results_["mean_test_score"], strict=True)
        )
        assert set(table) == {"bad", "good", "worse"} and table["bad"] == table["worse"] == -1 and table["good"] > 0.9
        assert search.best_params_ == {"kind": "good"}


def test_a_search_without_any_score_says_why() -> None:
    with pytest.raises(ValueError, match=r"All the 24 fits failed(.|\n)*is beyond the wall"):
        hill(wall=-1.0).fit(X, Y)
    with pytest.raises(ValueError, match="is beyond the wall"):
        hill(wall=-1.0, error_score="raise").fit(X, Y)


def test_other_errors_are_not_taken_for_failures() -> None:
    with pytest.raises(ValueError, match="n_splits=3"):
        hill().fit(X[:2], [0, 1])


# Folds


def test_all_candidates_have_the_same_folds() -> None:
    sizes: list[Any] = []

    def score(estimator: Any, X: Any, y: Any) -> float:
        sizes.append(float(X.sum()))
        return float(-estimator.x)

    for splitter in (ShuffleSplit(3), KFold(3, shuffle=True), ShuffleSplit(3, random_state=np.random.RandomState(0))):
        sizes.clear()
        hill(cv=splitter, scoring=score, refit=False).fit(X, Y)
        assert len(sizes) == 24 and sizes == sizes[:3] * 8 and len(set(sizes)) == 3


# Spaces


def test_spaces_are_written_in_many_ways() -> None:
    known = {
        "a": [0.1, 1, 10],
        "b": ["x", None],
        "c": (1e-5, 1.0, "log-uniform"),
        "d": (1, 9),
        "e": op.Float(0, 1, step=0.25),
        "f": Categorical(["p", "q"]),
        "g": Integer(1, 3),
        "h": expon(scale=10),
        "i": randint(2, 5),
        "j": np.logspace(-3, 3, 7),
        "k": op.Bool(),
        "l": [True, False],
        "m": norm(),
        "n": Real(1, 2),
        "o": (True, False),
    }
    (plan,) = plans(known, 10, True, 0)
    assert plan.space is not None
    kinds = {one.name: type(one).__name__ for one in plan.space.dimensions}
    assert [name for name, kind in kinds.items() if kind == "Ordered"] == ["a", "e", "j"]
    assert [name for name, kind in kinds.items() if kind == "Categorical"] == ["b", "f", "k", "l", "o"]
    assert kinds["h"] == kinds["m"] == "Quantile" and kinds["i"] == kinds["g"] == kinds["d"] == "Integer"
    for point in plan.space.rvs(50, random_state=0):
        params = plan.params(point)
        assert set(params) == set(known) and params["e"] in (0, 0.25, 0.5, 0.75, 1) and params["i"] in (2, 3, 4)
        assert 0 < params["h"] < 70 and abs(params["m"]) < 3.1 and params["j"] in known["j"] and params["a"] in known["a"]
        encoded = plan.space.to_engine(point)
        assert plan.space.to_engine(plan.space.from_engine(encoded)) == pytest.approx(encoded)
    assert known["g"].name is None  # the user's own


def test_draws_are_enough_of_a_distribution() -> None:
    class Drawing:
        def rvs(self, random_state: Any = None) -> float:
            return float(random_state.random_sample() ** 2)

    search = hill(param_distributions={"x": Drawing()}, n_iter=10).fit(X, Y)
    assert abs(search.best_params_["x"] - 0.3) < 0.1


def test_wrong_spaces_are_named() -> None:
    for wrong, words in [
        ({"x": "abc"}, "parameter `x`: cannot search 'abc'"),
        ({"x": []}, "parameter `x`: the list of values is empty"),
        ({"x": 3}, "parameter `x`"),
        ([3], "a dictionary of parameters by name"),
        ([({"x": [1]}, -1)], "must be an integer of 0 or more"),
    ]:
        with pytest.raises((TypeError, ValueError), match=words):
            hill(param_distributions=wrong).fit(X, Y)
    with pytest.raises(ValueError, match="param_distributions or search_spaces, not both"):
        OptimistSearchCV(Hill()).fit(X, Y)


def test_a_list_of_dictionaries_is_one_search_that_chooses() -> None:
    spaces = [{"kernel": ["rbf"], "gamma": loguniform(1e-4, 1e1)}, {"kernel": ["linear"], "C": loguniform(1e-2, 1e2)}]
    search = OptimistSearchCV(SVC(), spaces, n_iter=12, random_state=0).fit(X, Y)
    kernels = [params["kernel"] for params in search.cv_results_["params"]]
    assert len(kernels) == 12 and set(kernels) == {"rbf", "linear"}
    assert all(
        ("gamma" in params) == (params["kernel"] == "rbf") == ("C" not in params) for params in search.cv_results_["params"]
    )
    assert search.cv_results_["param_C"].mask.sum() == kernels.count("rbf")


def test_search_spaces_are_searches_of_their_own() -> None:
    spaces = [({"x": (0.0, 1.0)}, 4), ({"x": (0.0, 0.4), "kind": ["a", "b"]}, 6), {"kind": ["a", "b"]}, ({"x": [1]}, 0)]
    search = OptimistSearchCV(Hill(), search_spaces=spaces, n_iter=2, cv=2, random_state=0)
    assert search.total_iterations == 12
    search.fit(X, Y)
    assert (
        [len(result.x_iters) for result in search.optimizer_results_] == [4, 6, 2] == [len(one.Xi) for one in search.optimizers_]
    )
    assert len(search.cv_results_["params"]) == 12
    assert -min(result.fun for result in search.optimizer_results_) == search.best_score_
    assert BayesSearchCV(Hill(), {"x": (0.0, 1.0), "kind": ["a", "b"]}, n_iter=7).total_iterations == 7
    assert OptimistSearchCV(Hill(), search_spaces={"x": (0.0, 1.0)}).total_iterations == 50
    assert OptimistSearchCV(Hill(), {"x": (0.0, 1.0)}).total_iterations == 10


def test_conditions_and_constraints_are_kept() -> None:
    space = op.Space({"x": op.Float(0, 1, when={"kind": "b"}), "kind": ["a", "b"]})
    tried = hill(param_distributions=space, n_iter=12).fit(X, Y).cv_results_["params"]
    assert {("x" in params) == (params["kind"] == "b") for params in tried} == {True}
    linear = op.Space({"x": op.Float(0, 1), "wall": op.Float(0, 1)}, constraints="x + wall <= 1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tried = hill(param_distributions=linear, n_iter=10).fit(X, Y).cv_results_["params"]
    assert all(params["x"] + params["wall"] <= 1 + 1e-9 for params in tried)


def test_a_small_space_is_tried_out() -> None:
    search = hill(param_distributions={"x": [0.1, 0.2, 0.3], "kind": ["a", "b"]}, n_iter=6).fit(X, Y)
    assert len({(params["x"], params["kind"]) for params in search.cv_results_["params"]}) == 6
    smaller = hill(param_distributions={"x": [0.1, 0.2], "kind": ["a", "b"]}, n_iter=9, n_points=3)
    assert smaller.total_iterations == 4 and len(smaller.fit(X, Y).cv_results_["params"]) == 4
    assert [list(params.values()) for params in smaller.cv_results_["params"]] == [["a", 0.1], ["a", 0.2], ["b", 0.1], ["b", 0.2]]


def test_estimators_are_choices_of_a_pipeline() -> None:
    pipeline = Pipeline([("scale", StandardScaler()), ("model", SVC())])
    spaces = [
        {"model": [SVC()], "model__C": (1e-2, 1e2, "log-uniform")},
        {"model": [LogisticRegression()], "scale": ["passthrough"]},
    ]
    search = OptimistSearchCV(pipeline, search_spaces=[(spaces[0], 4), (spaces[1], 1)], random_state=0).fit(X, Y)
    assert len(search.cv_results_["params"]) == 5 and search.score(X, Y) > 0.9


# What scikit-learn hands over


def test_data_of_any_kind_pass_through() -> None:
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    names = ["a", "b", "c", "d"]
    for data in (pandas.DataFrame(X, columns=names), polars.DataFrame(X, schema=names)):
        search = OptimistSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": loguniform(0.1, 10)}, n_iter=3).fit(data, Y)
        assert list(search.feature_names_in_) == names and len(search.predict(data)) == len(Y)
    for matrix in (sparse.csr_matrix(X), X.tolist()):
        assert OptimistSearchCV(SVC(), {"C": loguniform(0.1, 10)}, n_iter=3).fit(matrix, Y).best_score_ > 0.9


def test_several_metrics_follow_refit() -> None:
    scoring = {"low": lambda estimator, X, y: -abs(estimator.x - 0.1), "high": lambda estimator, X, y: -abs(estimator.x - 0.9)}
    for name, wanted in (("low", 0.1), ("high", 0.9)):
        assert abs(hill(scoring=scoring, refit=name, n_iter=12).fit(X, Y).best_params_["x"] - wanted) < 0.05
    with pytest.warns(UserWarning, match="follows `low`, the first of 2 metrics; name another one with refit="):
        search = hill(scoring=scoring, refit=False).fit(X, Y)
    assert {"mean_test_low", "mean_test_high"} <= set(search.cv_results_)

    def both(estimator: Any, X: Any, y: Any) -> dict[str, float]:
        return {name: score(estimator, X, y) for name, score in scoring.items()}

    assert abs(hill(scoring=both, refit="high", n_iter=12).fit(X, Y).best_params_["x"] - 0.9) < 0.05
    with pytest.raises(ValueError, match="refit"):
        hill(scoring=both, refit="middle").fit(X, Y)
    picked = hill(refit=lambda results: 2).fit(X, Y)
    assert picked.best_index_ == 2


def test_groups_and_arguments_of_fit_arrive() -> None:
    groups, weight = np.arange(len(Y)) % 5, np.linspace(1, 2, len(Y))
    search = hill(cv=GroupKFold(5)).fit(X, Y, groups=groups, sample_weight=weight)
    assert search.n_splits_ == 5 and (search.best_estimator_.weight_ == weight).all()
    constructed = hill(fit_params={"sample_weight": weight}).fit(X, Y)
    assert (constructed.best_estimator_.weight_ == weight).all()


def test_metadata_are_routed() -> None:
    import sklearn

    weight = np.linspace(1, 2, len(Y))
    with sklearn.config_context(enable_metadata_routing=True):
        estimator = Hill().set_fit_request(sample_weight=True)
        splitter = GroupKFold(3).set_split_request(groups=True)
        search = OptimistSearchCV(estimator, {"x": uniform(0, 1)}, n_iter=3, cv=splitter)
        search.fit(X, Y, sample_weight=weight, groups=np.arange(len(Y)) % 3)
        assert (search.best_estimator_.weight_ == weight).all() and search.get_metadata_routing()


def test_the_same_seed_gives_the_same_candidates_with_any_number_of_processes() -> None:
    one, two = (OptimistSearchCV(SVC(), SVC_SPACE, n_iter=9, n_points=3, n_jobs=n, random_state=4).fit(X, Y) for n in (1, 2))
    assert one.cv_results_["params"] == two.cv_results_["params"] and len({str(one) for one in two.cv_results_["params"]}) == 9
    again = clone(one).fit(X, Y)
    assert again.cv_results_["params"] == one.cv_results_["params"] and not hasattr(again, "_now")
    copied = pickle.loads(pickle.dumps(one))
    assert (copied.predict(X) == one.predict(X)).all() and copied.optimizers_[0].ask() == one.optimizers_[0].ask()


def test_callbacks_of_the_search_can_end_it() -> None:
    seen: list[int] = []
    search = hill(n_iter=20).fit(
        X, Y, callback=[lambda result: seen.append(len(result.x_iters)), callbacks.ThresholdStopper(-0.8)]
    )
    assert 1 <= len(seen) < 20 and search.best_score_ >= 0.8 and seen == list(range(1, len(seen) + 1))
    with pytest.raises(ValueError, match="list of functions"):
        hill().fit(X, Y, callback="often")


def test_callbacks_of_scikit_learn_see_one_task() -> None:
    support = pytest.importorskip("sklearn.callback")
    assert support is not None

    class Counting:
        def __init__(self) -> None:
            self.begun: list[str] = []

        def setup(self, estimator: Any, context: Any) -> None:
            pass

        def teardown(self, estimator: Any, context: Any) -> None:
            pass

        def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
            self.begun.append(context.task_name)

        def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
            return False

    callback = Counting()
    hill(n_iter=4).set_callbacks(callback).fit(X, Y)
    assert callback.begun.count("search") == 1 and callback.begun.count("candidate-split-evaluation") == 12


def test_a_bar_shows_how_it_goes(capsys: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        hill(n_iter=12, wall=0.5, progress=True).fit(X, Y)
    last = capsys.readouterr().err.split("\n")[-3]
    assert "12/12  best 1.0" in last and "failed" in last
    hill().fit(X, Y)
    assert capsys.readouterr().err == ""


def test_bayes_search_behaves_as_theirs() -> None:
    search = BayesSearchCV(SVC(), {"C": (1e-3, 1e3, "log-uniform"), "kernel": ["linear", "rbf"]}, n_iter=6, random_state=0, cv=3)
    search.fit(X, Y, callback=lambda result: None)
    result = search.optimizer_results_[0]
    assert len(result.x_iters) == 6 and result.space.names == ["C", "kernel"] and -result.fun == search.best_score_
    with pytest.raises(ValueError, match="wall"):
        BayesSearchCV(Hill(wall=-1), {"x": (0.0, 1.0)}, n_iter=3).fit(X, Y)
    assert clone(search).get_params()["search_spaces"] == search.search_spaces


def test_plots_of_a_search_show_its_scores() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    from optimist.skopt import plots

    search = OptimistSearchCV(
        SVC(), {**SVC_SPACE, "tol": [1e-4, 1e-3, 1e-2], "shrinking": [True, False]}, n_iter=8, random_state=0
    )
    search.fit(X, Y)
    axes = plots.plot_objective(search.optimizer_results_[0], n_points=5, n_samples=10)
    assert axes.shape == (4, 4) and axes[3, 0].get_ylabel() == "tol"
    assert plots.plot_evaluations(search.optimizer_results_[0]).shape == (4, 4)


# scikit-learn's own checks

FAILS = {"check_supervised_y_2d": "Ridge takes a column as y for what it is, and so does RandomizedSearchCV around it"}


def checked() -> list[Any]:
    return [
        OptimistSearchCV(LogisticRegression(), {"C": loguniform(1e-2, 1e2)}, n_iter=2, cv=2, random_state=0, error_score="raise"),
        OptimistSearchCV(Ridge(), {"alpha": loguniform(1e-2, 1e2)}, n_iter=2, cv=2, random_state=0, error_score="raise"),
    ]


def expected(estimator: Any) -> dict[str, str]:
    return FAILS if isinstance(estimator.estimator, Ridge) else {}


@parametrize_with_checks(checked(), expected_failed_checks=expected, xfail_strict=True)
def test_checks_of_estimators_pass(estimator: Any, check: Any) -> None:
    check(estimator)


def test_more_data_than_iris() -> None:
    data, target = make_classification(300, 8, random_state=0)
    assert OptimistSearchCV(SVC(), SVC_SPACE, n_iter=5, n_points=2, random_state=0).fit(data, target).best_score_ > 0.7


BLOCKS = re.findall(r"```python\n(.*?)```", (Path(__file__).parents[2] / "docs/guides/scikit-learn.md").read_text(), re.DOTALL)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_the_guide_runs(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(BLOCKS[number], f"block {number} of the guide", "exec"), {"__name__": "guide"})
    assert "{" in capsys.readouterr().out


def test_the_pages_before_and_after_differ_in_the_import_alone() -> None:
    before, after = (block.splitlines() for block in BLOCKS[:2])
    changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    assert [new for _, new in changed] == [
        "from optimist.sklearn import OptimistSearchCV",
        "search = OptimistSearchCV(pipeline, space, n_iter=15, random_state=0).fit(X, y)",
    ]
