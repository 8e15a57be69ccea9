"""A make-believe coffee roaster, for quickstart.toml: scores a roast from 0 to 100, with noise.

One line of JSON in, one line of JSON out, for each trial; see docs/study-file.md. The best expected
score is 90, in the cast-iron drum at 198 °C with airflow 4, 135 s of development and 45 s of soak.
"""

import json
import math
import random
import sys
import time


def expected_score(params):
    temperature = (params["charge_temperature"] - 198) / 18
    airflow = math.log(params["airflow"] / 4) / math.log(4)
    development = (params["development_time"] - 135) / 60
    loss = 9 * temperature**2 + 7 * airflow**2 + 8 * development**2
    loss += 5 * temperature * development  # a hotter drum needs less time
    loss += {"steel": 6, "perforated": 9, "cast-iron": 0}[params["drum"]]
    if "soak_time" in params:  # only there when the drum is cast iron
        loss += 4 * ((params["soak_time"] - 45) / 30) ** 2
    return 90 * math.exp(-loss / 60)


def roast(trial, params):
    if params["charge_temperature"] > 220 and params["airflow"] < 1:
        return {"error": "the beans caught fire"}
    time.sleep(0.03)  # a real roast takes a little longer
    panel = random.Random(trial)  # four tasters who never quite agree
    scores = [expected_score(params) + panel.gauss(0, 1) for _ in range(4)]
    return {"value": sum(scores) / 4, "metrics": {"lowest": min(scores), "highest": max(scores)}}


for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps(roast(request["trial"], request["params"])), flush=True)
