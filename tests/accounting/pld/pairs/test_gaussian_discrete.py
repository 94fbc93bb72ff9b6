import math

import mpmath
import numpy as np
import pytest

from tacit.accounting.pld import GridTooLong
from tacit.accounting.pld.pairs.gaussian import DiscreteGaussianPair
from tacit.errors import SettingError


@pytest.mark.parametrize(("shift", "sigma"), [(1, 0.5), (1, 3.0), (4, 2.5)])
def test_profile_is_the_sum_over_integers(shift: int, sigma: float) -> None:
    pair = DiscreteGaussianPair(shift, sigma)
    losses, masses = pair.atoms("remove")
    reach = int(40 * sigma) + shift
    with mpmath.workdps(40):
        weights = {
            x: mpmath.exp(-(mpmath.mpf(x) ** 2) / (2 * mpmath.mpf(sigma) ** 2))
            for x in range(-reach - shift, reach + shift + 1)
        }
        total = mpmath.fsum(weights.values())
        for epsilon in (0.0, 0.3, 1.0, 4.0):
            exact = mpmath.fsum(
                max(weights[x] - mpmath.exp(epsilon) * weights[x - shift], 0) for x in range(-reach, reach + 1)
            )
            value = np.sum(masses * np.maximum(-np.expm1(epsilon - losses), 0.0))
            assert value == pytest.approx(float(exact / total), rel=1e-11)


@pytest.mark.parametrize("shift", [1, 2, 3])
def test_losses_are_on_the_lattice(shift: int) -> None:
    pair = DiscreteGaussianPair(shift, 2.0)
    steps = pair.atoms("add")[0] / pair.lattice
    assert np.max(np.abs(steps - np.rint(steps))) < 1e-9
    assert np.all(np.diff(pair.atoms("add")[0]) > 0.0)


def test_mass_far_out_is_kept_at_infinity() -> None:
    assert math.erfc(39 / math.sqrt(2)) < DiscreteGaussianPair(1, 5.0).infinite("remove") < 1e-290


def test_bad_parameters_are_refused() -> None:
    with pytest.raises(SettingError, match="squared_sensitivity_root"):
        DiscreteGaussianPair(1.5, 1.0)  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="sigma"):
        DiscreteGaussianPair(1, 0.0)
    with pytest.raises(GridTooLong, match="sigma"):
        DiscreteGaussianPair(1, 1e6)
