import pytest

from tacit.accounting.pld import BelowRoundOff, GridTooLong, compose
from tacit.accounting.pld.pairs.bounded_loss import LaplacePair
from tacit.accounting.pld.pairs.gaussian import DiscreteGaussianPair, GaussianPair
from tacit.errors import TacitError


def test_limits_of_the_numerics_are_errors_of_the_library_and_of_arithmetic() -> None:
    for kind in (GridTooLong, BelowRoundOff):
        assert issubclass(kind, TacitError)
        assert issubclass(kind, ArithmeticError)


def test_losses_beyond_the_range_of_floats_are_said() -> None:
    with pytest.raises(GridTooLong, match="expected at most"):
        DiscreteGaussianPair(1, 1e9)
    with pytest.raises(GridTooLong, match="Rényi"):
        compose([(GaussianPair(60.0), 1), (LaplacePair(1.0), 1)]).epsilon(1e-6)
