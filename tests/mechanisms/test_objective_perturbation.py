"""Perturbed minima: found beyond doubt on any table, and hidden how."""

from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import optimize, stats

from tacit.contract.query import PerturbedMinimum
from tacit.contract.sensitivity import FARTHEST, Accuracy, MinimumPrice, Price, ridge_of
from tacit.errors import SettingError
from tacit.losses import classification, regression
from tacit.mechanisms import objective_perturbation as objective
from tacit.mechanisms.newton_direction import square
from tacit.mechanisms.objective_perturbation import (
    Objective,
    answer_perturbed_minimum,
    descend_to_minimum,
    find_minimum,
)
from tacit.noise.entropy import SeededEntropy
from tacit.noise.gaussian import rounded_gaussian
from tests.rows.memory_stores import memory_store
from tests.rows.person_stores import person_store

RNG = np.random.default_rng(23)
WIDTH = 3
CLIP = 1.5
PRICE = MinimumPrice(2**48, 50, Fraction(1, 2), Price(2**10, 12))
QUERY = PerturbedMinimum(CLIP)

Rows = NDArray[np.float64]


def table(rows: int) -> Rows:
    values = RNG.normal(size=(rows, WIDTH + 1))
    values[:, WIDTH] = RNG.random(rows) < 1 / (1 + np.exp(-values[:, 0]))
    return values


def separable() -> Rows:
    values = RNG.uniform(0.1, 3.0, (200, WIDTH + 1))
    values[::2, :WIDTH] *= -1
    values[:, WIDTH] = values[:, 0] > 0
    return values


TABLES: dict[str, Rows] = {
    "usual": table(300),
    "one record": table(1),
    "zeros": np.zeros((40, WIDTH + 1)),
    "separable": separable(),
    "duplicates": np.repeat(table(2), 150, axis=0),
    "far out": table(90) * np.array([1e30, 1e-30, 1.0, 1.0]),
    "far out and usual": np.vstack([table(200), table(20) * np.array([1e6, 1e6, 1e6, 1.0])]),
    "tiny": table(70) * np.array([1e-3, 1e-200, 1e-3, 1.0]),
    "one label": table(100) * np.array([1.0, 1.0, 1.0, 0.0]),
}


def make(values: Rows, drawn: list[int], price: MinimumPrice = PRICE, **layout: Any) -> Objective:
    """The objective of a table and integers of noise."""
    store = memory_store(values, **layout)
    accuracy = Accuracy.of(price, records=store.length, width=store.width, smoothness=0.25)
    linear = [draw * Fraction(CLIP) / price.bound for draw in drawn]
    return Objective(QUERY, store, ridge_of(price, CLIP, classification.LOGISTIC), linear, accuracy)


def exact_gradient(found: Objective, values: Rows, theta: Any) -> list[Any]:
    """The gradient in 60 digits, from the definition."""
    total = [mpmath.mpf(found.ridge) * at for at in theta]
    for j, push in enumerate(found.linear):
        total[j] += mpmath.mpf(push.numerator) / push.denominator
    for row in values:
        z = [mpmath.mpf(float(cell)) for cell in row[:WIDTH]]
        norm = sum(cell * cell for cell in z)
        weight = min(mpmath.mpf(1), mpmath.mpf(CLIP) ** 2 / norm) if norm else mpmath.mpf(1)
        margin = sum(cell * at for cell, at in zip(z, theta, strict=True))
        slope = 1 / (1 + mpmath.exp(-margin)) - float(row[WIDTH])
        total = [entry + weight * slope * cell for entry, cell in zip(total, z, strict=True)]
    return total


def exact_norm(vector: list[Any]) -> Any:
    return mpmath.sqrt(sum(entry * entry for entry in vector))


@pytest.mark.parametrize("case", TABLES)
def test_t07_the_gradient_is_small_beyond_doubt_on_any_table(case: str) -> None:
    values = TABLES[case]
    drawn = [int(k) for k in rounded_gaussian(WIDTH, PRICE.bits, SeededEntropy(len(case)))]
    found = make(values, drawn)
    theta = find_minimum(found)
    with mpmath.workdps(60):
        at = [mpmath.mpf(float(entry)) for entry in theta]
        norm = exact_norm(exact_gradient(found, values, at))
        assert norm <= (found.accuracy.tolerance + found.accuracy.error) * CLIP
        # The integers are off by no more than they claim, at the point and at another.
        for point in (theta, theta + RNG.normal(size=WIDTH)):
            claimed = found.gradient(point)
            true = exact_gradient(found, values, [mpmath.mpf(float(entry)) for entry in point])
            gaps = [
                mpmath.mpf(entry.numerator) / entry.denominator - other
                for entry, other in zip(claimed, true, strict=True)
            ]
            assert exact_norm(gaps) <= found.accuracy.error * CLIP
    assert np.linalg.norm(theta) * CLIP <= found.accuracy.radius


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


def test_descent_alone_finds_a_point(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Newton's method gives up, descent does not; both are within the drift of each other."""
    found = make(TABLES["usual"][:20], [3 * 2**50, -(2**49), 0])
    quick = find_minimum(found)
    monkeypatch.setattr(objective, "_newton_step", lambda *_: None)
    slow = find_minimum(found)
    np.testing.assert_array_equal(slow, descend_to_minimum(found))
    assert found.accepts(slow, found.gradient(slow))
    assert np.linalg.norm(slow - quick) * CLIP <= 2 * found.accuracy.drift


@pytest.mark.parametrize("ratio", [2**10, 2**15, 2**20])
@pytest.mark.parametrize("case", [*TABLES, "one row, both labels"])
def test_t40_newton_ends_where_curvatures_lie_far_apart(case: str, ratio: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Descent would end as well, in n·ratio steps: on such a table nobody would wait for it."""
    values = TABLES.get(case, np.repeat(table(1), 2048, axis=0))
    if case not in TABLES:
        values[::2, WIDTH] = 1 - values[::2, WIDTH]
    monkeypatch.delattr(objective, "descend_to_minimum")
    price = MinimumPrice(2**48, 50, Fraction(ratio), Price(2**10, 12))
    for seed in range(3):
        drawn = [int(k) for k in rounded_gaussian(WIDTH, 50, SeededEntropy(seed))]
        found = make(values, drawn, price)
        theta = find_minimum(found)
        assert found.accepts(theta, found.gradient(theta))


def test_t40_a_curvature_without_eigenvalues_is_left_to_descent(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(_matrix: object) -> None:
        raise np.linalg.LinAlgError

    found = make(TABLES["usual"][:20], [0, 2**50, 0])
    monkeypatch.setattr(np.linalg, "eigh", failing)
    np.testing.assert_array_equal(find_minimum(found), descend_to_minimum(found))


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
    width = Accuracy.of(price, records=40, width=WIDTH, smoothness=0.25).step(price, WIDTH) / CLIP
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


def test_the_compiled_sigmoid_is_as_exact_as_the_proof_says() -> None:
    """Slopes within 8 units of 2^-53 of the true ones, over all scales of margins."""
    margins = np.concatenate([RNG.normal(size=400) * 10.0 ** RNG.integers(-8, 4, 400), [0.0, 800]])
    for label in (0.0, 1.0):
        found = [classification.logistic_slope(float(m), label) for m in margins]
        with mpmath.workdps(40):
            true = [1 / (1 + mpmath.exp(-mpmath.mpf(float(m)))) - label for m in margins]
            worst = max(abs(mpmath.mpf(float(a)) - b) for a, b in zip(found, true, strict=True))
        assert worst <= 8 * 2.0**-53


def test_what_has_no_proof_is_refused() -> None:
    with pytest.raises(SettingError, match="logistic"):
        PerturbedMinimum(1.0, loss=regression.huber(1.0))
    shifted = memory_store(np.zeros((4, WIDTH + 2)), shifted=True)
    people = person_store([np.zeros((2, WIDTH + 1))], unit_rows=2)
    for store in (shifted, people):
        with pytest.raises(SettingError, match="plain records"):
            answer_perturbed_minimum(QUERY, PRICE, store, SeededEntropy(0))
