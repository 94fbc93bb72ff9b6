"""A small part of the coverage study, with enough samples to fail.

Of 4 × 250 nominal intervals a share is asked for that lies within six deviations of 95% (0.69
points each, were they independent): a false alarm has a probability below 1e-8 a test, and with
fixed seeds it would not come and go. Leaving out the noise's part of the variance is seen.
"""

import numpy as np
import pytest

from benchmarks.coverage.cells import Cell, plan_of
from benchmarks.coverage.designs import Family
from benchmarks.coverage.replications import released, run_batch

SAMPLES = 250
LOWEST, HIGHEST = 0.908, 0.992


@pytest.fixture(autouse=True)
def _one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TACIT_THREADS", "1")


def holds(ends: np.ndarray, truth: np.ndarray) -> np.ndarray:
    return (ends[:, 0] <= truth) & (truth <= ends[:, 1])


def covered(cell: Cell) -> tuple[np.ndarray, np.ndarray, dict[str, float]]:
    """Shares of total and of sampling intervals that hold the truth, and of each statement."""
    generator, truth = np.random.default_rng(cell.seed(0)), cell.design.coefficients()
    total, sampling, words = (
        np.zeros(cell.d),
        np.zeros(cell.d),
        dict.fromkeys(("nominal", "conservative", "withheld"), 0.0),
    )
    for seed in range(SAMPLES):
        X, y = cell.design.draw(cell.n, generator)
        found = released(cell, X, y, seed).coefficients
        total += holds(found.conf_int(), truth)
        sampling += holds(found.conf_int(which="sampling"), truth)
        for said in found.statements:
            words[said] += 1 / (cell.d * SAMPLES)
    return total / SAMPLES, sampling / SAMPLES, words


@pytest.mark.parametrize("family", ["logistic", "linear", "poisson"])
def test_intervals_cover_as_they_say(family: Family) -> None:
    """Where n·μ/d is small the bias bound is large beside the noise: numbers and counts over-cover, and are called so.

    Counts of n = 500 are offered in 88% (docs/inference.md): theirs are asked for at n = 800.
    """
    total, sampling, words = covered(Cell(family, "clean", 800 if family == "poisson" else 500, 4, 1.0))
    assert words["nominal"] + words["conservative"] > 0.9
    assert total.mean() > LOWEST
    if words["nominal"] > 0.5:
        assert total.mean() < HIGHEST
    assert words["nominal"] > 0.9 or family != "logistic"
    # A coefficient's share has a deviation of 1.38 points.
    assert total.min() > 0.95 - 6 * 0.0138
    assert sampling.mean() < LOWEST


def test_errors_of_unequal_spread_are_covered() -> None:
    total, _, _ = covered(Cell("linear", "spread", 500, 4, 1.0))
    assert LOWEST < total.mean() < HIGHEST


def test_a_batch_counts_what_the_fits_say() -> None:
    cell = Cell("linear", "clean", 500, 4, 2.0)
    found = run_batch(cell, cell.design.coefficients(), 0, 6)
    again = run_batch(cell, cell.design.coefficients(), 0, 6)
    assert {key: value for key, value in found.items() if key != "seconds"} == {
        key: value for key, value in again.items() if key != "seconds"
    }
    assert found["samples"] == 6
    assert found["nominal"] == [6] * 4
    assert found["nominal_covered"] == found["covered"]
    assert 1.0 < found["median_ratio"] < 2.2
    assert found["relative_noise"] < 0.5
    far = run_batch(cell, cell.design.coefficients() + 5.0, 0, 3)
    assert far["covered"] == [0] * 4
    assert plan_of(cell).solver.intervals
