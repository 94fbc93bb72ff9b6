"""The rules of a fit along one direction are listed with the others."""

from tacit.solvers.interval_rules import GROUPS
from tacit.solvers.label_direction_rules import LABEL_DIRECTION


def test_the_rules_are_among_all_groups() -> None:
    assert LABEL_DIRECTION in GROUPS
