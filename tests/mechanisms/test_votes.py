"""Votes: one a teacher and row, whatever it returns."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tacit.contract.block_query import LeastSquares, VoteChecks, VoteCounts
from tacit.contract.sensitivity import Price
from tacit.mechanisms.votes import answer_votes, count_votes, integer_votes

ROWS, CLASSES = 4, 3
votes = st.lists(st.floats(allow_nan=True), min_size=ROWS, max_size=ROWS)


@given(st.lists(votes, min_size=2, max_size=6), votes)
def test_one_teacher_moves_two_counts_of_a_row_by_one(results: list[list[float]], other: list[float]) -> None:
    moved = [*results[:-1], other]
    first, second = (count_votes(np.array(it), CLASSES) for it in (results, moved))
    assert (first.sum(axis=1) == len(results)).all()
    assert ((first - second) ** 2).sum(axis=1).max() <= 2
    assert np.abs(first.max(axis=1) - second.max(axis=1)).max() <= 1


def test_asked_rows_are_answered() -> None:
    results = np.array([[0.0, 2.0, 1.0, 1.0], [0.0, 2.0, 2.0, -5.0], [1.0, 2.0, 1.0, np.nan]])
    function = LeastSquares(ROWS)
    counts = integer_votes(VoteCounts(function, 3, CLASSES, (3, 0)), 10, results)
    assert counts.tolist() == [[20, 10, 0], [20, 10, 0]]
    answer = answer_votes(VoteChecks(function, 3, CLASSES), Price(10, 0), results, None)
    assert answer.value.tolist() == [2.0, 3.0, 2.0, 2.0]
