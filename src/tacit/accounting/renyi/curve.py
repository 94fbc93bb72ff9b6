r"""Rényi curves as values: adding, repeating, and protecting groups.

A curve is a function that takes an array of orders :math:`\alpha \ge 1` and returns upper bounds
of :math:`D_\alpha(M(D) \| M(D'))` over all neighbours in both directions. At order 1 it bounds the
Kullback-Leibler divergence. The functions in this folder become curves with
:func:`functools.partial`.

References
----------
Mironov (2017), "Rényi differential privacy", Proposition 1.
Bun and Steinke (2016), "Concentrated differential privacy", Lemma 5.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np

from tacit.accounting.renyi._arguments import ALLOWANCE, Floats, as_orders, count, raised

Curve: TypeAlias = Callable[[Floats], Floats]


def add(curves: Iterable[Curve]) -> Curve:
    r"""Return the curve of an adaptive composition, :math:`\sum_i r_i(\alpha)`.

    Guarantee
    ---------
    - Never below the exact sum of the values.
    - The same for every order of the curves, up to the relative slack of 2^-46.

    Examples
    --------
    >>> from functools import partial
    >>> from tacit.accounting.renyi.noise import gaussian
    >>> both = add([partial(gaussian, mu=3.0), partial(gaussian, mu=4.0)])
    >>> round(float(both(np.array(2.0))), 9)
    25.0
    """
    parts = tuple(curves)

    def total(orders: Floats) -> Floats:
        array = as_orders(orders)
        values = [np.asarray(part(array), dtype=np.float64) for part in parts]
        zero = np.zeros_like(array)
        # Addition errs by at most one rounding per part.
        slack = ALLOWANCE + len(parts) * 2.0**-52
        summed = np.asarray(sum(values, start=zero), dtype=np.float64)
        return np.where(summed > 0.0, raised(summed, slack), zero)

    return total


def repeat(curve: Curve, times: int) -> Curve:
    r"""Return the curve of several adaptive runs, :math:`k\, r(\alpha)`.

    Guarantee
    ---------
    - k runs cost k times one run, also for large k (never a single run).

    Examples
    --------
    >>> from functools import partial
    >>> from tacit.accounting.renyi.noise import gaussian
    >>> round(float(repeat(partial(gaussian, mu=0.1), 1000)(np.array(2.0))), 9)
    10.0
    """
    runs = count("times", times)

    def total(orders: Floats) -> Floats:
        values = np.asarray(curve(as_orders(orders)), dtype=np.float64)
        with np.errstate(over="ignore"):
            return np.where(values > 0.0, raised(runs * values), 0.0)

    return total


def group(curve: Curve, size: int) -> Curve:
    r"""Return a curve for tables that differ in a whole group of records.

    .. math:: r_k(\alpha) = \sum_{i=0}^{k-1} \frac{k\alpha}{k\alpha - i}\, r(k\alpha - i)

    Guarantee
    ---------
    - A group of one costs what one record costs.
    - For the Gaussian curve :math:`\alpha\mu^2/2` it gives :math:`\alpha (k\mu)^2/2`, which is
      exact.

    Parameters
    ----------
    curve
        The curve of one neighbour step.
    size
        Number of neighbour steps k, at least 1.

    References
    ----------
    Bun and Steinke (2016), Lemma 5.2, applied k - 1 times: ``proofs/accounting/renyi/curve.md``.

    Examples
    --------
    >>> from functools import partial
    >>> from tacit.accounting.renyi.noise import gaussian
    >>> round(float(group(partial(gaussian, mu=1.0), 3)(np.array(2.0))), 9)
    9.0
    """
    steps = count("size", size)

    def whole(orders: Floats) -> Floats:
        array = as_orders(orders)
        total = np.zeros_like(array)
        for step in range(steps):
            inner = steps * array - step
            # An inner order may have been rounded down unless all is integer; curves grow with it.
            exact = (steps == 1) | ((array == np.floor(array)) & (inner < 2.0**53))
            above = np.where(exact, inner, np.nextafter(inner, np.inf))
            total = total + steps * array / inner * np.asarray(curve(above), dtype=np.float64)
        return np.where(total > 0.0, raised(total, ALLOWANCE + steps * 2.0**-52), 0.0)

    return whole
