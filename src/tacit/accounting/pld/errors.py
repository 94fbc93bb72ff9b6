"""What the numerical core says when it cannot give a tight number."""

from tacit.errors import TacitError


class GridTooLong(TacitError, ArithmeticError):
    """A grid fine enough would be too long, or the losses leave the range of floats."""


class BelowRoundOff(TacitError, ArithmeticError):
    """The delta asked for is below what floating-point transforms can certify."""
