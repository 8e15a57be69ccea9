"""Roasts make-believe coffee: the quickstart of the README, in Python."""

import random

import optimist as op

SPACE = {
    "charge_temperature": op.Float(170, 230),
    "airflow": op.Float(0, 10),
    "development_time": op.Int(60, 240),
    "drum": ["steel", "cast-iron", "perforated"],
    "soak_time": op.Int(0, 90, when={"drum": "cast-iron"}),
}


def roast(
    charge_temperature: float, airflow: float, development_time: int, drum: str, soak_time: int | None = None
) -> dict[str, object]:
    """The taste of a roast, from 0 to 100; tasters disagree by half a point."""
    score = 88.0 - 0.02 * (charge_temperature - 198) ** 2 - 0.6 * (airflow - 4) ** 2 - 0.002 * (development_time - 135) ** 2
    if soak_time is not None:
        score += 2.0 - 0.002 * (soak_time - 45) ** 2
    score -= 3.0 * (drum == "perforated")
    return {"value": score + random.gauss(0, 0.5), "noise_std": 0.5}


if __name__ == "__main__":
    random.seed(0)
    best = op.maximize(roast, SPACE, trials=40, seed=0)
    print(f"{best.mean:.2f} ± {best.std or 0:.2f} expected with {best.params}")
    for name, share in best.study.importance().items():
        print(f"{name:20} explains {share:.0%}")
