"""Noisy minima: how far neighbours move them, the law of the noise, and that nothing else shows."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import optimize, stats

from tacit.contract.accuracy_of_minimum import minimum_accuracy, minimum_step
from tacit.contract.query import NoisyMinimum
from tacit.contract.sensitivity import GammaPrice, Price
from tacit.errors import SettingError
from tacit.losses import classification, regression
from tacit.losses.loss import Loss
from tacit.mechanisms import output_perturbation as output
from tacit.mechanisms.certified_minimum import Objective, find_minimum
from tacit.mechanisms.output_perturbation import answer_noisy_minimum, integer_minimum
from tacit.noise.entropy import SeededEntropy
from tacit.noise.gaussian import rounded_gaussian
from tests.rows.memory_stores import memory_store
from tests.rows.person_stores import person_store

RNG = np.random.default_rng(41)
WIDTH, CLIP = 3, 1.5
PRICE = Price(2**24, 20)
GAMMA = GammaPrice(2**24, 20)
HINGE, HUBER, PINBALL = classification.hinge(0.25), regression.huber(0.3), regression.pinball(0.2, 0.1)
LOSSES = [classification.LOGISTIC, HINGE, HUBER, PINBALL]
Rows = NDArray[np.float64]


def table(rows: int, seed: int = 0) -> Rows:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(rows, WIDTH + 1))
    values[:, WIDTH] = rng.random(rows) < 1 / (1 + np.exp(-values[:, 0]))
    return values


def distance(one: list[int], other: list[int]) -> float:
    return float(np.linalg.norm([float(a - b) for a, b in zip(one, other, strict=True)]))


def moved(query: NoisyMinimum, first: Rows, second: Rows) -> float:
    """Distance of the integers of two tables, over the bound."""
    one, other = (integer_minimum(query, PRICE, memory_store(values))[0] for values in (first, second))
    return distance(one, other) / PRICE.bound


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("ridge", [0.02, 1.0, 50.0])
def test_neighbours_move_the_integers_by_at_most_the_bound(loss: Loss, ridge: float) -> None:
    """Random tables and bad records: far out, opposite label, along the flattest direction."""
    query = NoisyMinimum(CLIP, ridge, loss=loss)
    for seed in range(3):
        values = table(12, seed)
        for bad in ([1e6, 0, 0, 1], [-1e6, 1, 1, 0], [0, 0, CLIP, 0], [0, 0, 0, 1], [1e-3, 0, 1e-3, 1]):
            others, blank = values.copy(), values.copy()
            others[0], blank[0] = bad, 0.0
            assert moved(query, values, others) <= 2.0
            assert moved(query, others, blank) <= 1.0


def cornered(count: int, sign: float, label: float) -> Rows:
    """`count` records that push one way with the steepest slope, and one more with this direction and label."""
    values = np.zeros((count + 1, WIDTH + 1))
    values[:, 0] = CLIP
    values[-1] = [sign * CLIP, 0.0, 0.0, label]
    return values


@pytest.mark.parametrize("count", [1, 10, 1000])
def test_t06_worst_neighbours_reach_the_bound_however_many_records_there_are(count: int) -> None:
    """In the linear part of the hinge curvature is 0: a label moves the minimum by exactly 2·clip / ridge."""
    query = NoisyMinimum(CLIP, ridge=4 * CLIP**2 * (count + 1), loss=HINGE)
    # All margins stay below 1 - width, where the slope is 1.
    first, second = cornered(count, 1.0, 0.0), cornered(count, 1.0, 1.0)
    assert 1.96 < moved(query, first, second) <= 2.0
    blank = second.copy()
    blank[-1] = 0.0
    assert 0.98 < moved(query, second, blank) <= 1.0


def test_t06_the_running_mean_is_no_excuse() -> None:
    """A mean over n records moves by 2 / (n + ridge): less than is charged, but what is charged knows no n."""
    charged = []
    for count in (10, 1000):
        query = NoisyMinimum(1.0, 5.0, loss=regression.huber(1.0))
        values = np.zeros((count, 2))
        values[:, 0], values[:, 1] = 1.0, 0.5
        store = memory_store(values)
        found = answer_noisy_minimum(query, PRICE, store, None).value[0]
        assert abs(found - 0.5 * count / (count + 5)) < 1e-9
        charged.append(answer_noisy_minimum(query, PRICE, store, SeededEntropy(0)).noise_scale)
    assert abs(charged[0] / charged[1] - 1) < 1e-6


def test_t07_the_intercept_is_penalised_like_a_slope() -> None:
    """All labels alike: without its ridge the intercept would run away, and one label would move it any distance."""
    values = np.zeros((50, WIDTH + 1))
    values[:, WIDTH - 1], values[:, WIDTH] = 1.0, 1.0
    others = values.copy()
    others[0, WIDTH] = 0.0
    query = NoisyMinimum(1.0, 0.05)
    assert moved(query, values, others) <= 2.0

    def free_intercept(labels: Rows) -> float:
        """The seeded fault: the intercept has a ridge of 1e-6 only."""
        slope = lambda at: np.sum(1 / (1 + np.exp(-at)) - labels) + 1e-6 * at  # noqa: E731
        return float(optimize.brentq(slope, -50, 50))

    gap = abs(free_intercept(values[:, WIDTH]) - free_intercept(others[:, WIDTH]))
    step = minimum_step(query, PRICE, minimum_accuracy(query, records=50, width=WIDTH), width=WIDTH)
    assert gap > 0.25 * float(2 * PRICE.bound * step)
    tight = NoisyMinimum(1.0, 1.0)
    step = minimum_step(tight, PRICE, minimum_accuracy(tight, records=50, width=WIDTH), width=WIDTH)
    assert gap > float(2 * PRICE.bound * step)


@pytest.mark.parametrize("loss", [classification.LOGISTIC, HINGE, HUBER], ids=lambda loss: loss.name)
def test_the_farthest_accepted_points_are_within_the_bound(loss: Loss, monkeypatch: pytest.MonkeyPatch) -> None:
    """Inexact minimisers: points pushed apart until they are nearly refused still move by at most the bound."""
    honest = find_minimum
    query = NoisyMinimum(CLIP, ridge=4 * CLIP**2 * loss.lipschitz * 4, loss=loss)
    # Fewer digits, so that what is accepted is visible on the lattice.
    price = Price(2**48, 48)
    first, second = cornered(3, 1.0, 0.0), cornered(3, 1.0, 1.0)

    def pushed(sign: float) -> Any:
        def search(objective: Objective) -> Rows:
            theta, direction, far = honest(objective), np.array([sign, 0.0, 0.0]), 1e-18
            while objective.accepts(trial := theta + 2 * far * direction, objective.gradient(trial)):
                far *= 2
            return theta + far * direction

        return search

    integers = []
    for values, sign in ((first, -1.0), (second, 1.0)):
        monkeypatch.setattr(output, "find_minimum", pushed(sign))
        integers.append(integer_minimum(query, price, memory_store(values))[0])
    monkeypatch.setattr(output, "find_minimum", honest)
    exact = [integer_minimum(query, price, memory_store(values))[0] for values in (first, second)]
    assert distance(*integers) > distance(*exact) + 10
    assert distance(*integers) <= 2 * price.bound


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_without_noise_it_is_the_minimiser_of_scipy(loss: Loss) -> None:
    values, ridge = table(200, 7), 3.0
    X, y = values[:, :WIDTH], values[:, WIDTH]
    weight = np.minimum(1.0, CLIP**2 / np.square(X).sum(axis=1))
    query = NoisyMinimum(CLIP, ridge, loss=loss)

    def slope(z: Rows) -> Rows:
        match loss.name:
            case "logistic":
                return np.asarray(1 / (1 + np.exp(-z)) - y)
            case "huberised-hinge":
                sign = 2 * y - 1
                return np.asarray(-sign * np.clip((1.25 - sign * z) / 0.5, 0, 1))
            case "huber":
                return np.clip(z - y, -0.3, 0.3)
        return np.clip((0.1 + z - y) / 0.2, 0, 1) - 0.2

    def gradient(theta: Rows) -> Rows:
        return np.asarray(X.T @ (weight * slope(X @ theta)) + ridge * theta)

    expected = optimize.root(gradient, np.zeros(WIDTH), tol=1e-13, method="hybr").x
    found = answer_noisy_minimum(query, PRICE, memory_store(values), None)
    assert found.noise_scale == 0.0
    np.testing.assert_allclose(found.value, expected, atol=1e-7)


def test_several_classes_are_answered_and_bounded() -> None:
    values = table(60, 3)
    values[:, WIDTH] = np.arange(60) % 3
    query = NoisyMinimum(CLIP, 2.0, loss=classification.SOFTMAX, classes=3)
    answer = answer_noisy_minimum(query, PRICE, memory_store(values), SeededEntropy(1))
    assert answer.value.shape == (WIDTH, 3)
    for label in (0, 1, 2):
        others = values.copy()
        others[0] = [9.0, 9.0, -9.0, label]
        assert moved(query, values, others) <= 2.0


def standardised(price: Price | GammaPrice, count: int, fault: float = 1.0) -> Rows:
    """Noise of many answers on one table, over 2^bits steps."""
    store, entropy = memory_store(table(20)), SeededEntropy(9)
    query = NoisyMinimum(CLIP, 2.0)
    integers, step = integer_minimum(query, price, store)
    centre = np.array([float(entry * step) for entry in integers])
    answers = np.array([answer_noisy_minimum(query, price, store, entropy).value for _ in range(count)])
    return np.asarray((answers - centre) / (2.0**price.bits * float(step)) * fault)


@pytest.mark.parametrize(("fault", "rejected"), [(1.0, False), (0.5, True)])
def test_t12_the_noise_is_gaussian_of_the_stated_scale(fault: float, *, rejected: bool) -> None:
    """900 coordinates, Kolmogorov-Smirnov at 1e-6; half the noise is rejected."""
    noise = standardised(PRICE, 300, fault)
    assert bool(stats.kstest(noise.ravel(), stats.norm.cdf).pvalue < 1e-6) is rejected


@pytest.mark.parametrize(("fault", "rejected"), [(1.0, False), (2.0**-20, True), (0.5, True)])
def test_t18_the_pure_noise_has_a_gamma_norm_of_the_stated_scale(fault: float, *, rejected: bool) -> None:
    """300 norms, Kolmogorov-Smirnov at 1e-6; an inverted scale and half the noise are rejected."""
    noise = standardised(GAMMA, 300, fault)
    norms = np.linalg.norm(noise, axis=1)
    assert bool(stats.kstest(norms, stats.gamma(WIDTH).cdf).pvalue < 1e-6) is rejected


def test_the_stated_scale_is_the_deviation_of_a_coordinate() -> None:
    """n = 300 answers of 3 coordinates; Gamma norms have kurtosis 7, so five deviations are 25%."""
    query, store = NoisyMinimum(CLIP, 2.0), memory_store(table(20))
    for price, tolerance in ((PRICE, 0.13), (GAMMA, 0.25)):
        answer = answer_noisy_minimum(query, price, store, SeededEntropy(1))
        _, step = integer_minimum(query, price, store)
        noise = standardised(price, 300) * 2.0**price.bits * float(step)
        assert abs(np.sqrt(np.mean(noise**2)) / answer.noise_scale - 1) < tolerance


@pytest.mark.parametrize("price", [Price(2**10, 9), GammaPrice(2**10, 9)])
def test_t16_answers_of_any_two_tables_lie_on_one_lattice(price: Price | GammaPrice) -> None:
    query = NoisyMinimum(CLIP, 2.0)
    step = float(minimum_step(query, price, minimum_accuracy(query, records=40, width=WIDTH), width=WIDTH))
    for values in (np.zeros((40, WIDTH + 1)), table(40), 1e9 * table(40)):
        values[:, WIDTH] = np.clip(values[:, WIDTH], 0, 1)
        for seed in range(10):
            steps = answer_noisy_minimum(query, price, memory_store(values), SeededEntropy(seed)).value / step
            np.testing.assert_allclose(steps, np.rint(steps), atol=1e-6)


def test_t20_answers_do_not_depend_on_blocks_threads_or_order(monkeypatch: pytest.MonkeyPatch) -> None:
    values, query = np.vstack([table(400), table(60) * [1e6, 1, 1, 1]]), NoisyMinimum(CLIP, 2.0)
    reference = answer_noisy_minimum(query, PRICE, memory_store(values), SeededEntropy(1))
    for threads in ("1", "3"):
        monkeypatch.setenv("TACIT_THREADS", threads)
        store = memory_store(values[RNG.permutation(len(values))], 128)
        again = answer_noisy_minimum(query, PRICE, store, SeededEntropy(1))
        np.testing.assert_array_equal(again.value, reference.value)


def test_weights_count() -> None:
    values = table(100).astype(np.float32)
    doubled = np.vstack([values, values])
    half = np.column_stack([doubled, np.full(len(doubled), 0.5, dtype=np.float32)])
    one = answer_noisy_minimum(NoisyMinimum(CLIP, 2.0), PRICE, memory_store(values), None)
    two = answer_noisy_minimum(NoisyMinimum(CLIP, 2.0), PRICE, memory_store(half, weighted=True), None)
    np.testing.assert_allclose(one.value, two.value, atol=1e-9)


@pytest.mark.parametrize("ridge", [1e-12, 1e-3, 1e12])
def test_t40_any_table_and_ridge_is_answered(ridge: float) -> None:
    separable = table(30)
    separable[:, WIDTH] = separable[:, 0] > 0
    for values in (np.zeros((4, WIDTH + 1)), separable, table(1), np.repeat(table(2), 50, axis=0)):
        answer = answer_noisy_minimum(NoisyMinimum(CLIP, ridge), PRICE, memory_store(values), SeededEntropy(0))
        assert np.isfinite(answer.value).all()


def test_the_integers_are_those_of_exact_rationals() -> None:
    """The released point is (integer + draw)·step, rounded once."""
    query, store = NoisyMinimum(CLIP, 2.0), memory_store(table(20))
    integers, step = integer_minimum(query, PRICE, store)
    drawn = rounded_gaussian(WIDTH, PRICE.bits, SeededEntropy(3))
    expected = [float((entry + int(draw)) * step) for entry, draw in zip(integers, drawn, strict=True)]
    found = answer_noisy_minimum(query, PRICE, store, SeededEntropy(3)).value
    assert found.tolist() == expected
    assert isinstance(step, Fraction)


def test_what_has_no_proof_is_refused() -> None:
    query = NoisyMinimum(CLIP, 2.0)
    shifted = memory_store(np.zeros((4, WIDTH + 2)), shifted=True)
    people = person_store([np.zeros((2, WIDTH + 1))], unit_rows=2)
    for store in (shifted, people):
        with pytest.raises(SettingError, match="plain records"):
            answer_noisy_minimum(query, PRICE, store, SeededEntropy(0))
