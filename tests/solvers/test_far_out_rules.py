"""The rules of clips and sizes far out are listed with the others."""

from tacit.solvers.far_out_rules import FAR_OUT
from tacit.solvers.interval_rules import GROUPS


def test_the_rules_are_among_all_groups() -> None:
    assert FAR_OUT in GROUPS
