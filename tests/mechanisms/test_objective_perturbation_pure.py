"""Perturbed minima at δ = 0: the law of both noises, and what hides how the minimum was computed."""

import math
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import stats

from tacit.contract.accuracy_of_minimum import PURE_DRIFT, Accuracy, pure_cover_scale
from tacit.contract.query import PerturbedMinimum
from tacit.contract.sensitivity import PurePrice, ridge_of
from tacit.errors import SettingError
from tacit.losses import classification, regression
from tacit.mechanisms import objective_perturbation as objective
from tacit.mechanisms.certified_minimum import Objective, find_minimum
from tacit.mechanisms.newton_direction import square
from tacit.mechanisms.objective_perturbation import answer_perturbed_minimum
from tacit.noise.entropy import SeededEntropy
from tests.mechanisms.minimum_tables import CLIP, QUERY, RNG, TABLES, WIDTH, exact_gradient
from tests.rows.memory_stores import memory_store

PRICE = PurePrice(2**48, 50, Fraction(1, 2), Fraction(1, 200))
HUBER = PerturbedMinimum(CLIP, loss=regression.huber(0.5))
SOFTMAX = PerturbedMinimum(CLIP, loss=classification.SOFTMAX, classes=3)


def test_t17_the_linear_noise_has_a_gamma_norm_and_any_direction() -> None:
    """600 minima of a table of zeros; Kolmogorov's distance, false alarms 1e-6 for norm and for direction."""
    store, entropy, draws = memory_store(np.zeros((5, WIDTH + 1))), SeededEntropy(8), 600
    ridge = ridge_of(PRICE, CLIP, classification.LOGISTIC)
    answers = [answer_perturbed_minimum(QUERY, PRICE, store, entropy) for _ in range(draws)]
    noise = np.array([answer.value for answer in answers]) * ridge / CLIP
    norms = np.linalg.norm(noise, axis=1)
    most = math.sqrt(math.log(2 / 1e-6) / (2 * draws))
    assert stats.kstest(norms, stats.gamma(WIDTH, scale=4.0).cdf).statistic < most
    # A coordinate of a uniform direction in three dimensions is uniform.
    assert stats.kstest(noise[:, 0] / norms, stats.uniform(-1, 2).cdf).statistic < most
    # A seeded fault, half the scale, is seen.
    assert stats.kstest(norms / 2, stats.gamma(WIDTH, scale=4.0).cdf).statistic > most
    assert answers[0].noise_scale == pytest.approx(CLIP * 4 * math.sqrt(WIDTH + 1))


@pytest.mark.parametrize("query", [QUERY, HUBER, SOFTMAX], ids=["logistic", "huber", "softmax"])
def test_neighbours_with_one_exact_minimiser_have_integers_within_the_bound(query: PerturbedMinimum) -> None:
    """For a given point and table there is one noise whose minimiser the point is; the integers are compared."""
    price = replace(PRICE, classes=query.classes)
    size = WIDTH * query.classes
    values = TABLES["usual"].copy()
    others, blank = values.copy(), values.copy()
    others[0] = [40.0, -3.0, 1.0, 1.0 - values[0, WIDTH]]
    blank[0] = 0.0
    ridge = ridge_of(price, CLIP, query.loss)
    accuracy = Accuracy.of(price, query.loss, records=len(values), width=WIDTH)
    step = Fraction(accuracy.step(price, size)) / Fraction(CLIP)
    for _ in range(3):
        point, integers = RNG.normal(size=size), []
        for rows in (values, others, blank):
            still = Objective(query, memory_store(rows), ridge, [Fraction(0)] * size, accuracy)
            with mpmath.workdps(60):
                at = [mpmath.mpf(float(entry)) for entry in point]
                needed = [
                    Fraction(int(mpmath.nint(-entry * 2**120)), 2**120) for entry in exact_gradient(still, rows, at)
                ]
            theta = find_minimum(replace(still, linear=needed))
            assert np.linalg.norm(theta - point) * CLIP <= accuracy.drift
            integers.append([round(Fraction(float(entry)) / step) for entry in theta])
        for one in integers:
            for other in integers:
                gaps = [Fraction(a - b) for a, b in zip(one, other, strict=True)]
                assert square(gaps) <= PURE_DRIFT**2
                assert sum(abs(gap) for gap in gaps) <= pure_cover_scale(price, size) * price.cover


def test_the_cover_is_laplace_noise_of_the_stated_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def noted(count: int, scale: Fraction, _entropy: object) -> np.ndarray:
        asked.append((count, scale))
        return np.zeros(count, dtype=np.int64)

    monkeypatch.setattr(objective, "discrete_laplace", noted)
    answer = answer_perturbed_minimum(QUERY, PRICE, memory_store(TABLES["usual"]), SeededEntropy(1))
    ((count, scale),) = asked
    assert count == WIDTH
    assert float(scale) == pytest.approx(math.sqrt(WIDTH) * PURE_DRIFT * 200, rel=1e-5)
    # What it hides is far below what the budget hides.
    width = Accuracy.of(PRICE, classification.LOGISTIC, records=300, width=WIDTH).step(PRICE, WIDTH) / CLIP
    np.testing.assert_allclose(answer.value / width, np.rint(answer.value / width), atol=1e-3)
    assert float(scale) * width < 1e-5


def test_the_largest_noise_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    """45 exponentials a coordinate are the most that the sampler draws."""
    monkeypatch.setattr(
        objective, "gamma_directions", lambda _count, size, scale, _entropy: np.full((1, size), 45 * scale * size**0.5)
    )
    for case in ("usual", "zeros", "separable"):
        answer = answer_perturbed_minimum(QUERY, PRICE, memory_store(TABLES[case]), SeededEntropy(0))
        assert np.isfinite(answer.value).all()


def test_a_price_of_other_classes_is_refused() -> None:
    with pytest.raises(SettingError, match="price is not that"):
        answer_perturbed_minimum(SOFTMAX, PRICE, memory_store(TABLES["usual"]), SeededEntropy(0))
