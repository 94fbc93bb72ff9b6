"""Gradient canaries: a true guarantee stands and half of it is reached; seeded faults do not stand."""

from dataclasses import replace
from typing import Any

import pytest

import tacit
from tacit.contract.query import Answer
from tacit.mechanisms import network_gradient
from tacit.mechanisms.clipped_sum import unit_of
from tacit.mechanisms.network_responder import NetworkResponder


def test_a_training_over_batches_shows_half_of_its_price_and_no_more() -> None:
    """Seeded, 300 runs a world: half of μ = 2 at 99.9%. `test_registry.py` asks more of the other attacks."""
    found = tacit.audit.run("network-descent", mu=2.0, runs=300, seed=3)
    assert not found.refuted
    assert found.mu_lower > 1.0


def test_a_clip_that_is_not_enforced_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A seeded fault: gradients are clipped to twice the norm that is priced; 300 runs a world."""
    monkeypatch.setattr(network_gradient, "unit_of", lambda bound, clip, width: 2 * unit_of(bound, clip, width))
    assert tacit.audit.run("NetworkGradient", mu=2.0, runs=300, seed=3).refuted


def test_half_of_the_noise_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A seeded fault: noise of one bit less; 300 runs a world."""
    answer = NetworkResponder.answer

    def faulty(self: NetworkResponder, query: Any, price: Any) -> Answer:
        return answer(self, query, replace(price, bits=price.bits - 1))

    monkeypatch.setattr(NetworkResponder, "answer", faulty)
    assert tacit.audit.run("DPTrainer", mu=2.0, runs=300, seed=3).refuted
