"""The student of noised votes: it takes most of their noise off."""

import numpy as np

from tacit.estimators.vote_student import VoteStudent


def test_smoothed_votes_are_better_than_noised_ones() -> None:
    """Seeded."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 300)
    X = np.eye(3)[truth] * 4 + rng.normal(size=(300, 3))
    shares = np.eye(3)[truth] + rng.normal(size=(300, 3)) * 0.6
    raw = (shares.argmax(axis=1) == truth).mean()
    student = VoteStudent(0.6).fit(X, shares)
    assert raw < 0.9
    assert (student.predict(X) == truth).mean() > 0.95
    new = np.eye(3)[truth] * 4 + rng.normal(size=(300, 3))
    assert (student.predict(new) == truth).mean() > 0.93


def test_equal_rows_are_no_error() -> None:
    student = VoteStudent(0.1).fit(np.zeros((4, 2)), np.tile([0.1, 0.9], (4, 1)))
    assert student.predict(np.zeros((1, 2))).tolist() == [1]
