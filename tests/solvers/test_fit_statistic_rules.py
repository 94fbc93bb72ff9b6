"""The rules of statistics are listed with the others."""

from tacit.solvers.fit_statistic_rules import FIT_STATISTICS
from tacit.solvers.interval_rules import GROUPS


def test_the_rules_are_among_all_groups() -> None:
    assert FIT_STATISTICS in GROUPS
