"""B-splines of cells, record by record.

Private: the cells. Public: knots and degree.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tacit.compiling import compiled


def spline_basis(
    cells: NDArray[np.float64], knots: Sequence[float], degree: int
) -> NDArray[np.float64]:
    """All functions of a B-spline basis at cells within the first and the last knot.

    Guarantee
    ---------
    - Every value lies in [0, 1], and the values of a record sum to 1 up to rounding.
    - A record's values depend on its cell, the knots and the degree only, bit by bit.

    References
    ----------
    de Boor, "A practical guide to splines", 1978, chapter X (the recurrence in triangular form).

    Examples
    --------
    >>> spline_basis(np.array([0.0, 0.25, 1.0]), (0.0, 1.0), 1).tolist()
    [[1.0, 0.0], [0.75, 0.25], [0.0, 1.0]]
    """
    ends = [knots[0]] * degree, [knots[-1]] * degree
    whole = np.array([*ends[0], *knots, *ends[1]], dtype=np.float64)
    basis = np.zeros((len(cells), len(knots) - 1 + degree), dtype=np.float64)
    _fill(np.ascontiguousarray(cells), whole, degree, basis)
    return basis


@compiled
def _fill(
    cells: NDArray[np.float64],
    knots: NDArray[np.float64],
    degree: int,
    basis: NDArray[np.float64],
) -> None:
    last = len(knots) - degree - 2
    values = np.empty(degree + 1)
    for i in range(len(cells)):
        x = min(max(cells[i], knots[degree]), knots[last + 1])
        span = degree
        while span < last and x >= knots[span + 1]:
            span += 1
        values[0] = 1.0
        for order in range(1, degree + 1):
            carried = 0.0
            for k in range(order):
                right = knots[span + k + 1]
                left = knots[span + 1 + k - order]
                share = values[k] / (right - left)
                values[k] = carried + (right - x) * share
                carried = (x - left) * share
            values[order] = carried
        for k in range(degree + 1):
            basis[i, span - degree + k] = min(max(values[k], 0.0), 1.0)
