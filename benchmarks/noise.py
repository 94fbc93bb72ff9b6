"""Exact Gaussian noise on one core, randomness included, beside numpy's floats and OpenDP."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.record import Figure, interleaved, write
from tacit.noise.entropy import SystemEntropy
from tacit.noise.gaussian import rounded_gaussian

DRAWS = 10**6
OPENDP_DRAWS = 2000


def opendp_seconds_per_draw() -> float | None:
    """Seconds of OpenDP's discrete Gaussian, or None where it is not installed."""
    try:
        import opendp.prelude as dp
    except ImportError:
        return None
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
    measurement = dp.m.make_gaussian(*space, scale=float(2**20))
    zeros = [0] * OPENDP_DRAWS
    measurement(zeros)
    start = time.perf_counter()
    measurement(zeros)
    return (time.perf_counter() - start) / OPENDP_DRAWS


def run() -> None:
    """Measure and record."""
    entropy = SystemEntropy()
    generator = np.random.default_rng()
    seconds = interleaved(
        {"exact": lambda: rounded_gaussian(DRAWS, 40, entropy), "numpy": lambda: generator.standard_normal(DRAWS)}
    )
    rate = DRAWS / seconds["exact"]
    slower = seconds["exact"] / seconds["numpy"]
    figures = [
        Figure("exact draws", rate, "per second", "at least 4e6", rate >= 4e6),
        Figure("time over numpy's float sampler", slower, "×", "stated", reached=True),
    ]
    rival = opendp_seconds_per_draw()
    if rival is not None:
        faster = rival / (seconds["exact"] / DRAWS)
        figures.append(Figure("OpenDP's time over ours", faster, "×", "stated", reached=True))
    write("noise", figures, {"seconds of 1e6": seconds, "opendp seconds per draw": rival})
