"""The attack on fits to images: a true guarantee stands, and noise of half the size does not."""

import pytest

import tacit
from tacit.mechanisms.grouped_responder import GroupedResponder


def test_a_fit_without_a_fault_shows_most_of_its_price_and_no_more() -> None:
    """Seeded, 100 runs a world: 0.5 of μ = 2 at 99.9%."""
    found = tacit.audit.run("ImageClassifier", mu=2.0, runs=100, seed=3)
    assert not found.refuted
    assert found.mu_lower > 1.0


def test_half_of_the_noise_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A seeded fault: noise as for a price four times as large in μ², 300 runs a world."""
    answer = GroupedResponder.answer

    def faulty(self: GroupedResponder, query: object, price: object) -> object:
        found = answer(self, query, price)  # type: ignore[arg-type]
        exact = answer(_still(self), query, price)  # type: ignore[arg-type]
        return type(found)((found.value + exact.value) / 2, found.noise_scale / 2)

    def _still(responder: GroupedResponder) -> GroupedResponder:
        still = GroupedResponder.__new__(GroupedResponder)
        still.__dict__.update(responder.__dict__, _entropy=None)
        return still

    monkeypatch.setattr(GroupedResponder, "answer", faulty)
    assert tacit.audit.run("ImageClassifier", mu=2.0, runs=300, seed=3).refuted
