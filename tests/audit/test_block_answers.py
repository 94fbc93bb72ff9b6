"""Attacks on answers about blocks: sound ones stand, seeded faults do not."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tacit import audit
from tacit.contract import sensitivity
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
        block_median, "exponential_choice", lambda scores, rate, entropy: choose(scores, 8 * rate, entropy)
    )
    assert refuted("BlockMedian", 2.0)


def test_t18_an_inverted_laplace_scale_of_the_stability_test_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Results whose distance is at the threshold in one world and one below in the other; mu stands for ε = 1."""
    draw = discrete_laplace
    monkeypatch.setattr(block_depth, "distance", lambda volumes, blocks, price: at_threshold(volumes, price))
    assert not refuted("BlockDepth")
    monkeypatch.setattr(
        block_depth, "discrete_laplace", lambda count, scale, entropy: draw(count, 1 / (8 * scale), entropy)
    )
    assert refuted("BlockDepth")


def at_threshold(volumes: np.ndarray, price: Any) -> int:
    # The moved block is the last, at one end of the results: the outermost box tells the worlds apart.
    return int(price.threshold) - int(volumes[0] < np.log(2.0) - 1e-9)
