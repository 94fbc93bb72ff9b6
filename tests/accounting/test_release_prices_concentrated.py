import math
from fractions import Fraction

import pytest

from tacit.accounting.composition import count_events
from tacit.accounting.event_curves import without_leak
from tacit.accounting.release_prices import concentrated, total_concentrated, truncated_epsilon
from tacit.privacy.event import (
    Approximate,
    BoundedRange,
    DiscreteGaussian,
    Gaussian,
    Laplace,
    PoissonSampled,
    Pure,
    Repeated,
)
from tacit.privacy.relation import Relation

ADD = Relation.ADD_REMOVE


def test_rhos_are_exact_where_the_events_are() -> None:
    assert concentrated(Gaussian(1, 4), None) == concentrated(DiscreteGaussian(1, 4), None)
    found = total_concentrated(
        count_events([Repeated(Gaussian(1, 3), 10**30), Repeated(BoundedRange(Fraction(1, 7)), 3)]), None
    )
    assert found is not None
    assert found.rho == Fraction(10**30, 6) + Fraction(3, 8 * 49)


def test_t23_what_is_only_pure_never_gets_the_rho_of_a_bounded_range() -> None:
    # Permute-and-flip is epsilon-private and has no bounded range: it is a Pure event.
    pure, ranged = concentrated(Pure(1), None), concentrated(BoundedRange(1), None)
    assert pure is not None
    assert ranged is not None
    assert float(pure.rho) == pytest.approx(math.tanh(0.5), rel=1e-9)
    assert pure.rho > 3 * ranged.rho
    assert concentrated(Laplace(1, 1), None) == pure


def test_leaks_are_kept_beside_rho() -> None:
    found = total_concentrated(count_events([Repeated(Approximate(1, Fraction(1, 10**3)), 2)]), None)
    assert found is not None
    assert found.leak == pytest.approx(1 - 0.999**2, rel=1e-9)


def test_sampled_gaussians_have_no_rho_but_a_truncated_one() -> None:
    counted = count_events([PoissonSampled(Gaussian(1, 1), Fraction(1, 100))], ADD)
    assert concentrated(counted[0][0], ADD) is None
    epsilon = truncated_epsilon(counted, ADD, 1e-5)
    assert epsilon is not None
    assert 0 < epsilon < 5


def test_what_a_leak_leaves_is_rounded_down() -> None:
    for delta, leak in ((1e-5, 1e-6), (0.1, 0.05)):
        rest = without_leak(delta, leak)
        assert 1 - (1 - leak) * (1 - rest) <= delta
        assert rest == pytest.approx((delta - leak) / (1 - leak), rel=1e-9)
    assert without_leak(1e-6, 1.0) == 0.0
