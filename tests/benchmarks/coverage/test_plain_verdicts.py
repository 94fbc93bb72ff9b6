"""Verdicts: a share is against a bound only if chance would hardly explain it."""

import numpy as np
import pytest

from benchmarks.coverage.plain_tally import LabelCount, Tally
from benchmarks.coverage.plain_verdicts import (
    POOLED,
    RARE,
    cell_complaints,
    complaint,
    coverage_complaints,
    size_complaints,
    tail,
)

NAMES = ("Intercept", "x")


def independent(cases: list[int], covered: list[int]) -> LabelCount:
    """Intervals of fits with one each."""
    total, hits = sum(cases), sum(covered)
    return LabelCount(cases, covered, 0, 0, total, total, hits, hits)


def test_within_the_bounds_nothing_is_rare() -> None:
    assert tail(95, 100, *POOLED) == 1
    assert tail(0, 0, *POOLED) == 1


def test_tails_are_those_of_the_binomial() -> None:
    assert tail(0, 3, 0.5, 0.9) == pytest.approx(0.125)
    assert tail(3, 3, 0.1, 0.5) == pytest.approx(0.125)


def test_false_alarms_are_rare() -> None:
    """At the bound itself 1e-4 of the cells are accused, so of 20,000 hardly more than a few."""
    draws = np.random.default_rng(6).binomial(400, POOLED[0], 20_000)
    accused = sum(complaint("c", int(hits), 400, POOLED) is not None for hits in draws)
    # Poisson with mean at most 2: more than 12 has a chance of 1e-7.
    assert accused <= 12
    assert RARE == 1e-4


def test_low_and_high_coverage_are_said() -> None:
    assert coverage_complaints("nominal", independent([1000, 1000], [950, 950]), NAMES) == []
    low = coverage_complaints("nominal", independent([1000, 1000], [950, 800]), NAMES)
    assert low == ["nominal 0.875 < 0.93", "nominal x 0.800 < 0.915"]
    high = coverage_complaints("nominal", independent([2000, 2000], [2000, 2000]), NAMES)
    assert high[0] == "nominal 1.000 > 0.97"
    assert coverage_complaints("conservative", independent([900, 900], [900, 900]), NAMES) == []
    hidden = coverage_complaints("conservative", independent([9000, 100], [9000, 60]), NAMES)
    assert hidden == ["conservative x 0.600 < 0.94"]


def test_labels_with_few_cases_wait_and_unknown_ones_fail() -> None:
    few = Tally(labels={"nominal": independent([50, 50], [0, 0])})
    assert cell_complaints(few, NAMES) == []
    assert cell_complaints(Tally(labels={"withheld": independent([9, 9], [0, 0])}), NAMES) == []
    other = Tally(labels={"approximate": independent([5, 5], [5, 5])})
    assert cell_complaints(other, NAMES) == ["label 'approximate' says nothing"]


def test_sizes_are_judged_by_their_label() -> None:
    count = independent([4000, 4000], [3800, 3800])
    count.null_cases = 4000
    for label, rejected, said in (
        ("nominal", 200, []),
        ("nominal", 400, ["size nominal 0.100 > 0.065"]),
        ("nominal", 40, ["size nominal 0.010 < 0.035"]),
        ("conservative", 40, []),
        ("conservative", 400, ["size conservative 0.100 > 0.06"]),
    ):
        count.null_rejected = rejected
        assert size_complaints(Tally(labels={label: count})) == said
    assert size_complaints(Tally(joint={"nominal": [4000, 20]})) == ["joint size nominal 0.005 < 0.035"]
    assert size_complaints(Tally(joint={"conservative": [4000, 20], "withheld": [9, 9]})) == []
