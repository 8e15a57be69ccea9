"""The pictures of how-go-ucb-works.md: `python docs/explanations/pictures.py [FOLDER]`. Needs matplotlib and numpy."""

import math
import sys
from pathlib import Path

import matplotlib
import numpy as np

import optimist as op

matplotlib.use("svg")
import matplotlib.pyplot as plt

TEAL, ORANGE, GREY, DARK = "#0f766e", "#d97706", "#9ca3af", "#374151"


def draw_ball() -> plt.Figure:
    """Lines that agree with three noisy values: in the space of weights, and as functions."""
    x, y, ridge, radius = np.array([0.15, 0.35, 0.55]), np.array([0.42, 0.55, 0.52]), 0.02, 0.16
    phi = np.column_stack([np.ones_like(x), x])  # (n_trials, d_w)
    sigma_t = ridge * np.eye(2) + phi.T @ phi  # eq. 3
    w_hat = np.linalg.solve(sigma_t, phi.T @ y)  # eq. 5, linear in w
    angles = np.linspace(0, 2 * math.pi, 361)
    circle = radius * np.array([np.cos(angles), np.sin(angles)])
    edge = w_hat[:, None] + np.linalg.solve(np.linalg.cholesky(sigma_t).T, circle)  # the edge of Ball_t, eq. 6
    grid = np.linspace(0, 1, 201)
    features = np.column_stack([np.ones_like(grid), grid])
    highest = (features @ edge).max(axis=1)
    best = int(highest.argmax())  # line 5: the best x under the most optimistic weights
    optimistic = edge[:, (features[best] @ edge).argmax()]

    figure, (weights, functions) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    weights.fill(*edge, color=TEAL, alpha=0.15)
    weights.plot(*edge, color=TEAL, lw=1)
    weights.plot(*w_hat, "o", color=DARK)
    weights.annotate(r"$\hat w_t$: best fit", w_hat, xytext=(8, 6), textcoords="offset points", color=DARK)
    weights.plot(*optimistic, "*", color=ORANGE, ms=13)
    weights.annotate("most optimistic", optimistic, xytext=(12, -4), textcoords="offset points", color=ORANGE)
    weights.set(xlabel="weight 1: height at x = 0", ylabel="weight 2: slope", title="The ball: weights that agree with the data")
    for w in edge[:, ::12].T:
        functions.plot(grid, features @ w, color=TEAL, alpha=0.25, lw=0.8)
    functions.plot(grid, features @ w_hat, color=DARK, lw=1.5, label="best fit")
    functions.plot(grid, features @ optimistic, color=ORANGE, lw=2, label="most optimistic")
    functions.plot(x, y, "o", color=DARK, label="measured")
    functions.axvline(grid[best], color=ORANGE, ls=":", lw=1)
    functions.plot(grid[best], highest[best], "*", color=ORANGE, ms=13)
    functions.set(xlabel="x", ylabel="f(x)", title="The same weights as functions")
    functions.legend(frameon=False, loc="lower right")
    return figure


def objective(x: float) -> float:
    """Two hills, the right one higher."""
    return math.exp(-(((x - 0.25) / 0.13) ** 2)) + 1.4 * math.exp(-(((x - 0.78) / 0.1) ** 2))


def draw_rounds() -> plt.Figure:
    """One study of one parameter, after 4, 6, 8 and 12 trials."""
    study = op.Study("hills", {"x": op.Float(0, 1)}, direction="maximize", trials=14, seed=3)
    grid = np.linspace(0, 1, 161)
    figure, panels = plt.subplots(1, 4, figsize=(12, 3), layout="constrained", sharey=True)
    for panel, n_trials in zip(panels, (4, 6, 8, 12), strict=True):
        while len(study.trials) < n_trials:
            trial = study.ask()
            study.tell(trial, objective(trial["x"]), noise_std=0.0)
        predicted = study.predict([{"x": float(x)} for x in grid])
        mean, std = np.array(predicted).T
        panel.fill_between(grid, mean - 2 * std, mean + 2 * std, color=TEAL, alpha=0.15, lw=0)
        panel.plot(grid, mean, color=TEAL, lw=1.5, label="model, ± 2 std")
        panel.plot(grid, [objective(x) for x in grid], color=GREY, ls="--", lw=1, label="truth")
        panel.plot([t.params["x"] for t in study.trials], [t.value for t in study.trials], "o", color=DARK, ms=4, label="trials")
        following = study.ask()
        panel.axvline(following["x"], color=ORANGE, ls=":", lw=1.5, label="next")
        study.cancel(following)
        panel.set(title=f"{n_trials} trials", xlabel="x")
    panels[0].legend(frameon=False, fontsize=8, loc="upper left")
    return figure


def main(folder: Path) -> None:
    """Writes both as SVG, the same to the byte each time."""
    plt.rcParams.update({"svg.hashsalt": "optimist", "axes.spines.top": False, "axes.spines.right": False})
    for name, draw in {"ball": draw_ball, "rounds": draw_rounds}.items():
        draw().savefig(folder / f"{name}.svg", metadata={"Date": None})


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
