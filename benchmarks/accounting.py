"""Accounting: how fast noise is calibrated, and how tight mixes are beside dp-accounting."""

from __future__ import annotations

import importlib.util
import itertools
import statistics
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import numpy as np

from benchmarks.record import Figure, write
from tacit.accounting import best, compose
from tacit.accounting.calibration import calibrate
from tacit.privacy import Budget
from tacit.privacy.event import Gaussian, PoissonSampled, Repeated

BUDGET = Budget(epsilon=1.0, delta=1e-5)
SETTINGS = ((0.01, 1000, 1.41463), (0.001, 10**4, 0.74068), (0.05, 400, None))
MIXES = 500
COUNTER = itertools.count()


def seconds_of(function: Callable[[], object], repeats: int) -> float:
    """Median seconds of a call, after a first one."""
    function()
    found = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        found.append(time.perf_counter() - start)
    return statistics.median(found)


def mixes() -> ModuleType:
    """The random mixes of the tests, so that there is one generator of them."""
    path = Path(__file__).parents[1] / "tests" / "conformance" / "test_mixes.py"
    spec = importlib.util.spec_from_file_location("mixes", path)
    if spec is None or spec.loader is None:
        raise RuntimeError("the tests are not here")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compare_mixes(count: int) -> tuple[int, int, float]:
    """Mixes below the optimistic oracle, mixes too far above the pessimistic, largest excess."""
    module = mixes()
    below, above, worst = 0, 0, 0.0
    for seed in range(count):
        generator = np.random.default_rng(seed)
        drawn = [
            (*module.draw(generator), int(generator.integers(1, 10))) for _ in range(int(generator.integers(2, 5)))
        ]
        bounds = []
        for pessimistic in (False, True):
            laws = [build(pessimistic).self_compose(times) for _, build, times in drawn]
            total = laws[0]
            for law in laws[1:]:
                total = total.compose(law)
            bounds.append(total.get_epsilon_for_delta(module.DELTA))
        events = [Repeated(event, times) for event, _, times in drawn]
        found = best(events, delta=module.DELTA, relation="add-remove").epsilon
        below += found < bounds[0]
        above += found > max(1.01 * bounds[1], bounds[1] + 1e-4)
        worst = max(worst, found / bounds[1] - 1)
        print(f"\r  mix {seed + 1} of {count}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return below, above, worst


def run() -> None:
    """Measure and record."""
    figures = []
    for rate, steps, known in SETTINGS:

        def calibrated(rate: float = rate, steps: int = steps) -> float:
            # A budget of its own each time, so that no price is remembered.
            run = calibrate(
                Budget(epsilon=1.0 + 1e-9 * next(COUNTER), delta=1e-5),
                relation="add-remove",
                find="noise",
                steps=steps,
                sample_rate=rate,
                sampling="poisson",
            )
            return float(run.noise)

        seconds = seconds_of(calibrated, 5)
        name = f"q = {rate:g}, T = {steps}"
        figures.append(Figure(f"calibration, {name}", seconds, "s", "under 0.5", seconds < 0.5))
        if known is not None:
            gap = 100 * (calibrated() / known - 1)
            close = abs(gap) <= 0.5
            figures.append(Figure(f"noise over dp-accounting's, {name}", gap, "%", "±0.5", close))
    full = seconds_of(lambda: calibrate(BUDGET, relation="add-remove", find="noise", steps=100), 20)
    figures.append(Figure("calibration, full batch", 1e3 * full, "ms", "under 1", full < 1e-3))
    rng = np.random.default_rng(0)
    events = [
        PoissonSampled(
            Gaussian(1, Fraction(int(rng.integers(100, 900)), 100)), Fraction(int(rng.integers(1, 50)), 1000)
        )
        for _ in range(1000)
    ]
    many = seconds_of(lambda: compose(events, "add-remove").epsilon(1e-5), 3)
    figures.append(Figure("ε of 1000 heterogeneous events", many, "s", "under 2", many < 2))
    below, above, worst = compare_mixes(MIXES)
    figures += [
        Figure(f"of {MIXES} mixes below dp-accounting's optimistic ε", below, "", "0", below == 0),
        Figure("more than 1% and 1e-4 above its pessimistic ε", above, "", "0", above == 0),
    ]
    write("accounting", figures, {"largest relative excess over the pessimistic ε": worst})
