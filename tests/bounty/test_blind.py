"""Bugs that were invented without a look at the checks: each is found by the check that it names."""

import pytest

from tests.bounty.blind_bugs import BUGS
from tests.bounty.checks import CHECKS, found_by


def test_every_blind_bug_is_found() -> None:
    missed = []
    for bug in BUGS:
        with pytest.MonkeyPatch.context() as patch:
            bug.seed(patch)
            if found_by(bug.caught_by) is None:
                missed.append(bug.name)
    assert missed == []


def test_the_checks_that_they_name_find_nothing_in_sound_code() -> None:
    assert {bug.caught_by for bug in BUGS} <= set(CHECKS)
    assert [name for name in sorted({bug.caught_by for bug in BUGS}) if found_by(name) is not None] == []
