"""The rules of blocks are listed with the others."""

from tacit.solvers.block_rules import BLOCKS
from tacit.solvers.interval_rules import GROUPS


def test_the_rules_are_among_all_groups() -> None:
    assert BLOCKS in GROUPS
