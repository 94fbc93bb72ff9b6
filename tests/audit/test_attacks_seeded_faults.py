"""Five faults that other libraries shipped, seeded into Tacit: the audit refutes each, and not the sound mechanism.

All at confidence 1 - 1e-6: a sound mechanism is refuted by chance with at most this probability. 10,000 runs a world
for single answers; fewer where a run is a minimisation or a whole fit.
"""

from __future__ import annotations

import math

import pytest

from benchmarks.seeded_faults import FAULTS, Fault
from tacit import audit

RARE = 1e-6
RUNS = 10_000


def refuted(name: str, mu: float, runs: int = RUNS) -> bool:
    return audit.run(name, mu=mu, runs=runs, confidence=1 - RARE).refuted


def seed(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fault.module, fault.function, fault.faulty)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_seeded_fault_is_refuted_and_the_sound_mechanism_is_not(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seeded = FAULTS[fault]
    # A minimum is computed anew in every run, and a third of the runs are enough.
    runs = 3000 if seeded.attack.startswith("PerturbedMinimum") else RUNS
    assert not refuted(seeded.attack, seeded.mu, runs)
    seed(seeded, monkeypatch)
    assert refuted(seeded.attack, seeded.mu, runs)


def test_half_noise_is_refuted_by_the_coefficients_of_an_estimator(monkeypatch: pytest.MonkeyPatch) -> None:
    """1,000 fits a world."""
    assert not refuted("LogisticRegression", 1.0, 1000)
    seed(FAULTS["half noise"], monkeypatch)
    assert refuted("LogisticRegression", 1.0, 1000)


def test_half_noise_is_refuted_by_the_answers_of_a_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    """1,000 runs a world."""
    assert not refuted("mean", 1.0, 1000)
    seed(FAULTS["half noise"], monkeypatch)
    assert refuted("mean", 1.0, 1000)


@pytest.mark.parametrize(
    ("fault", "name"), [("unclipped row", "whitened-gradient"), ("batch-shrunk sensitivity", "gradient")]
)
def test_replayed_transcripts_show_sums_that_move_too_far(
    fault: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert audit.replay(name, pairs=5).exceeded == 0
    seed(FAULTS[fault], monkeypatch)
    found = audit.replay(name, pairs=5)
    assert found.refuted
    assert found.largest_query_share > 1
    assert math.isfinite(found.largest_share)
