"""Laws of noised answers on two tables: ratios of densities, and shifts against prices."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from tacit.audit.answer_laws import AuditedTable, MinimumLaw, NoiseLaw, gaussian_log_ratio, law_of, on_lattice
from tacit.audit.single_answers import LAST, NOTHING, minimum_price, prepared_table
from tacit.contract.query import Answer, PerturbedMinimum, QueryKind
from tacit.contract.sensitivity import GammaPrice, LaplacePrice, Price, ridge_of
from tacit.losses import classification
from tacit.privacy.relation import Relation
from tacit.rows.storage.record_store import MemoryStore

FIRST, SECOND, ANSWER = np.array([0.0, 1.0]), np.array([3.0, -3.0]), np.array([0.3, 0.7])


def test_the_ratio_of_a_gaussian_answer_is_that_of_its_densities() -> None:
    first, second, answer = np.array([0.0, 1.0]), np.array([2.0, -1.0]), np.array([0.3, 0.7])
    expected = np.sum(stats.norm.logpdf(answer, second, 1.5) - stats.norm.logpdf(answer, first, 1.5))
    assert gaussian_log_ratio(first, second, Answer(answer, 1.5)) == pytest.approx(expected)


def test_the_ratios_of_pure_answers_are_those_of_their_densities() -> None:
    """Units are steps of the lattice over 4, and the scale is 4 steps: 1."""
    laplace = NoiseLaw(QueryKind.GRADIENT, LaplacePrice(100, 2, 2), FIRST, SECOND)
    expected = np.sum(stats.laplace.logpdf(ANSWER, SECOND) - stats.laplace.logpdf(ANSWER, FIRST))
    assert laplace.log_ratio(Answer(ANSWER, np.sqrt(2.0))) == pytest.approx(expected)
    gamma = NoiseLaw(QueryKind.NOISY_MINIMUM, GammaPrice(100, 2), FIRST, SECOND)
    far = np.linalg.norm(ANSWER - FIRST) - np.linalg.norm(ANSWER - SECOND)
    assert gamma.log_ratio(Answer(ANSWER, np.sqrt(3.0))) == pytest.approx(far)


@pytest.mark.parametrize(
    ("price", "deviation", "realised", "paid"),
    [
        (Price(100, 2), 1.0, Fraction(25), Fraction(100**2, 16)),
        (LaplacePrice(100, 2, 2), np.sqrt(2.0), Fraction(7), Fraction(142, 4)),
        (GammaPrice(100, 2), np.sqrt(3.0), Fraction(5), Fraction(100, 4)),
    ],
)
def test_shifts_are_measured_in_the_norm_of_the_noise(
    price: Price | LaplacePrice | GammaPrice, deviation: float, realised: Fraction, paid: Fraction
) -> None:
    """Steps of (12, -16): a norm of 5 scales, and a sum of 7."""
    kind = QueryKind.NOISY_MINIMUM if isinstance(price, GammaPrice) else QueryKind.GRADIENT
    law = NoiseLaw(kind, price, FIRST, SECOND)
    (shift,) = law.shifts(Answer(ANSWER, deviation), Relation.ZERO_OUT, 1)
    assert (shift.kind, shift.realised, shift.paid) == (kind, realised, paid)


def test_sums_that_are_off_their_lattice_are_a_fault() -> None:
    assert on_lattice(np.array([[3.0, -2.0000001]])) == [3, -2]
    with pytest.raises(AssertionError, match="lattice"):
        on_lattice(np.array([0.5]))


def test_densities_of_minima_integrate_to_one_and_agree_with_brute_force() -> None:
    """One record on the intercept against none: θ = -b / λ in one world, and a scalar equation in the other."""
    price, query = minimum_price(1.0, Relation.ZERO_OUT, 2), PerturbedMinimum(1.0)
    tables = [AuditedTable(prepared_table([row, NOTHING], MemoryStore), {}) for row in (NOTHING, (LAST, 1.0))]
    ridge, scale = ridge_of(price, 1.0, classification.LOGISTIC), 2.0**price.bits / price.bound
    grid = np.linspace(-60, 60, 801)
    blank = stats.norm.pdf(grid, 0, scale / ridge)
    law = law_of(query, price, tables)
    assert isinstance(law, MinimumLaw)
    points = [np.array([0.0, 0.0, at]) for at in grid]
    density = blank * np.exp([law.log_ratio(Answer(at, 1.0)) for at in points])
    assert np.trapezoid(density, grid) == pytest.approx(1.0, abs=1e-6)
    probability = 1 / (1 + np.exp(-grid))
    tilt = -(probability - 1.0 + ridge * grid)
    direct = stats.norm.pdf(tilt, 0, scale) * (probability * (1 - probability) + ridge)
    # Curvatures are of rows with 18 bits.
    np.testing.assert_allclose(density, direct, rtol=1e-5, atol=1e-12)
    tilts = [law.tilts(at) for at in points]
    np.testing.assert_allclose([(it.second - it.first)[-1] for it in tilts], 1.0 - probability, atol=1e-9)
