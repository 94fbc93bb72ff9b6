"""Public draws are the same in every fit."""

import numpy as np

from tacit.solvers.public_draws import PublicSequence


def test_draws_repeat_and_differ_by_seed() -> None:
    first, again, other = (PublicSequence(seed).standard_normal(5) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, other)


def test_two_generators_of_a_seed_do_not_share_a_state() -> None:
    one, two = PublicSequence(3), PublicSequence(3)
    one.standard_normal(100)
    assert two.standard_normal() == PublicSequence(3).standard_normal()


def test_the_numbers_are_normal_and_uncorrelated() -> None:
    drawn = PublicSequence(1).standard_normal((40_000, 3))
    assert np.abs(drawn.mean(axis=0)).max() < 0.03
    assert np.abs(np.cov(drawn.T) - np.eye(3)).max() < 0.04
    assert abs(float(np.mean(np.abs(drawn) < 1.96)) - 0.95) < 0.005
    assert abs(np.corrcoef(drawn[:-1, 0], drawn[1:, 0])[0, 1]) < 0.02
