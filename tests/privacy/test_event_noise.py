from collections.abc import Callable
from fractions import Fraction

import pytest

from tacit.errors import SettingError
from tacit.privacy.event import DiscreteGaussian, Gaussian, Laplace, ObjectivePerturbation, Votes


def test_ratios_are_exact_and_the_right_way_up() -> None:
    assert Gaussian(9, 36).mu_squared == Fraction(1, 4)
    assert DiscreteGaussian(2, 100, coordinates=7).mu_squared == Fraction(1, 50)
    assert Votes(1600, queries=100).mu_squared == Fraction(1, 8)


def test_t18_laplace_epsilon_is_sensitivity_over_scale() -> None:
    assert Laplace(1, 4).epsilon == Fraction(1, 4)
    assert Laplace(3, 4).epsilon > Laplace(1, 4).epsilon > Laplace(1, 5).epsilon


def test_objective_perturbation_offers_no_mu() -> None:
    event = ObjectivePerturbation(1, 16, Fraction(1, 40), 1)
    assert not hasattr(event, "mu_squared")
    assert not hasattr(event, "mu")


@pytest.mark.parametrize(
    "build",
    [
        lambda: Gaussian(1, 0),
        lambda: Gaussian(-1, 1),
        lambda: DiscreteGaussian(Fraction(1, 2), 1),  # type: ignore[arg-type]
        lambda: DiscreteGaussian(1, 0),
        lambda: DiscreteGaussian(1, 1, coordinates=0),
        lambda: Laplace(-1, 1),
        lambda: Laplace(1, 0),
        lambda: Laplace(1, -0.5),
        lambda: Laplace(1, float("nan")),
        lambda: Votes(0),
        lambda: Votes(1, queries=0),
        lambda: ObjectivePerturbation(1, 1, -1, 1),
        lambda: ObjectivePerturbation(1, 1, 1, 3),
        lambda: ObjectivePerturbation(1, 0, 1, 1),
        lambda: ObjectivePerturbation(1, 1, 1, 1, label="a\tb\n"),
    ],
)
def test_what_is_no_release_is_refused(build: Callable[[], object]) -> None:
    with pytest.raises(SettingError):
        build()
