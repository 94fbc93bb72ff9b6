"""Replayed transcripts never cost more than was paid, on random and on worst pairs."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

import tacit
from tacit.audit.registry import REPLAYED
from tacit.errors import SettingError
from tacit.privacy.relation import Relation
from tacit.solvers import solver
from tacit.solvers.newton_polish import NewtonPolish
from tacit.solvers.rules import TABLES

PAIRS = 12
"""Pairs for each relation; 1000 for each fit were replayed once, with the same result (docs/audit.md)."""


@pytest.mark.parametrize("name", REPLAYED)
def test_no_transcript_costs_more_than_was_paid(name: str) -> None:
    relations = {REPLAYED[name].relation, Relation.REPLACE_ONE, Relation.ZERO_OUT}
    for number, relation in enumerate(sorted(relations)):
        found = tacit.audit.replay(name, mu=1.0, pairs=PAIRS, relation=relation, seed=number)
        assert (found.exceeded, found.pairs, found.relation) == (0, PAIRS, relation)
        assert 0 < found.largest_share <= 1
        assert 0 < found.largest_query_share <= 1
        assert not found.refuted


@pytest.mark.parametrize("mu", [0.05, 20.0])
@pytest.mark.parametrize("name", ["auto", "newton", "moments", "private-bounds", "objective-perturbation"])
def test_tiny_and_huge_budgets(name: str, mu: float) -> None:
    if name == "objective-perturbation" and mu > 1:
        mu = 2.0
    assert tacit.audit.replay(name, mu=mu, pairs=5).exceeded == 0


@pytest.mark.parametrize("name", ["auto", "newton", "counted-records"])
def test_plans_of_large_tables(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Subsamples and Newton steps after descent: what small tables do not have."""
    monkeypatch.setattr(solver, "TABLES", replace(TABLES, large=10, records_a_column=1, noise_norm=1e9))
    # The record that differs is in the subsample of 65 records, and not in that of 64.
    for records in (64, 65):
        case = replace(REPLAYED[name], records=records)
        assert tacit.audit.replay(case, mu=5.0, pairs=PAIRS).exceeded == 0
    if name == "auto":
        chosen = case.plan(5.0).solver
        assert isinstance(chosen, NewtonPolish)
        assert chosen.whitening.one_in > 1


def test_the_same_seed_gives_the_same_result() -> None:
    first, second, third = (tacit.audit.replay("newton", pairs=3, seed=seed) for seed in (1, 1, 2))
    assert first == second
    assert first.largest_share != third.largest_share


def test_a_document_has_plain_numbers() -> None:
    found = tacit.audit.replay("mean", pairs=2)
    assert found.document()["largest_share"] == float(found.largest_share)
    assert replace(found, exceeded=1, largest_share=Fraction(2)).refuted


def test_progress_is_told() -> None:
    told: list[Any] = []
    tacit.audit.replay("mean", pairs=3, progress=lambda *step: told.append(step))
    assert told == [(1, 3, "mean"), (2, 3, "mean"), (3, 3, "mean")]


@pytest.mark.parametrize("given", [{"pairs": 0}, {"mu": 0.0}, {"seed": -1}, {"relation": "beside"}])
def test_bad_settings_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises((SettingError, ValueError)):
        tacit.audit.replay("mean", **given)


def test_only_fits_are_replayed() -> None:
    with pytest.raises(SettingError, match="nothing called 'GradientSum' can be audited"):
        tacit.audit.replay("GradientSum")
