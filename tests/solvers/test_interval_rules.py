"""Shares of fits with intervals are parts of one budget."""

from dataclasses import astuple

import pytest

from tacit.solvers.interval_rules import NEWTON, ONE_STEP, RELIABILITY, RoundShares, Shares

FAMILIES = {
    "labels": ONE_STEP.logistic,
    "numbers": ONE_STEP.numbers,
    "robust": ONE_STEP.robust,
    "counts": ONE_STEP.counts,
}


@pytest.mark.parametrize("shares", [NEWTON.logistic, NEWTON.numbers, NEWTON.counts])
def test_the_shares_of_newton_s_method_add_up_to_the_budget(shares: RoundShares) -> None:
    dispersion = NEWTON.dispersion if shares is NEWTON.counts else 0
    assert sum(vars(shares).values()) + dispersion == 100


@pytest.mark.parametrize("family", FAMILIES)
def test_shares_of_one_step_are_in_proportion_to_their_sum(family: str) -> None:
    shares = FAMILIES[family]
    assert shares.whole == sum(astuple(shares))
    assert min(astuple(shares)) >= 0
    # Every family pays for coordinates, the step and its variance.
    assert min(shares.scales, shares.moments, shares.sandwich, shares.step) > 0


def test_what_is_paid_is_what_a_family_needs() -> None:
    """A tail where gradients have no bound, a share for two labels."""

    def paying(name: str) -> set[str]:
        return {family for family, shares in FAMILIES.items() if getattr(shares, name)}

    assert paying("tail") == paying("norms") == {"numbers", "counts"}
    assert paying("level") == {"labels"}


@pytest.mark.parametrize("growth", [ONE_STEP.labels_pilot, ONE_STEP.numbers_pilot])
def test_the_pilot_leaves_something_for_the_step(growth: object) -> None:
    shares = [growth.at(signal) for signal in (0.1, 1.0, 100.0, 1e4, 1e9)]  # type: ignore[attr-defined]
    assert all(0.0 < share < 1.0 for share in shares)
    assert shares == sorted(shares, reverse=True)


def test_what_withholds_an_interval_is_more_than_what_makes_it_conservative() -> None:
    assert RELIABILITY.hidden[0] < RELIABILITY.hidden[1]
    assert RELIABILITY.bias[0] < RELIABILITY.bias[1]
    assert RELIABILITY.curvature < RELIABILITY.curvature_most
    assert RELIABILITY.second_order < RELIABILITY.second_order_most
    assert RELIABILITY.far < RELIABILITY.far_most


def test_shares_are_whole_parts() -> None:
    assert Shares(1, 2, 3, 4, 5, 6, 7).whole == 28
