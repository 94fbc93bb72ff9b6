"""Perturbed minima: hidden how."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import optimize, stats

from tacit.contract.accuracy_of_minimum import FARTHEST, Accuracy
from tacit.contract.query import PerturbedMinimum
from tacit.contract.sensitivity import MinimumPrice, Price, SoftmaxPrice, TwoSignedPrice, ridge_of
from tacit.errors import SettingError
from tacit.losses import classification, poisson, regression
from tacit.mechanisms import objective_perturbation as objective
from tacit.mechanisms.certified_minimum import find_minimum
from tacit.mechanisms.newton_direction import square
from tacit.mechanisms.objective_perturbation import answer_perturbed_minimum
from tacit.noise.entropy import SeededEntropy
from tacit.noise.gaussian import rounded_gaussian
from tests.mechanisms.minimum_tables import CLIP, PRICE, QUERY, RNG, TABLES, WIDTH, Rows, exact_gradient, make, table
from tests.rows.memory_stores import memory_store
from tests.rows.person_stores import person_store


@pytest.mark.parametrize("case", ["usual", "separable", "far out and usual"])
def test_neighbours_with_one_exact_minimiser_have_integers_within_the_bound(case: str) -> None:
    """The claim behind the second event: tables and noises with the same minimum, on the lattice.

    For a given point and table there is one noise whose minimiser the point is. It is rounded to
    the lattice as the mechanism's is, and the integers of both tables are compared.
    """
    values = TABLES[case]
    others = values.copy()
    others[0] = [40.0, -3.0, 1.0, 1.0 - values[0, WIDTH]]
    blank = values.copy()
    blank[0] = 0.0
    for _ in range(3):
        point = RNG.normal(size=WIDTH)
        integers = []
        for rows in (values, others, blank):
            bare = make(rows, [0] * WIDTH)
            with mpmath.workdps(60):
                at = [mpmath.mpf(float(entry)) for entry in point]
                needed = exact_gradient(bare, rows, at)
                drawn = [int(mpmath.nint(-entry * PRICE.bound / CLIP)) for entry in needed]
            found = make(rows, drawn)
            theta = find_minimum(found)
            assert np.linalg.norm(theta - point) * CLIP <= found.accuracy.drift + 1e-15
            step = Fraction(found.accuracy.step(PRICE, WIDTH)) / Fraction(CLIP)
            integers.append([round(Fraction(float(entry)) / step) for entry in theta])
        for one in integers:
            for other in integers:
                gaps = [Fraction(a - b) for a, b in zip(one, other, strict=True)]
                assert square(gaps) <= PRICE.drift.bound**2


def test_the_answer_is_that_of_an_independent_minimiser() -> None:
    values = TABLES["usual"]
    X, y = values[:, :WIDTH], values[:, WIDTH]
    weight = np.minimum(1.0, CLIP**2 / np.square(X).sum(axis=1))
    ridge = CLIP**2 / 4 * 2
    drawn = rounded_gaussian(WIDTH, PRICE.bits, SeededEntropy(5))
    push = drawn * CLIP / PRICE.bound

    def value(theta: Rows) -> float:
        z = X @ theta
        losses = weight @ (np.logaddexp(0, z) - y * z)
        return float(losses + ridge / 2 * theta @ theta + push @ theta)

    expected = optimize.minimize(value, np.zeros(WIDTH), method="BFGS", options={"gtol": 1e-8}).x
    answer = answer_perturbed_minimum(QUERY, PRICE, memory_store(values), SeededEntropy(5))
    np.testing.assert_allclose(answer.value, expected, atol=2e-5)
    assert answer.noise_scale == CLIP * 2.0**50 / 2**48


@pytest.mark.parametrize("draw", [2**62, -(2**62), 40 * 2**50, 0])
def test_any_noise_is_answered(draw: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def extreme(size: int, _bits: int, _entropy: object) -> NDArray[np.int64]:
        return np.full(size, draw, dtype=np.int64)

    monkeypatch.setattr(objective, "rounded_gaussian", extreme)
    for case in ("usual", "zeros", "separable"):
        store = memory_store(TABLES[case])
        answer = answer_perturbed_minimum(QUERY, PRICE, store, SeededEntropy(0))
        assert np.isfinite(answer.value).all()
    # On a table of zeros the minimum is minus the linear noise over the ridge, cut at 40.
    kept = max(-FARTHEST << 50, min(draw, FARTHEST << 50))
    found = make(TABLES["zeros"], [kept] * WIDTH)
    expected = -kept / PRICE.bound * CLIP / found.ridge
    np.testing.assert_allclose(find_minimum(found), expected, rtol=1e-9, atol=1e-12)


def test_t12_the_linear_noise_has_the_scale_that_is_stated() -> None:
    """900 coordinates on a table of zeros; ratio of variances chi-square, false alarms 1e-6."""
    store, entropy = memory_store(np.zeros((5, WIDTH + 1))), SeededEntropy(8)
    ridge = ridge_of(PRICE, CLIP, classification.LOGISTIC)
    answers = [answer_perturbed_minimum(QUERY, PRICE, store, entropy) for _ in range(300)]
    noise = np.array([answer.value for answer in answers]) * ridge / answers[0].noise_scale
    low, high = stats.chi2.ppf([5e-7, 1 - 5e-7], noise.size)
    assert low < np.square(noise).sum() < high


def test_t16_answers_of_any_two_tables_lie_on_one_lattice() -> None:
    price = MinimumPrice(2**20, 20, Fraction(1, 2), Price(2**7, 9))
    width = Accuracy.of(price, classification.LOGISTIC, records=40, width=WIDTH).step(price, WIDTH) / CLIP
    for values in (TABLES["zeros"], TABLES["usual"][:40]):
        for seed in range(10):
            answer = answer_perturbed_minimum(QUERY, price, memory_store(values), SeededEntropy(seed))
            steps = answer.value / width
            np.testing.assert_allclose(steps, np.rint(steps), atol=1e-3)


def test_t20_answers_do_not_depend_on_blocks_threads_or_order(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.vstack([table(400), TABLES["far out"]])
    reference = answer_perturbed_minimum(QUERY, PRICE, memory_store(values), SeededEntropy(1))
    for threads in ("1", "3"):
        monkeypatch.setenv("TACIT_THREADS", threads)
        store = memory_store(values[RNG.permutation(len(values))], 128)
        again = answer_perturbed_minimum(QUERY, PRICE, store, SeededEntropy(1))
        np.testing.assert_array_equal(again.value, reference.value)


def test_weights_and_float32_records_are_minimised_as_they_are() -> None:
    values = TABLES["usual"].astype(np.float32)
    doubled = np.vstack([values, values])
    half = np.column_stack([doubled, np.full(len(doubled), 0.5, dtype=np.float32)])
    one = answer_perturbed_minimum(QUERY, PRICE, memory_store(values), None)
    two = answer_perturbed_minimum(QUERY, PRICE, memory_store(half, weighted=True), None)
    np.testing.assert_allclose(one.value, two.value, atol=1e-9)


def test_what_has_no_proof_is_refused() -> None:
    for loss, missing in (
        (regression.SQUARED, "slope is not bounded"),
        (regression.huber(1.0, relative=True), "scale"),
        (poisson.loss(1.0, 3.0), "not proven"),
    ):
        with pytest.raises(SettingError, match=missing):
            PerturbedMinimum(1.0, loss=loss)
    with pytest.raises(SettingError, match="softmax"):
        PerturbedMinimum(1.0, classes=3)
    # A price of another kind of loss would claim too little.
    numbers = PRICE.bound, PRICE.bits, PRICE.ratio, PRICE.drift
    for query, price in (
        (PerturbedMinimum(CLIP, loss=regression.huber(1.0)), PRICE),
        (PerturbedMinimum(CLIP, loss=classification.SOFTMAX, classes=3), PRICE),
        (PerturbedMinimum(CLIP, loss=classification.SOFTMAX, classes=3), SoftmaxPrice(*numbers, 2)),
        (QUERY, TwoSignedPrice(*numbers)),
    ):
        with pytest.raises(SettingError, match="price is not that"):
            answer_perturbed_minimum(query, price, memory_store(TABLES["usual"]), SeededEntropy(0))
    shifted = memory_store(np.zeros((4, WIDTH + 2)), shifted=True)
    people = person_store([np.zeros((2, WIDTH + 1))], unit_rows=2)
    for store in (shifted, people):
        with pytest.raises(SettingError, match="plain records"):
            answer_perturbed_minimum(QUERY, PRICE, store, SeededEntropy(0))


def test_the_answer_of_several_classes_has_a_column_a_class() -> None:
    """Without noise it is the ridge minimiser of scipy, to 1e-6."""
    classes = 3
    values = TABLES["usual"].copy()
    values[:, WIDTH] = (values[:, 0] > 0) + (values[:, 1] > 0.5)
    X, y = values[:, :WIDTH], values[:, WIDTH].astype(int)
    price = SoftmaxPrice(PRICE.bound, PRICE.bits, PRICE.ratio, PRICE.drift, classes)
    query = PerturbedMinimum(CLIP, loss=classification.SOFTMAX, classes=classes)
    ridge, weight = CLIP**2 / 2 / 0.5, np.minimum(1.0, CLIP**2 / np.square(X).sum(axis=1))

    def value(flat: Rows) -> float:
        z = X @ flat.reshape(WIDTH, classes)
        losses = np.logaddexp.reduce(z, axis=1) - z[np.arange(len(y)), y]
        return float(weight @ losses + ridge / 2 * flat @ flat)

    def slope(flat: Rows) -> Rows:
        z = X @ flat.reshape(WIDTH, classes)
        gap = np.exp(z - np.logaddexp.reduce(z, axis=1)[:, None]) - (y[:, None] == np.arange(classes))
        return np.asarray((X.T @ (weight[:, None] * gap)).ravel() + ridge * flat)

    start = np.zeros(WIDTH * classes)
    expected = optimize.minimize(value, start, method="BFGS", jac=slope, options={"gtol": 1e-8}).x
    for dtype in (np.float64, np.float32):
        answer = answer_perturbed_minimum(query, price, memory_store(values.astype(dtype)), None)
        assert answer.value.shape == (WIDTH, classes)
        np.testing.assert_allclose(answer.value, expected.reshape(WIDTH, classes), atol=1e-6)
    noisy = answer_perturbed_minimum(query, price, memory_store(values), SeededEntropy(1))
    assert noisy.value.shape == (WIDTH, classes)
    assert noisy.noise_scale == pytest.approx(CLIP * np.sqrt(2) * 4)
