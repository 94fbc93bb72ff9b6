"""The attack on the holdout: its law is right, a true claim stands, a holdout with too little noise is refuted."""

from unittest.mock import patch

import numpy as np
import pytest

from tacit import audit
from tacit.audit.holdout_claims import chance_above
from tacit.mechanisms import reusable_holdout
from tacit.noise import laplace


def test_the_chance_to_be_above_is_that_of_two_laplace_noises() -> None:
    """10^6 draws: within 0.004, eight standard errors."""
    generator = np.random.default_rng(0)
    drawn = generator.laplace(0, 4, 10**6) - generator.laplace(0, 2, 10**6)
    for distance in (-5.0, -1.0, 0.0, 2.0, 9.0):
        assert chance_above(distance, 4.0, 2.0) == pytest.approx(np.mean(drawn >= distance), abs=4e-3)


def test_too_little_noise_is_refuted() -> None:
    """Seeded, 2,000 runs a world at 99.9%: an answer with an eighth of its noise costs eight times as much."""
    plain = laplace.discrete_laplace

    def less(count: int, scale: int, entropy: object) -> np.ndarray:
        return plain(count, scale // 8, entropy)  # type: ignore[arg-type]

    assert not audit.run("ReusableHoldout", mu=2.0, runs=2000, seed=1).refuted
    with patch.object(reusable_holdout, "discrete_laplace", less):
        assert audit.run("ReusableHoldout", mu=2.0, runs=2000, seed=1).refuted
