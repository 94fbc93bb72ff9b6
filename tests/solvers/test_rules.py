"""Rules are data: each has a reason, and the page shows them all as they are."""

import dataclasses

import pytest

from tacit.solvers.interval_rules import GROUPS
from tacit.solvers.rules import Growth, between
from tools import rules


def test_the_page_shows_the_rules_as_they_are() -> None:
    text = rules.PAGE.read_text(encoding="utf-8")
    assert rules.page(text) == text, "run python -m tools.rules"


def test_every_rule_has_a_reason_and_every_group_a_study() -> None:
    for group in GROUPS:
        assert group.study
        for field in dataclasses.fields(group):
            assert field.metadata["reason"], field.name


def test_rules_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        GROUPS[0].large = 1


@pytest.mark.parametrize(("signal", "value"), [(0.0, 0.5), (8.0, 1.0), (64.0, 2.0), (1e9, 3.0)])
def test_a_growth_is_a_power_within_its_ends(signal: float, value: float) -> None:
    assert Growth(0.5, 1.0, 1 / 3, 0.5, 3.0).at(signal) == pytest.approx(value)


def test_a_value_is_limited_to_its_ends() -> None:
    assert [between(value, 1.0, 2.0) for value in (0.0, 1.5, 9.0)] == [1.0, 1.5, 2.0]
