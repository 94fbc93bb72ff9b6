"""Shares of fits with intervals are parts of one budget."""

import pytest

from tacit.solvers.interval_rules import ONE_STEP, PERTURBATION, Shares


@pytest.mark.parametrize("shares", [ONE_STEP.logistic, ONE_STEP.numbers, ONE_STEP.counts])
def test_the_shares_of_a_fit_add_up_to_the_budget(shares: Shares) -> None:
    assert sum(vars(shares).values()) == 100


def test_a_perturbed_minimum_leaves_something_for_itself() -> None:
    assert sum(vars(PERTURBATION.shares).values()) < 100
