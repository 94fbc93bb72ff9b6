r"""The orders at which Rényi curves are read.

Every order gives a valid guarantee, so the choice changes how tight a number is and never
whether it is true.
"""

from __future__ import annotations

import numpy as np

from tacit.accounting.renyi._arguments import Floats

# With a curve rho * order the best order is near 1 + sqrt(log(1/delta)/rho). These ends serve
# rho from 1e-14 to 1e11 at any delta from 1e-20 to 0.1.
_CLOSEST_TO_ONE = 1e-5
_LARGEST = 1e8


def default_orders() -> Floats:
    r"""Return the default grid: dense near 1, halves to 6, integers to 64, then 20 per cent apart.

    Guarantee
    ---------
    - Increasing, above 1, with all integers to 64 and only integers from 6 on, which are the cheap
      and exact orders of subsampled mechanisms.
    - For :math:`r(\alpha) = \rho\alpha` with rho from 1e-11 to 1e9 the grid alone is within 2 per
      cent of the best order.

    Examples
    --------
    >>> grid = default_orders()
    >>> bool(grid[0] > 1.0), 64.0 in grid
    (True, True)
    """
    near_one = 1.0 + np.geomspace(_CLOSEST_TO_ONE, 0.93, 60)
    halves = np.arange(2.0, 6.0, 0.5)
    integers = np.arange(6.0, 65.0)
    steps = int(np.log(_LARGEST / 64.0) / np.log(1.2))
    large = np.floor(64.0 * 1.2 ** np.arange(1.0, steps + 1.0))
    return np.concatenate([near_one, halves, integers, large])
