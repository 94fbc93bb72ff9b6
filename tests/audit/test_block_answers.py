"""Attacks on answers about blocks: sound ones stand, seeded faults do not."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tacit import audit
from tacit.contract import sensitivity
from tacit.contract.block_price import DepthPrice
from tacit.contract.block_query import BlockMean
from tacit.contract.query import QueryKind
from tacit.mechanisms import block_depth, block_median, block_results, votes
from tacit.noise.laplace import discrete_laplace
from tacit.noise.selection import exponential_choice
from tacit.privacy.event import Gaussian

RARE = 1e-6


def refuted(name: str, mu: float = 1.0, runs: int = 3000) -> bool:
    """At confidence 1 - 1e-6 with the system's noise: the false-alarm rate of a sound mechanism."""
    return audit.run(name, mu=mu, runs=runs, confidence=1 - RARE).refuted


@pytest.mark.parametrize("name", ["BlockMean", "VoteCounts", "VoteChecks"])
def test_a_sensitivity_of_half_a_block_is_refuted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The factor of zero-out sums, or of one vote: what a block of its own does not have."""
    assert not refuted(name)
    right = sensitivity.squared_sensitivity

    def wrong(kind: QueryKind, bound: int, *given: Any, **named: Any) -> Any:
        return Fraction(right(kind, bound, *given, **named), 4)

    monkeypatch.setattr(sensitivity, "squared_sensitivity", wrong)
    monkeypatch.setattr(
        sensitivity, "Votes", lambda variance, queries, label: Gaussian(Fraction(queries, 2) / variance, 1, label)
    )
    assert refuted(name)


def test_a_teacher_with_two_votes_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    count = votes.count_votes
    monkeypatch.setattr(votes, "count_votes", lambda results, classes: 2 * count(results, classes))
    assert audit.replay("PATE", pairs=3).refuted
    assert refuted("VoteCounts")


@pytest.mark.parametrize("name", ["SubsampleAggregate", "PATE"])
def test_t43_overlapping_blocks_are_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every block also has the rows of the next one."""
    from tacit.audit import block_laws

    members = block_results.members_of

    def overlapping(*given: Any) -> list[np.ndarray]:
        found = members(*given)
        return [np.concatenate([own, found[(k + 1) % len(found)]]) for k, own in enumerate(found)]

    assert audit.replay(name, pairs=3).exceeded == 0
    monkeypatch.setattr(block_laws, "members_of", overlapping)
    assert audit.replay(name, pairs=3).refuted
    assert refuted(name, 2.0, 300)


def test_unclipped_results_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    from tacit.mechanisms import block_mean

    def unclipped(query: BlockMean, bound: int, results: np.ndarray) -> np.ndarray:
        return np.rint(4 * results * bound / query.radius).astype(np.int64)

    monkeypatch.setattr(block_mean, "integer_results", unclipped)
    assert refuted("BlockMean")


def test_a_median_at_twice_its_rate_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    choose = exponential_choice
    assert not refuted("BlockMedian", 2.0)
    monkeypatch.setattr(
        block_median, "exponential_choice", lambda scores, rate, entropy: choose(scores, 2 * rate, entropy)
    )
    assert refuted("BlockMedian", 2.0)


def twice_the_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = block_depth.draw_point

    def wrong(lower: Any, upper: Any, price: DepthPrice, *given: Any) -> Any:
        return draw(lower, upper, replace(price, rate=2 * price.rate), *given)

    monkeypatch.setattr(block_depth, "draw_point", wrong)


def half_the_noise_of_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = discrete_laplace
    monkeypatch.setattr(block_depth, "discrete_laplace", lambda count, scale, entropy: draw(count, scale / 2, entropy))


@pytest.mark.parametrize("fault", [twice_the_rate, half_the_noise_of_the_test])
def test_t18_a_deep_point_at_twice_a_price_is_refuted(fault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of the two prices alone; mu stands for ε = 2."""
    assert not refuted("BlockDepth", 2.0)
    fault(monkeypatch)
    assert refuted("BlockDepth", 2.0, 100_000)


def test_t18_least_squares_of_blocks_at_twice_the_price_are_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not refuted("TukeyRegressor", 2.0, 500)
    twice_the_rate(monkeypatch)
    half_the_noise_of_the_test(monkeypatch)
    assert refuted("TukeyRegressor", 2.0)


def test_aggregates_of_twice_the_length_are_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    from tacit.mechanisms import block_mean

    assert not refuted("aggregate", 2.0, 500)
    right = block_mean.integer_results
    monkeypatch.setattr(block_mean, "integer_results", lambda *given: 2 * right(*given))
    assert refuted("aggregate", 2.0, 500)
    assert audit.replay("aggregate", pairs=2).refuted
