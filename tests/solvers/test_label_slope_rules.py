"""The rules of the length of margins are listed with the others."""

from tacit.solvers.interval_rules import GROUPS
from tacit.solvers.label_slope_rules import LABEL_SLOPE


def test_the_rules_are_among_all_groups() -> None:
    assert LABEL_SLOPE in GROUPS
