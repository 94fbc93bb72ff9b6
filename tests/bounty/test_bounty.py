"""Seeded privacy bugs: the named check finds each, and finds nothing in sound code.

Statistical parts of a check are wrong about sound code with probability at most 1e-7 each.
"""

import pytest

from tests.bounty.bug import Bug
from tests.bounty.bugs_around_answers import BUGS as AROUND
from tests.bounty.bugs_in_answers import BUGS as INSIDE
from tests.bounty.checks import CHECKS, found_by

BUGS = (*INSIDE, *AROUND)


@pytest.mark.parametrize("check", sorted({bug.caught_by for bug in BUGS}))
def test_a_check_finds_nothing_in_sound_code(check: str) -> None:
    assert found_by(check) is None


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_seeded_bug_is_found(bug: Bug, monkeypatch: pytest.MonkeyPatch) -> None:
    bug.seed(monkeypatch)
    assert found_by(bug.caught_by) is not None


def test_there_are_at_least_25_bugs_each_with_a_name_of_its_own() -> None:
    assert len({bug.name for bug in BUGS}) == len(BUGS) >= 25
    assert {bug.caught_by for bug in BUGS} <= set(CHECKS)
