"""Minima that are found beyond doubt on any table, for every loss."""

from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import optimize

from tacit.contract.query import PerturbedMinimum
from tacit.contract.sensitivity import MinimumPrice, Price, minimum_price
from tacit.losses import classification, regression
from tacit.losses.loss import Loss
from tacit.mechanisms import certified_minimum as certified
from tacit.mechanisms.certified_minimum import Objective, descend_to_minimum, find_minimum, least_passes
from tacit.noise.entropy import SeededEntropy
from tacit.noise.gaussian import rounded_gaussian
from tests.mechanisms.minimum_tables import (
    CLIP,
    PRICE,
    RNG,
    TABLES,
    WIDTH,
    Rows,
    exact_gradient,
    exact_norm,
    make,
    table,
)

LOSSES = {
    "logistic": (classification.LOGISTIC, 1),
    "hinge": (classification.hinge(), 1),
    "sharp hinge": (classification.hinge(0.01), 1),
    "huber": (regression.huber(0.5), 1),
    "least squares": (regression.huber(2.0), 1),
    "pinball": (regression.pinball(0.8, 0.05), 1),
    "softmax of 2": (classification.SOFTMAX, 2),
    "softmax of 4": (classification.SOFTMAX, 4),
}


def objective_of(
    values: Rows, loss: Loss, classes: int, seed: int, ratio: Fraction = PRICE.ratio
) -> tuple[Objective, Rows]:
    """A perturbed objective of a loss and its table; responses are labels of its classes, or lie in [-1, 1]."""
    rows = values.copy()
    if classes > 1:
        rows[:, -1] = np.arange(len(rows)) * 7 % classes
    elif loss.name in {"huber", "pinball"}:
        rows[:, -1] = np.sin(np.arange(len(rows)) * 3.0)
    price = minimum_price(loss, classes, PRICE.bound, PRICE.bits, ratio, PRICE.drift)
    drawn = [int(k) for k in rounded_gaussian(WIDTH * classes, PRICE.bits, SeededEntropy(seed))]
    return make(rows, drawn, price, PerturbedMinimum(CLIP, loss=loss, classes=classes)), rows


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("case", TABLES)
def test_t07_the_gradient_is_small_beyond_doubt_on_any_table(case: str, name: str) -> None:
    loss, classes = LOSSES[name]
    found, values = objective_of(TABLES[case], loss, classes, len(case))
    theta = find_minimum(found)
    unit = CLIP * loss.lipschitz
    with mpmath.workdps(60):
        at = [mpmath.mpf(float(entry)) for entry in theta]
        norm = exact_norm(exact_gradient(found, values, at))
        assert norm <= (found.accuracy.tolerance + found.accuracy.error) * unit
        # The integers are off by no more than they claim, at the point and at another.
        for point in (theta, theta + RNG.normal(size=len(theta))):
            claimed = found.gradient(point)
            true = exact_gradient(found, values, [mpmath.mpf(float(entry)) for entry in point])
            gaps = [
                mpmath.mpf(entry.numerator) / entry.denominator - other
                for entry, other in zip(claimed, true, strict=True)
            ]
            assert exact_norm(gaps) <= found.accuracy.error * unit
    assert np.linalg.norm(theta) * CLIP <= found.accuracy.radius


def test_descent_alone_finds_a_point(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Newton's method gives up, descent does not; both are within the drift of each other."""
    found = make(TABLES["usual"][:20], [3 * 2**50, -(2**49), 0])
    quick = find_minimum(found)
    monkeypatch.setattr(certified, "_newton_step", lambda *_: None)
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
    monkeypatch.delattr(certified, "descend_to_minimum")
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


def test_the_compiled_sigmoid_is_as_exact_as_the_proof_says() -> None:
    """Slopes within 8 units of 2^-53 of the true ones, over all scales of margins."""
    margins = np.concatenate([RNG.normal(size=400) * 10.0 ** RNG.integers(-8, 4, 400), [0.0, 800]])
    for label in (0.0, 1.0):
        found = [classification.logistic_slope(float(m), label) for m in margins]
        with mpmath.workdps(40):
            true = [1 / (1 + mpmath.exp(-mpmath.mpf(float(m)))) - label for m in margins]
            worst = max(abs(mpmath.mpf(float(a)) - b) for a, b in zip(found, true, strict=True))
        assert worst <= 8 * 2.0**-53


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("ratio", [Fraction(1, 20), Fraction(5), Fraction(2**10)])
def test_newton_ends_for_every_loss(name: str, ratio: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    loss, classes = LOSSES[name]
    monkeypatch.delattr(certified, "descend_to_minimum")
    for case in TABLES:
        found, _ = objective_of(TABLES[case], loss, classes, 4, ratio)
        theta = find_minimum(found)
        assert found.accepts(theta, found.gradient(theta))


@pytest.mark.parametrize("name", LOSSES)
def test_the_minimum_is_that_of_scipy(name: str) -> None:
    """To 1e-6, from values of the objective alone."""
    loss, classes = LOSSES[name]
    found, values = objective_of(TABLES["usual"], loss, classes, 9)
    X, y = values[:, :WIDTH], values[:, WIDTH]
    weight = np.minimum(1.0, CLIP**2 / np.square(X).sum(axis=1))
    linear = np.array([float(push) for push in found.linear])

    def value(theta: Rows) -> float:
        z = X @ theta.reshape(classes, -1).T
        return float(weight @ values_of(loss, z, y) + found.ridge / 2 * theta @ theta + linear @ theta)

    theta = find_minimum(found)
    expected = optimize.minimize(value, np.zeros(len(theta)), method="BFGS", options={"gtol": 1e-9}).x
    expected = optimize.minimize(value, expected, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-14}).x
    np.testing.assert_allclose(theta, expected, atol=2e-6)


def values_of(loss: Loss, z: Rows, y: Rows) -> Rows:
    """The loss of every record, from its definition."""
    if loss.name == "softmax":
        chosen = z[np.arange(len(y)), y.astype(int)]
        return np.asarray(np.logaddexp.reduce(z, axis=1) - chosen)
    z, a = z[:, 0], loss.shape[0]
    if loss.name == "logistic":
        return np.asarray(np.logaddexp(0, z) - y * z)
    if loss.name == "huber":
        r = np.abs(z - y)
        return np.where(r <= a, r * r / 2, a * r - a * a / 2)
    if loss.name == "pinball":
        r, h = z - y, loss.shape[1]
        inner = (r + h) ** 2 / (4 * h) - a * r
        return np.where(r >= h, (1 - a) * r, np.where(r <= -h, -a * r, inner))
    m = (2 * y - 1) * z
    return np.where(m >= 1 + a, 0.0, np.where(m <= 1 - a, 1 - m, (1 + a - m) ** 2 / (4 * a)))


def counted_passes(found: Objective, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """How many curvatures and gradients a minimisation asks for."""
    counts = {"curvature": 0, "gradient": 0}
    with monkeypatch.context() as patched:
        for name in counts:
            original = getattr(Objective, name)

            def counting(self: Objective, theta: Rows, name: str = name, original: object = original) -> object:
                counts[name] += 1
                return original(self, theta)  # type: ignore[operator]

            patched.setattr(Objective, name, counting)
        find_minimum(found)
    return counts["curvature"], counts["gradient"]


@pytest.mark.parametrize("name", LOSSES)
def test_t41_usual_tables_take_the_same_number_of_passes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    loss, classes = LOSSES[name]
    passes = set()
    for case in ("usual", "separable", "zeros", "one record", "far out", "one label"):
        for seed in range(2):
            found, _ = objective_of(TABLES[case], loss, classes, seed)
            passes.add(counted_passes(found, monkeypatch))
    assert passes == {least_passes(loss)}


def test_t40_descent_has_a_public_cap_that_suffices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps of descent on small tables stay below the cap; past it the answer would be 0, whatever the table."""
    for name, (loss, classes) in LOSSES.items():
        found, _ = objective_of(TABLES["usual"][:5], loss, classes, len(name), Fraction(1, 2))
        theta = descend_to_minimum(found)
        assert found.accepts(theta, found.gradient(theta))
    capped = replace(found, accuracy=replace(found.accuracy, steps=1))
    np.testing.assert_array_equal(descend_to_minimum(capped), np.zeros(found.size))
