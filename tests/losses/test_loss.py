"""A loss is frozen data, and its code leads to its own branch."""

import dataclasses

import pytest

from tacit.losses import classification, regression
from tacit.losses.loss import Code, Loss


def test_a_loss_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        classification.LOGISTIC.lipschitz = 0.5  # type: ignore[misc]


def test_codes_are_those_of_stored_plans() -> None:
    # Compiled kernels and golden plans hold the numbers.
    assert [code.name for code in sorted(Code)] == [
        "LOGISTIC",
        "SQUARED",
        "HUBER",
        "SMOOTH_HUBER",
        "HINGE",
        "POISSON",
        "PINBALL",
        "DISTANCE",
        "SOFTMAX",
        "BOUNDED_POISSON",
        "WEIGHTED_POISSON",
        "WEIGHTED_LOGISTIC",
        "OWN",
        "GAMMA",
        "NEGATIVE_BINOMIAL",
        "PROBIT",
        "CLOGLOG",
    ]
    assert [int(code) for code in sorted(Code)] == list(range(17))


def test_defaults_claim_nothing() -> None:
    plain = Loss("plain", Code.SQUARED, 1.0, 1.0)
    # Each of the two terms of the joint bound is at most 1.
    assert (plain.one_signed, plain.relative, plain.degree, plain.joint) == (False, False, 0, 2.0)
    assert plain != regression.SQUARED
