"""The rules of a level are listed with the others, and leave budget for the mean."""

from tacit.solvers.interval_rules import GROUPS
from tacit.solvers.level_rules import NEAR_MIDDLE


def test_the_rules_are_among_all_groups() -> None:
    assert NEAR_MIDDLE in GROUPS


def test_most_of_the_budget_is_for_the_mean_and_what_is_near_is_within_the_range() -> None:
    for n_mu in (0.1, 1.0, 5.0, 40.0):
        assert NEAR_MIDDLE.share.at(n_mu) <= 0.25
        assert NEAR_MIDDLE.half_width.at(n_mu) < 0.5
