"""Simulated pairs are neighbours, whatever the relation and the response."""

import numpy as np
import pytest

from tacit.audit.simulated_pairs import (
    FACTS,
    MakePair,
    Outcome,
    contrary_row,
    lone_row,
    opposed_rows,
    overshot_row,
    random_pair,
)
from tacit.audit.twin_tables import Pair
from tacit.privacy.relation import Relation

WITH_RESPONSE = [outcome for outcome in Outcome if outcome is not Outcome.NONE]
CASES = [(lone_row, Outcome.NONE)]
CASES += [(make, outcome) for make in (lone_row, contrary_row, opposed_rows, overshot_row) for outcome in WITH_RESPONSE]


def assert_neighbours(pair: Pair, relation: Relation, records: int) -> None:
    first, second = pair.first, pair.second
    assert len(second.X) == records
    rest = first.X if relation is Relation.ADD_REMOVE else first.X[1:]
    np.testing.assert_array_equal(rest, second.X[1:])
    if relation is Relation.ZERO_OUT:
        assert np.isnan(first.X[0]).all()
    assert not np.isnan(second.X).any()
    if second.y is not None:
        np.testing.assert_array_equal(first.y if relation is Relation.ADD_REMOVE else first.y[1:], second.y[1:])
        assert len(first.y) == len(first.X)


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize(("make", "outcome"), CASES)
def test_worst_pairs_differ_in_one_record_within_the_bounds(
    make: MakePair, outcome: Outcome, relation: Relation
) -> None:
    pair = make(relation, outcome, 16, 3)
    assert_neighbours(pair, relation, 16)
    assert np.abs(pair.second.X).max() <= 1.0


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("outcome", list(Outcome))
def test_random_pairs_differ_in_one_record(outcome: Outcome, relation: Relation) -> None:
    rng = np.random.default_rng(0)
    pairs = [random_pair(rng, relation, outcome, 16, 3) for _ in range(50)]
    for pair in pairs:
        assert_neighbours(pair, relation, 16)
    assert any(np.abs(pair.second.X[0]).max() > 1 for pair in pairs)


def test_responses_are_what_is_declared() -> None:
    rng = np.random.default_rng(1)
    for outcome in WITH_RESPONSE:
        y = np.concatenate([random_pair(rng, Relation.REPLACE_ONE, outcome, 16, 2).second.y for _ in range(50)])
        declared = next(iter(FACTS[outcome].values()))
        low, high = (0, declared) if outcome is Outcome.COUNTS else (min(declared), max(declared))
        assert (y.min(), y.max()) == (low, high)


def test_the_opposed_rows_have_opposed_gradients() -> None:
    pair = opposed_rows(Relation.REPLACE_ONE, Outcome.LABELS, 8, 2)
    one, two = pair.first.X[0], pair.second.X[0]
    assert np.linalg.norm(one) == pytest.approx(1.0)
    assert np.linalg.norm(one + two) > 1.99
    assert (pair.first.y[0], pair.second.y[0]) == (0, 1)


def test_the_columns_of_a_contrary_table_are_not_combinations_of_each_other() -> None:
    X = contrary_row(Relation.ZERO_OUT, Outcome.LABELS, 64, 5).second.X
    assert np.linalg.matrix_rank(X[1:]) == 5
