"""What a black box does with a block: a fresh clone, and the numbers that are read off it."""

import numpy as np
from sklearn.linear_model import LinearRegression, LogisticRegression

from tacit.estimators.block_programs import FittedNumbers, TaughtLabels

X = np.array([[0.0], [1.0], [2.0], [3.0]])


def test_intercept_and_coefficients_are_read() -> None:
    model = LinearRegression()
    assert np.allclose(FittedNumbers(model, None, None)(X, 1 + 2 * X[:, 0]), [1.0, 2.0])
    assert not hasattr(model, "coef_")


def test_an_own_function_is_called() -> None:
    program = FittedNumbers(LinearRegression(), lambda model: model.predict([[10.0]]), None)
    assert np.allclose(program(X, 1 + 2 * X[:, 0]), [21.0])


def test_classes_have_the_users_labels() -> None:
    labels = np.array(["no", "yes"])
    program = FittedNumbers(LogisticRegression(), lambda model: [model.classes_.tolist() == ["no", "yes"]], labels)
    assert program(X, np.array([0.0, 0.0, 1.0, 1.0])).tolist() == [1.0]


def test_teachers_vote_by_number() -> None:
    program = TaughtLabels(LogisticRegression(), np.array([[-5.0], [9.0]]))
    assert program(X, np.array([0.0, 0.0, 1.0, 1.0])).tolist() == [0.0, 1.0]
