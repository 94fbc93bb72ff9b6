"""The squared loss against ½(z - y)²."""

from tacit.losses import regression
from tests.losses.loss_identities import (
    Case,
    check_constants,
    check_degree,
    check_derivatives,
    check_self_concordance,
    check_signs,
)

CASE = Case(regression.SQUARED, lambda z, y: (z - y) ** 2 / 2, (-0.7, 0.0, 1.3))


def test_identities() -> None:
    check_derivatives(CASE)
    # The slope has no bound, so the joint constant is that of the curvature alone.
    check_constants(CASE, joint=1.0)
    check_signs(CASE)
    check_degree(CASE, lambda _: regression.SQUARED)
    check_self_concordance(CASE, (-2.0, 2.0))
