import math
from functools import partial

import numpy as np

from tacit.accounting.renyi.conversion import epsilon_from_values, zcdp_to_epsilon
from tacit.accounting.renyi.curve import default_orders
from tacit.accounting.renyi.mechanism_curves import zcdp


def test_the_grid_grows_from_one_and_is_integer_from_six_on() -> None:
    grid = default_orders()
    assert grid[0] > 1.0
    assert np.all(np.diff(grid) > 0.0)
    large = grid[grid >= 6.0]
    assert np.array_equal(large, np.floor(large))
    assert set(range(2, 65)) <= set(grid)


def test_the_grid_alone_is_within_two_per_cent() -> None:
    grid = default_orders()
    for rho in np.geomspace(1e-11, 1e9, 81):
        curve = partial(zcdp, rho=rho)
        best = zcdp_to_epsilon(rho, 1e-6)
        assert epsilon_from_values(grid, curve(grid), 1e-6) <= best * 1.02
        assert math.isfinite(best)
