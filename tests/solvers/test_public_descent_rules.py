"""The rules of a descent in public coordinates are listed with the others."""

from tacit.solvers.interval_rules import GROUPS
from tacit.solvers.public_descent_rules import PUBLIC_DESCENT


def test_the_rules_are_among_all_groups() -> None:
    assert PUBLIC_DESCENT in GROUPS
