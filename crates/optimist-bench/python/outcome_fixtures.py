"""What pymoo says of the problems with several outcomes that it has, at a few points: JSON for `src/several/`.

Each entry has a problem, a point on its natural scale, the numbers of outcomes and their values: what is minimised, then what is to
be at most 0. Constraints that pymoo scales are scaled back; those that we tell as one are so here.
"""

import json

import numpy as np
from pymoo.problems import get_problem
from pymoo.problems.multi import OSY, Carside, Kursawe, WeldedBeam
from pymoo.problems.single.g import G1, G7
from pymoo.problems.single.pressure_vessel import PressureVessel

N = 5
RNG = np.random.default_rng(1)


def worst(g, *groups):
    return np.column_stack([g[:, list(group)].max(axis=1) for group in groups])


def entries(name, problem, outcomes=None, constraints=None, low=None, high=None, scale=1.0):
    low = problem.xl if low is None else np.array(low, dtype=float)
    high = problem.xu if high is None else np.array(high, dtype=float)
    x = low + (high - low) * RNG.random((N, len(low)))
    found = problem.evaluate(x / scale, return_as_dictionary=True)
    values = found["F"]
    if constraints is not None:
        values = np.column_stack([values, constraints(found["G"])])
    for point, row in zip(x, values):
        told = range(len(row)) if outcomes is None else outcomes
        yield {"problem": name, "x": point.tolist(), "outcomes": list(told), "values": [row[k] for k in told]}


def main():
    made = []
    for name in ["zdt1", "zdt2", "zdt3"]:
        made += entries(name, get_problem(name, n_var=8))
    for name in ["dtlz2", "dtlz7"]:
        made += entries(name, get_problem(name, n_var=6, n_obj=3))
    made += entries("kursawe", Kursawe())
    limits = np.array([1.0, 0.32, 0.32, 0.32, 32, 32, 32, 4.0, 9.9, 15.7])
    made += entries("car-side-impact", Carside(), constraints=lambda g: (g * limits).max(axis=1))
    made += entries("osyczka", OSY(), constraints=lambda g: g * np.array([2, 6, 2, 2, 4, 4]))
    made += entries("g01-measured", G1(), constraints=lambda g: worst(g, range(3), range(3, 6), range(6, 9)))
    made += entries("g07", G7(), constraints=lambda g: worst(g, range(3), (3, 4), (5, 6), (7,)))
    made += entries(
        "pressure-vessel",
        PressureVessel(),
        constraints=lambda g: g[:, :3] * np.array([3, 3, 1296000]),
        low=[0.0625, 0.0625, 10, 10],
        high=[6, 6, 200, 240],
        scale=np.array([0.0625, 0.0625, 1, 1]),
    )
    made += welded_beam()
    print(json.dumps(made, indent=None).replace("}, {", "},\n{"))


def welded_beam():
    """The cost, the bending stress and the weld: pymoo's shear stress and buckling load are those of another source."""
    for entry in entries("welded-beam", WeldedBeam(), constraints=lambda g: g):
        cost, _, _, bending, weld, _ = entry["values"]
        entry["outcomes"], entry["values"] = [0, 2, 3], [cost, bending * 30000, weld * 4.875]
        yield entry


if __name__ == "__main__":
    main()
