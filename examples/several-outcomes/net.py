"""Stands in for a training that takes hours: how accurate and how quick a network is, and how much memory it takes."""

import json
import math
import sys

params = json.load(sys.stdin)
depth, width, half = params["depth"], params["width"], params["half_precision"]

weights = depth * width**2 / 1e6                       # millions
memory_gb = (0.5 if half else 1.0) * (0.6 + 1.5 * weights)
if memory_gb > 12.0:
    # The last line counts, even if the command then fails: the memory is known, and teaches.
    print(json.dumps({"values": {"memory_gb": memory_gb}}))
    sys.exit("out of memory")

accuracy = 0.97 - 0.35 * math.exp(-0.9 * math.log1p(40 * weights)) - 0.004 * abs(depth - 6) - 0.01 * half
latency_ms = (0.7 if half else 1.0) * (1.0 + 0.8 * depth + 6.0 * weights)
print(json.dumps({"values": {"accuracy": accuracy, "latency_ms": latency_ms, "memory_gb": memory_gb}}))
