"""Two writers under two names of one file, killed at any instant: nothing lost, nothing doubled."""

import pytest

from benchmarks.ledger import names

CHARGES = 100
# Where nobody may mount, a ledger has no second name of that kind.
KINDS = [kind for kind in names.KINDS if kind != "bind mount" or names.may_mount()]


@pytest.mark.parametrize("kind", KINDS)
def test_t44_two_names_are_one_ledger(kind: str) -> None:
    outcome = names.trial(kind, CHARGES, seed=1)
    assert outcome is not None
    assert outcome.acknowledged >= CHARGES
    assert (outcome.lost, outcome.doubled) == (0, 0)
    # One charge at most is under way when a writer dies.
    assert 0 <= outcome.unacknowledged <= outcome.kills
    assert outcome.kills >= 4


def test_links_are_tried_everywhere() -> None:
    assert {"symbolic link", "hard link"} <= set(KINDS)
