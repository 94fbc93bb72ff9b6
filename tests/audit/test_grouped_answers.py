"""Attacks on queries of grouped rows: every one has its own, which reaches the sensitivity and not more."""

import pytest

from tacit import audit
from tacit.audit.grouped_answers import GROUPED_QUERIES
from tacit.mechanisms.grouped_responder import GROUPED_MECHANISMS


def test_every_query_of_grouped_rows_has_an_attack() -> None:
    assert set(GROUPED_QUERIES) == set(GROUPED_MECHANISMS)
    assert {query.__name__ for query in GROUPED_QUERIES} <= set(audit.names())


@pytest.mark.parametrize("relation", ["", ":zero-out"])
@pytest.mark.parametrize("query", GROUPED_QUERIES)
def test_two_records_move_an_answer_by_its_sensitivity(query: type, relation: str) -> None:
    """Seeded, 500 runs a world: 0.6 of μ = 2 is shown at 99.9%; of half the noise it would be more than μ."""
    found = audit.run(f"{query.__name__}{relation}", mu=2.0, runs=500, seed=3)
    assert 1.2 < found.mu_lower < found.mu_claimed
