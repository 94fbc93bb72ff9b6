import itertools
import math

import mpmath
import numpy as np
import pytest
from scipy import integrate

from tacit.accounting import pld
from tacit.accounting.classical import replaced_by_poisson
from tacit.accounting.pld.pairs.bounded_loss import RandomisedResponse, ReplacedLaplace, ReplacedResponse
from tacit.accounting.pld.pairs.pair import GridTooLong, Pair
from tacit.errors import SettingError

GRID = [(epsilon, rate) for epsilon in (1e-3, 0.5, 1.0, 4.0) for rate in (1e-3, 0.1, 0.6, 1.0)]


def delta_of(pair: Pair, epsilon: float) -> float:
    return pld.compose([(pair, 1)]).delta(epsilon)[1]


@pytest.mark.parametrize(("epsilon", "rate"), GRID)
def test_the_largest_loss_is_the_closed_form(epsilon: float, rate: float) -> None:
    with mpmath.workdps(40):
        q, e = mpmath.mpf(rate), mpmath.mpf(epsilon)
        exact = mpmath.log((1 - q + q * mpmath.exp(e)) / (1 - q + q * mpmath.exp(-e)))
    for pair in (ReplacedResponse(epsilon, rate), ReplacedLaplace(epsilon, rate)):
        assert pair.largest == pytest.approx(float(exact), rel=1e-12)
        assert exact <= pair.largest + pair.loss_error(pair.largest)
        losses, masses = pair.atoms("remove")
        smooth = pair.smooth("remove", np.array([-np.inf]))
        assert float(smooth[0][0] + masses.sum()) == pytest.approx(1.0, abs=1e-12)
        assert float(smooth[1][0] + (masses * np.exp(-losses)).sum()) == pytest.approx(1.0, abs=1e-9)
    assert exact <= replaced_by_poisson(epsilon, 0.0, rate).epsilon <= exact * (1 + 1e-12)


@pytest.mark.parametrize(("epsilon", "rate"), GRID)
def test_no_pure_mechanism_on_three_outputs_is_worse(epsilon: float, rate: float) -> None:
    """All extreme ratios on three outputs, for the record before and for the one after."""
    generator = np.random.default_rng(3)
    pair = ReplacedResponse(epsilon, rate)
    for absent in generator.dirichlet(np.ones(3), size=25):
        worlds = []
        for free in range(3):
            for ends in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
                law = absent * np.insert(np.exp(epsilon * np.array(ends)), free, 0.0)
                law[free] = 1.0 - law.sum()
                ratio = law[free] / absent[free]
                if math.exp(-epsilon) <= ratio <= math.exp(epsilon):
                    worlds.append((1.0 - rate) * absent + rate * law)
        for first in worlds:
            for second in worlds:
                for level in (0.0, 0.5 * pair.largest, 0.99 * pair.largest):
                    exact = np.maximum(first - math.exp(level) * second, 0.0).sum()
                    assert exact <= delta_of(pair, level) * (1 + 1e-9) + 1e-12
                assert np.all(np.log(first / second) <= pair.largest * (1 + 1e-9))


@pytest.mark.parametrize(("epsilon", "rate"), GRID)
def test_the_laplace_pair_has_the_divergence_of_its_densities(epsilon: float, rate: float) -> None:
    pair = ReplacedLaplace(epsilon, rate)

    def density(y: float, shift: float) -> float:
        mixed = (1 - rate) * math.exp(-abs(y)) + rate * math.exp(-abs(y - shift))
        return 0.5 * mixed

    for level in (0.0, 0.3 * pair.largest, 0.9 * pair.largest):
        factor = math.exp(level)

        def excess(y: float, factor: float = factor) -> float:
            return max(density(y, epsilon) - factor * density(y, -epsilon), 0.0)

        breaks = np.linspace(0.0, epsilon, 9)
        exact = sum(integrate.quad(excess, a, b, epsabs=1e-13)[0] for a, b in itertools.pairwise(breaks))
        exact += integrate.quad(excess, epsilon, epsilon + 40.0, epsabs=1e-13)[0]
        assert exact <= delta_of(pair, level) + 1e-10
        assert delta_of(pair, level) <= exact * (1 + 1e-6) + 1e-9
        # Laplace noise is pure, so the pair of all pure releases dominates it.
        assert exact <= delta_of(ReplacedResponse(epsilon, rate), level) + 1e-10


def test_composition_is_below_randomised_response_at_the_same_loss() -> None:
    pair = ReplacedResponse(1.0, 0.01)
    tight = pld.compose([(pair, 1000)]).epsilon(1e-6)[1]
    loose = pld.compose([(RandomisedResponse(pair.largest), 1000)]).epsilon(1e-6)[1]
    assert tight < 0.75 * loose


def test_what_has_no_pair_is_refused() -> None:
    with pytest.raises(SettingError):
        ReplacedResponse(1.0, 0.0)
    with pytest.raises(SettingError):
        ReplacedLaplace(-1.0, 0.5)
    with pytest.raises(GridTooLong):
        ReplacedResponse(1e3, 0.5)
