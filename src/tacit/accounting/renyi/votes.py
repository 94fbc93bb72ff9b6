r"""Rényi curves of noisy votes of teachers (PATE), independent of the votes themselves.

A record belongs to one teacher, so one neighbour step changes at most one vote. Curves that depend
on the votes are themselves private and are not offered.

References
----------
Papernot, Song, Mironov, Raghunathan, Talwar and Erlingsson (2018), "Scalable private learning with
PATE", Proposition 8 and section 4.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from tacit.accounting.renyi._arguments import Floats, as_orders
from tacit.accounting.renyi.noise import discrete_gaussian


def noisy_plurality(orders: ArrayLike, variance: float) -> Floats:
    r"""Return the curve of the plurality of votes with Gaussian noise on each count (GNMax).

    .. math:: r(\alpha) = \alpha / \sigma^2

    A changed vote moves two counts by one each: squared sensitivity 2.

    Guarantee
    ---------
    - Twice the curve of a single count with the same noise.

    Examples
    --------
    >>> round(float(noisy_plurality(8.0, variance=1600.0)), 6)
    0.005
    """
    return discrete_gaussian(as_orders(orders), 2.0, variance)


def confidence_check(orders: ArrayLike, variance: float) -> Floats:
    r"""Return the curve of asking whether the largest count, with noise, passes a threshold.

    .. math:: r(\alpha) = \alpha / (2\sigma^2)

    Guarantee
    ---------
    - The largest count moves by at most one: the curve of one count. It is paid for every query,
      answered or not.

    Examples
    --------
    >>> round(float(confidence_check(8.0, variance=1600.0)), 6)
    0.0025
    """
    return discrete_gaussian(as_orders(orders), 1.0, variance)
