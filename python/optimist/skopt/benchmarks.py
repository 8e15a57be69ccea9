"""Test functions, as in `skopt.benchmarks`; each takes a list."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["bench1", "bench2", "bench3", "bench4", "bench5", "branin", "hart6"]

_ALPHA = np.array([1.0, 1.2, 3.0, 3.2])
_P = 1e-4 * np.array(
    [[1312, 1696, 5569, 124, 8283, 5886], [2329, 4135, 8307, 3736, 1004, 9991],
     [2348, 1451, 3522, 2883, 3047, 6650], [4047, 8828, 8732, 5743, 1091, 381]]
)  # fmt: skip
_A = np.array([[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]])


def bench1(x: Sequence[float]) -> float:
    """A parabola with its minimum 0 at 0."""
    return x[0] ** 2


def bench2(x: Sequence[float]) -> float:
    """Two parabolas: the minimum is -5 at 5, a local one 0 at 0."""
    return x[0] ** 2 if x[0] < 0 else (x[0] - 5) ** 2 - 5


def bench3(x: Sequence[float]) -> float:
    """A wave under a bell, with its minimum near -0.9 at -0.3."""
    return float(np.sin(5 * x[0]) * (1 - np.tanh(x[0] ** 2)))


def bench4(x: Sequence[str]) -> float:
    """A parabola of a number that is given as a string."""
    return float(x[0]) ** 2


def bench5(x: Sequence[float | str]) -> float:
    """A parabola of two numbers, the first of which is given as a string."""
    return float(x[0]) ** 2 + float(x[1]) ** 2


def branin(
    x: Sequence[float],
    a: float = 1,
    b: float = 5.1 / (4 * np.pi**2),
    c: float = 5 / np.pi,
    r: float = 6,
    s: float = 10,
    t: float = 1 / (8 * np.pi),
) -> float:
    """Branin on [-5, 10] and [0, 15]: three minima of 0.397887."""
    return float(a * (x[1] - b * x[0] ** 2 + c * x[0] - r) ** 2 + s * (1 - t) * np.cos(x[0]) + s)


def hart6(x: Sequence[float]) -> float:
    """Hartmann's function of six numbers from 0 to 1, with its minimum -3.32237."""
    return float(-np.sum(_ALPHA * np.exp(-np.sum(_A * (np.asarray(x) - _P) ** 2, axis=1))))
