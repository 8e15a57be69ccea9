"""Trains a logistic regression and prints its accuracy on rows it has not seen. Standard library only.

Parameters come as one line of JSON on standard input; the last line printed is the answer.
"""

import json
import math
import random
import sys

params = json.load(sys.stdin)

# Two noisy clouds in ten dimensions; the same for every trial.
data = random.Random(0)
true_weights = [data.gauss(0, 1) for _ in range(10)]


def row():
    x = [data.gauss(0, 1) for _ in range(10)]
    margin = sum(w * v for w, v in zip(true_weights, x)) + data.gauss(0, 1)
    return x, 1.0 if margin > 0 else 0.0


train, held_out = [row() for _ in range(400)], [row() for _ in range(400)]

weights, velocity = [0.0] * 10, [0.0] * 10
momentum = params.get("momentum", 0.0)  # not there unless the optimizer is "momentum"
for epoch in range(params["epochs"]):
    loss = 0.0
    for x, y in train:
        score = sum(w * v for w, v in zip(weights, x))
        p = 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))
        loss -= math.log(p if y else 1 - p)
        for i in range(10):
            velocity[i] = momentum * velocity[i] - params["lr"] * ((p - y) * x[i] + params["l2"] * weights[i])
            weights[i] += velocity[i]
    print(f"epoch {epoch}: loss {loss / len(train):.4f}")
    if not all(abs(w) < 1e6 for w in weights):
        print(json.dumps({"error": "diverged"}))  # a failed trial: the optimizer learns to stay away
        sys.exit()

right = sum((sum(w * v for w, v in zip(weights, x)) > 0) == (y == 1) for x, y in held_out)
print(json.dumps({"value": right / len(held_out), "metrics": {"train_loss": loss / len(train)}}))
