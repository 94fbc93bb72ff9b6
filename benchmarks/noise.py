"""Exact noise and selections on one core, randomness included, beside numpy's floats and OpenDP."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.record import Figure, interleaved, write
from tacit.noise.entropy import SystemEntropy
from tacit.noise.gamma_direction import gamma_directions
from tacit.noise.gaussian import rounded_gaussian
from tacit.noise.laplace import discrete_laplace
from tacit.noise.selection import exponential_choice, permute_and_flip

DRAWS = 10**6
OPENDP_DRAWS = 2000
CANDIDATES = 10**5


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
    scores = generator.integers(0, 1000, CANDIDATES)
    seconds = interleaved(
        {
            "exact": lambda: rounded_gaussian(DRAWS, 40, entropy),
            "numpy": lambda: generator.standard_normal(DRAWS),
            "laplace": lambda: discrete_laplace(DRAWS, 2**40, entropy),
            "gamma": lambda: gamma_directions(DRAWS // 10, 10, 1.0, entropy),
            "exponential": lambda: exponential_choice(scores, 1, entropy),
            "permute-and-flip": lambda: permute_and_flip(scores, 1, entropy),
        }
    )
    rate = DRAWS / seconds["exact"]
    slower = seconds["exact"] / seconds["numpy"]
    figures = [
        Figure("exact draws", rate, "per second", "at least 4e6", rate >= 4e6),
        Figure("time over numpy's float sampler", slower, "×", "stated", reached=True),
        Figure("discrete Laplace draws", DRAWS / seconds["laplace"], "per second", "stated", reached=True),
        Figure("coordinates of Gamma norm", DRAWS / seconds["gamma"], "per second", "stated", reached=True),
    ]
    for name in ("exponential", "permute-and-flip"):
        taken = seconds[name]
        figures.append(Figure(f"{name} choice of 10^5", taken, "s", "at most 0.2", taken <= 0.2))
    rival = opendp_seconds_per_draw()
    if rival is not None:
        faster = rival / (seconds["exact"] / DRAWS)
        figures.append(Figure("OpenDP's time over ours", faster, "×", "stated", reached=True))
    write("noise", figures, {"seconds": seconds, "opendp seconds per draw": rival})
