"""A crane that brings a swinging load to rest under a controller. Standard library only.

A server: one line of JSON in, one line of JSON out, for each trial (docs/study-file.md).
"""

import json
import math
import sys
import time


def simulate(gain, damping, preview):
    angle, speed, cart, effort, dt = 0.5, 0.0, 0.0, 0.0, 0.01
    swing = 0.0
    for step in range(2000):
        push = gain * (angle + preview * speed) + damping * speed - 0.2 * cart
        push = max(-20.0, min(20.0, push))
        speed += (-9.81 * math.sin(angle) - push * math.cos(angle)) * dt
        angle += speed * dt
        cart += push * dt * dt
        effort += push * push * dt
        if step > 1000:
            swing += angle * angle * dt
    return swing + 1e-3 * effort


for line in sys.stdin:
    request = json.loads(line)
    time.sleep(0.1)  # a real simulator takes hours
    print(json.dumps({"value": simulate(**request["params"])}), flush=True)
