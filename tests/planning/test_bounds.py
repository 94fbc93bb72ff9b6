"""Every bound is above what is measured, and near it where the theory says so."""

import math

import numpy as np
import pytest

from tacit.accounting import gaussian
from tacit.planning import bounds
from tacit.planning.bounds import NoisyDescent
from tacit.privacy.relation import Relation

GENERATOR = np.random.default_rng(0)


def rows(n: int, d: int, rank: int) -> tuple[np.ndarray, np.ndarray]:
    X = np.zeros((n, d))
    X[:, :rank] = GENERATOR.standard_normal((n, rank))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.where(GENERATOR.random(n) < 1 / (1 + np.exp(-3 * X[:, 0])), 1.0, -1.0)
    return X, y


def loss(X: np.ndarray, y: np.ndarray, theta: np.ndarray) -> float:
    return float(np.logaddexp(0, -y * (X @ theta)).mean())


def gradient(X: np.ndarray, y: np.ndarray, theta: np.ndarray) -> np.ndarray:
    return np.asarray(-X.T @ (y / (1 + np.exp(y * (X @ theta)))) / len(y))


def average(
    X: np.ndarray, y: np.ndarray, facts: NoisyDescent, steps: int, size: float, radius: float = math.inf, first: int = 0
) -> np.ndarray:
    theta, total = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for _ in range(steps):
        if not first:
            total += theta
        noise = facts.noise * math.sqrt(steps) * GENERATOR.standard_normal(X.shape[1])
        theta = theta - size * (gradient(X, y, theta) + noise)
        theta = theta / max(1.0, float(np.linalg.norm(theta)) / radius)
        if first:
            total += theta
    return total / steps


def best(X: np.ndarray, y: np.ndarray, radius: float) -> tuple[float, float]:
    theta = np.zeros(X.shape[1])
    for _ in range(1500):
        theta = theta - 4.0 * gradient(X, y, theta)
        theta = theta / max(1.0, float(np.linalg.norm(theta)) / radius)
    return loss(X, y, theta), float(np.linalg.norm(theta))


def test_theorem_1_holds_and_its_planners_agree() -> None:
    X, y = rows(500, 5, 5)
    facts, radius = NoisyDescent(500, 5, 1.0), 3.0
    steps = facts.lipschitz_steps()
    least, _ = best(X, y, radius)
    size = facts.lipschitz_step_size(radius, 400)
    excess = np.mean([loss(X, y, average(X, y, facts, 400, size, radius)) - least for _ in range(20)])
    assert 0 < excess < facts.lipschitz(radius, 400)
    # The planned T leaves at most κ/2 to gain, and n inverts the bound.
    assert facts.lipschitz(radius, steps) <= math.sqrt(1.25) * radius * math.sqrt(5) * facts.noise * (1 + 1e-9)
    n = bounds.records_for(0.1, d=5, mu=1.0, radius=radius)
    planned = NoisyDescent(n, 5, 1.0)
    assert planned.lipschitz(radius, planned.lipschitz_steps()) == pytest.approx(0.1, rel=0.01)


def test_the_smooth_bound_holds_with_far_fewer_steps() -> None:
    X, y = rows(500, 5, 5)
    facts, radius = NoisyDescent(500, 5, 1.0), 3.0
    least, norm = best(X, y, math.inf)
    steps = facts.smooth_steps(norm, 0.25)
    excess = np.mean(
        [loss(X, y, average(X, y, facts, steps, facts.smooth_time(norm) / steps, first=1)) for _ in range(20)]
    )
    assert 0 < excess - least < facts.smooth(norm, 0.25)
    assert steps < facts.lipschitz_steps() / 50
    assert facts.smooth(radius, 0.25) == pytest.approx(math.sqrt(2) * radius * facts.noise * math.sqrt(5), rel=0.05)


def test_at_fixed_rank_the_error_is_flat_in_the_dimension() -> None:
    facts, found = NoisyDescent(400, 3, 1.0), []
    for d in (10, 1000):
        X, y = rows(400, d, 3)
        least, norm = best(X, y, math.inf)
        bound = facts.rank(norm, 200, 3)
        size = norm / math.sqrt(200 * (1 + 3 * facts.noise**2 * 200))
        excess = np.mean([loss(X, y, average(X, y, facts, 200, size)) - least for _ in range(10)])
        assert excess < bound
        found.append(excess)
    assert found[1] < 2 * found[0]


def test_the_exponential_mechanism_in_one_dimension() -> None:
    X, y = rows(200, 1, 1)
    grid = np.linspace(-2, 2, 4001)
    values = np.array([loss(X, y, np.array([at])) for at in grid])
    for epsilon in (0.5, 5.0):
        weights = np.exp(-epsilon * 200 * (values - values.min()) / (2 * 2 * 2.0))
        excess = float(weights @ (values - values.min()) / weights.sum())
        assert excess < bounds.exponential_mechanism(200, 1, epsilon, 2.0)


def test_the_last_iterate_is_exact_on_quadratics() -> None:
    # Gap and deviation of an AR(1) with coefficient k after T steps.
    m, eta, steps = 0.5, 0.4, 30
    k = 1 - eta * m
    gap = sum(k**t for t in range(steps))
    deviation = math.sqrt(sum(k ** (2 * t) for t in range(steps)))
    mu = bounds.last_iterate_mu(1.0, steps, step_size=eta, curvature=m, smoothness=1.0)
    assert mu == pytest.approx(gap / deviation, rel=1e-9)
    assert bounds.last_iterate_mu(1.0, 4, step_size=4.0, curvature=m, smoothness=1.0) == 2.0
    many = bounds.last_iterate_mu_convex(0.01, 1.0, 10**6, step_size=0.1, diameter=1.0)
    assert many == bounds.last_iterate_mu_convex(0.01, 1.0, 10**8, step_size=0.1, diameter=1.0) < 0.01 * 1000


def test_strong_convexity_gives_a_faster_rate() -> None:
    facts = NoisyDescent(10_000, 5, 1.0)
    assert facts.strongly_convex(0.1, 10**9) == pytest.approx(2 * 5 * facts.noise**2 / 0.1, rel=0.5)
    # Mean of points in [-1, 1], loss ½(θ - x)²: noisy steps 2/(t + 1), weights ∝ t.
    data, facts = GENERATOR.uniform(-1, 1, 400), NoisyDescent(400, 1, 1.0, 2.0)
    excesses = []
    for _ in range(50):
        theta, total, steps = 0.0, 0.0, 100
        for t in range(1, steps + 1):
            total += t * theta
            noise = facts.noise * math.sqrt(steps) * GENERATOR.standard_normal()
            theta = float(np.clip(theta - 2 / (t + 1) * (theta - data.mean() + noise), -1, 1))
        excesses.append((total / (steps * (steps + 1) / 2) - data.mean()) ** 2 / 2)
    assert np.mean(excesses) < facts.strongly_convex(1.0, 100)


def test_the_floor_is_below_the_gaussian_mechanism_by_less_than_five() -> None:
    reached = math.sqrt(2 / math.pi) * 2 / (1000 * 0.5)
    floor = bounds.minimax_mean_error(1000, 0.5)
    assert floor < reached < 5 * floor


def test_rates_and_relations() -> None:
    assert bounds.error_split(4, 100, 1.0, 9) == (0.2, 0.12)
    assert bounds.minimax_rate(4, 100, 1.0, 1e-6) > 0.2
    assert bounds.stability_gap(0.0) == 0.0
    added = NoisyDescent(100, 2, 1.0, relation=Relation.ADD_REMOVE)
    assert NoisyDescent(100, 2, 1.0).noise == 2 * added.noise


def test_generalisation_gaps_agree_where_they_should() -> None:
    # Pinsker is not below the exact gap, and near it for small μ up to √(2π) / 2.
    for mu in (0.01, 0.3, 1.0, 3.0):
        exact = bounds.gaussian_gap(mu, 2.0)
        assert exact <= bounds.divergence_gap(mu**2 / 2, 2.0) <= math.sqrt(math.pi / 2) * exact * (1 + mu**2 / 8)
    # A memorising fit: the noised mean of n coins, and the loss 1{sign agrees}. The gap is below the bound.
    n, mu = 20, 1.0
    gaps = []
    for _ in range(4000):
        data = GENERATOR.choice([-1.0, 1.0], n)
        sign = np.sign(data.sum() + 2 / mu * GENERATOR.standard_normal())
        gaps.append(np.mean(data == sign) - 0.5)
    assert 0 < np.mean(gaps) < bounds.gaussian_gap(mu)


def test_full_newton_steps_square_the_distance_within_the_region() -> None:
    X, y = rows(2000, 3, 3)
    theta = np.zeros(3)
    for _ in range(500):
        theta = theta - 4.0 * gradient(X, y, theta)
    inside = 0
    for _ in range(200):
        at = theta + 10 ** GENERATOR.uniform(-3, 0) * GENERATOR.standard_normal(3)
        sizes = []
        for _ in range(2):
            chance = 1 / (1 + np.exp(-X @ at))
            H, g = (X.T * (chance * (1 - chance))) @ X / len(X), gradient(X, y, at)
            step = np.linalg.solve(H, g)
            sizes.append(math.sqrt(g @ step / np.linalg.eigvalsh(H)[0]))
            at = at - step
        # Rows have norm 1: the third derivative is at most the second.
        assert sizes[1] <= bounds.newton_contraction(sizes[0], 1.0) + 1e-12
        if sizes[0] <= bounds.newton_region(1.0):
            inside += 1
            assert 16 * sizes[1] <= (16 * sizes[0]) ** 2
    assert inside > 20
    assert bounds.newton_contraction(2.0, 1.0) == math.inf


def test_rounds_grow_with_log_n_and_log_log_n() -> None:
    descent = [bounds.descent_iterations(10**k, 0.1, 1.0) for k in (4, 8, 16)]
    newton = [bounds.newton_iterations(10**k, 1.0) for k in (4, 8, 16)]
    assert descent[1] == pytest.approx(2 * descent[0], abs=1)
    assert descent[2] == pytest.approx(4 * descent[0], abs=3)
    assert 1 <= newton[1] - newton[0] <= 2
    assert 1 <= newton[2] - newton[1] <= 2
    assert bounds.descent_iterations(100, 1.0, 1.0) == 1


def test_the_parts_of_the_error_add_up() -> None:
    """Noisy steps for a mean: 400 runs, whose mean error is known to 3%; the rates leave out constants below 2."""
    n, p, mu, steps = 3000, 4, 0.5, 20
    errors = []
    for _ in range(400):
        mean, theta = GENERATOR.normal(0, 1 / math.sqrt(3 * n), p), np.zeros(p)
        for _ in range(steps):
            noise = 2 * math.sqrt(p) * math.sqrt(steps) / (mu * n) * GENERATOR.standard_normal(p)
            theta = theta - 0.5 * (theta - mean + noise)
        errors.append(np.linalg.norm(theta))
    assert 0.5 < sum(bounds.error_split(p, n, mu, steps)) / np.mean(errors) < 3


def test_the_classical_noise_is_too_large_and_then_too_small() -> None:
    classical = math.sqrt(2 * math.log(1.25 / 1e-5))
    assert classical / 1.0 * gaussian.mu(1.0, 1e-5) == pytest.approx(1.30, abs=0.01)
    assert classical / 10.0 * gaussian.mu(10.0, 1e-5) < 1


def test_the_projector_is_that_on_the_span_of_the_rows() -> None:
    X, _ = rows(30, 8, 3)
    turned = X @ np.linalg.qr(GENERATOR.standard_normal((8, 8)))[0]
    M, rank = bounds.row_projector(turned)
    assert rank == 3
    np.testing.assert_allclose(M @ M, M, atol=1e-12)
    np.testing.assert_allclose(turned @ M, turned, atol=1e-12)
    assert bounds.row_projector(np.zeros((2, 3)))[1] == 0


def test_the_smooth_planner_inverts_its_bound() -> None:
    n = bounds.smooth_records_for(0.001, d=5, mu=0.5, radius=3.0)
    assert NoisyDescent(n, 5, 0.5).smooth(3.0, 0.25) == pytest.approx(0.001, rel=0.01)
