"""Simulated populations: what they are named for is what they have."""

import numpy as np
import pytest
from scipy import special

from benchmarks.coverage.designs import FAMILIES, SCENARIOS, Design, Family, Scenario

RECORDS = 40_000


def drawn(family: Family, scenario: Scenario) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    design = Design(family, scenario, 4)
    X, y = design.draw(RECORDS, np.random.default_rng(1))
    return X, y, design.coefficients()


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_responses_are_within_their_public_bounds(family: Family, scenario: Scenario) -> None:
    X, y, _ = drawn(family, scenario)
    assert X.shape == (RECORDS, 3)
    assert np.abs(X.std(axis=0) - 1).max() < 0.02
    low, high = {"logistic": (0, 1), "linear": (-10, 10), "poisson": (0, 100)}[family]
    assert y.min() >= low
    assert y.max() <= high
    if family != "linear":
        assert (y == np.rint(y)).all()


@pytest.mark.parametrize("family", ["logistic", "linear"])
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_centred_populations_have_a_score_of_mean_zero(family: Family, scenario: Scenario) -> None:
    """Each of four means of 40000 is within 5.5 deviations with probability above 1 - 2e-7."""
    X, y, beta = drawn(family, scenario)
    Z = np.column_stack([np.ones(len(X)), X])
    margin = Z @ beta
    slope = special.expit(margin) - y if family == "logistic" else np.clip(margin - y, -1.3, 1.3)
    scores = Z * slope[:, None]
    z = scores.mean(axis=0) / scores.std(axis=0) * np.sqrt(len(X))
    if Design(family, scenario, 4).is_centred:
        assert np.abs(z).max() < 5.5
    elif (family, scenario) == ("logistic", "link"):
        assert np.abs(z).max() > 5.5


def test_rare_outcomes_and_dispersion() -> None:
    assert 0.04 < drawn("logistic", "rare")[1].mean() < 0.065
    assert 0.25 < drawn("poisson", "rare")[1].mean() < 0.35
    _, clean, _ = drawn("poisson", "clean")
    _, spread, _ = drawn("poisson", "spread")
    assert abs(spread.mean() - clean.mean()) < 0.1
    assert spread.var() > 1.5 * clean.var()


def test_counts_are_never_called_centred() -> None:
    assert not any(Design("poisson", scenario, 4).is_centred for scenario in SCENARIOS)
