"""Losses of which only values are known: Python functions of a margin and a label, called for one record at a time.

Nothing is compiled and nothing is checked but the values: differences that are not finite, or calls that raise, count
as 0, and differences beyond the bound are clipped. A Python function can do more than return a number. So these losses
are for the curator of a table, who may see it anyway, and inside a ledger they are refused to everybody else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from tacit.errors import SettingError
from tacit.losses.loss import Code
from tacit.losses.own import OwnLoss, Scalar
from tacit.validate import positive


@dataclass(frozen=True)
class BlackBoxLoss(OwnLoss):
    """An own loss without a slope."""

    kind: ClassVar[str] = "black box"

    def __reduce__(self) -> Any:
        """Copy the function as it is."""
        return _restored, (self.value, self.name, self.lipschitz, self.shape)


def black_box_loss(value: Scalar, *, lipschitz: float, name: str = "black box") -> BlackBoxLoss:
    """Declare a loss by its values alone, for solver="zeroth-order".

    `value` takes (margin, label) as floats, a label 0 or 1 or the response in its own units, and returns a float.

    Guarantee: differences of values are clipped to ±lipschitz times the length of the step in the margin, whatever the
    function returns. A value that is not finite, or an exception, adds 0.

    Parameters
    ----------
    value
        The loss. It must depend on margin and label alone: what else it does with a record is not bounded.
    lipschitz
        Bound on its slope. It is enforced, on average over a direction: larger differences are cut.
    name
        As certificates and reports call it.

    Examples
    --------
    >>> loss = black_box_loss(lambda margin, label: abs(margin - label), lipschitz=1.0)
    >>> loss.lipschitz
    1.0
    """
    if not callable(value):
        raise SettingError("value must be a function of (margin, label).")
    if not isinstance(name, str) or not name.strip() or not name.isprintable() or len(name) > 60:
        raise SettingError("name must be a short printable text.")
    steepest = positive("lipschitz", lipschitz)
    return _restored(value, f"own: {name}", steepest, (0.0, 1.0, steepest))


def _restored(value: Scalar | None, name: str, lipschitz: float, shape: tuple[float, ...]) -> BlackBoxLoss:
    return BlackBoxLoss(name, Code.OWN, lipschitz, 1.0, shape, value=value)
