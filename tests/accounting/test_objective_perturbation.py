import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from tacit.accounting import gaussian
from tacit.accounting.objective_perturbation import jacobian_term, objective_epsilon, objective_mu, vertices
from tacit.privacy.event import ObjectivePerturbation, SoftmaxPerturbation
from tacit.privacy.relation import Relation

ADD, REPLACE = Relation.ADD_REMOVE, Relation.REPLACE_ONE


@pytest.mark.parametrize("ratio", [Fraction(1, 10**12), Fraction(1, 40), Fraction(3), 10**9])
def test_the_jacobian_term_is_never_below_the_logarithm(ratio: Fraction | int) -> None:
    with mpmath.workdps(40):
        exact = mpmath.log(1 + mpmath.mpf(Fraction(ratio).numerator) / Fraction(ratio).denominator)
    found = jacobian_term(ObjectivePerturbation(1, 1, ratio, 1))
    assert exact <= found <= exact * (1 + 1e-14)


def test_t22_replace_one_doubles_the_gradient() -> None:
    event = ObjectivePerturbation(9, 16, 1, 1)
    assert objective_mu(event, ADD) == objective_mu(event, Relation.ZERO_OUT) == 0.75
    assert objective_mu(event, REPLACE) == 1.5


def _delta_of_loss(losses: np.ndarray, epsilon: float) -> float:
    return float(np.mean(np.maximum(-np.expm1(epsilon - losses), 0.0)))


@pytest.mark.parametrize("signs", [1, 2])
@pytest.mark.parametrize("relation", [ADD, REPLACE])
def test_the_closed_form_is_the_profile_of_the_dominating_loss(signs: int, relation: Relation) -> None:
    # Quantiles of the noise in place of draws: nothing random, error below 1e-5 at 2e5 points.
    event = ObjectivePerturbation(1, 4, Fraction(1, 10), signs)
    c, mu = jacobian_term(event), objective_mu(event, relation)
    delta = 1e-2
    epsilon = objective_epsilon(event, relation, delta)
    noise = math.sqrt(2.0) * _erf_inverse(np.linspace(-1, 1, 200_001)[1:-1])
    one = np.maximum(0.0, 0.5 * mu * mu + mu * noise)
    losses = c + (one if signs == 1 else 0.5 * mu * mu + mu * np.abs(noise))
    assert _delta_of_loss(losses, epsilon) <= delta + 1e-5
    assert _delta_of_loss(losses, 0.99 * epsilon) > delta
    assert epsilon >= c + gaussian.epsilon(mu, delta)


def _erf_inverse(points: np.ndarray) -> np.ndarray:
    from scipy import special

    return np.asarray(special.erfinv(points))


def test_the_density_of_a_perturbed_logistic_minimiser_obeys_the_profile() -> None:
    # One feature, three other records; neighbours differ by adding x = 1, y = 1. The density of
    # the minimiser is that of the noise at minus the gradient, times the second derivative.
    ridge, scale = 1.0, 2.0
    others = [(0.7, 1.0), (-0.4, 1.0), (0.9, -1.0)]
    theta = np.linspace(-40.0, 40.0, 400_001)

    def density(records: list[tuple[float, float]]) -> np.ndarray:
        gradient, curvature = ridge * theta, np.full_like(theta, ridge)
        for x, y in records:
            q = 1.0 / (1.0 + np.exp(y * x * theta))
            gradient -= y * x * q
            curvature += x * x * q * (1.0 - q)
        normal = np.exp(-0.5 * (gradient / scale) ** 2) / (scale * math.sqrt(2.0 * math.pi))
        return np.asarray(normal * curvature)

    with_record, without = density([*others, (1.0, 1.0)]), density(others)
    step = float(theta[1] - theta[0])
    event = ObjectivePerturbation(1, 4, Fraction(1, 4), 1)
    for delta in (1e-2, 1e-4):
        epsilon = objective_epsilon(event, ADD, delta)
        for p, q in ((with_record, without), (without, with_record)):
            assert float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum()) * step <= delta


def _replaced(t: float, length: float, angle: float, points: int = 700) -> float:
    """E(1 - e^(t - W))₊ for two gradients of this length, by the midpoint rule in the plane."""
    from scipy import special

    # Midpoints of equal probability do for v; g gets a grid, as losses grow with it.
    p, q = length * math.cos(angle), length * math.sin(angle)
    v = math.sqrt(2.0) * special.erfinv((np.arange(points) + 0.5) / points)
    edges = np.linspace(-9.0, 9.0, 2 * points + 1)
    g = (edges[1:] + edges[:-1]) / 2
    weight = np.diff(special.ndtr(edges))
    first = 2 * p * np.maximum(p + g, 0.0)[:, None]
    second = length**2 / 2 + q * v[None, :] + p * g[:, None]
    losses = np.maximum(first, second)
    return float(weight @ np.maximum(-np.expm1(t - losses), 0.0).mean(axis=1))


@pytest.mark.parametrize("length", [0.3, 1.0, 2.0])
def test_replacing_a_record_costs_at_most_twice_the_gradient_at_any_angle(length: float) -> None:
    # Lemma of the replaced record in the proof page; the rule errs below 3e-4.
    for t in (0.0, 0.2 * length**2, 0.7 * length**2, length**2, 2.0 * length**2 + 0.5):
        bound = gaussian.delta(t, 2 * length)
        found = [_replaced(t, length, angle) for angle in np.linspace(0, math.pi / 2, 7)]
        assert max(found) <= bound + 3e-4
        assert abs(found[0] - bound) <= 3e-4


@pytest.mark.parametrize("t", [0.0, 0.3, 0.9, 2.5])
@pytest.mark.parametrize("angle", [0.4, 0.9, 1.3])
def test_the_slope_in_the_angle_is_what_the_kinks_leave(t: float, angle: float) -> None:
    from scipy import special

    length, step = 1.1, 0.04
    p, q = length * math.cos(angle), length * math.sin(angle)
    kappa = (q * q - p * p) / 2

    def density(x: float) -> float:
        return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)

    first = p * density(q) * max(special.ndtr(kappa / p) - special.ndtr((t - kappa) / p), 0.0)
    last = special.ndtr((t / 2 - kappa) / q) - 0.5
    second = -2 * q * density(t / (2 * p) + p) * max(last, 0.0)
    rise = _replaced(t, length, angle + step, 1500) - _replaced(t, length, angle - step, 1500)
    assert math.isclose(rise / (2 * step), 2 * math.exp(t) * (first + second), abs_tol=6e-3)
    assert (first > 0) == (t < q * q - p * p)


def test_brute_force_over_replaced_records_obeys_the_profile() -> None:
    """Densities of perturbed logistic minimisers in the plane, on a grid, in both orders.

    Rows of norm 1 at several angles, one other record; ridge 2, noise 1.5. The grid holds all but
    1e-6 of the mass and errs by less than 2e-4.
    """
    ridge, scale, span = 2.0, 1.5, np.linspace(-7.0, 7.0, 281)
    theta = np.stack(np.meshgrid(span, span, indexing="ij"), axis=-1)
    cell = (span[1] - span[0]) ** 2

    def density(records: list[tuple[float, float]]) -> np.ndarray:
        gradient = ridge * theta
        hessian = np.broadcast_to(ridge * np.eye(2), (*theta.shape, 2)).copy()
        for turn, label in records:
            x = np.array([math.cos(turn), math.sin(turn)])
            share = 1 / (1 + np.exp(-(theta @ x)))
            gradient = gradient + (share - label)[..., None] * x
            hessian += (share * (1 - share))[..., None, None] * np.outer(x, x)
        size = np.square(gradient).sum(axis=-1) / scale**2
        return np.asarray(np.exp(-size / 2) * np.linalg.det(hessian) / (2 * math.pi * scale**2))

    event = ObjectivePerturbation(1, Fraction(scale) ** 2, Fraction(1, 4) / Fraction(ridge), 1)
    c, mu = jacobian_term(event), objective_mu(event, REPLACE)
    rest = (0.4, 1.0)
    one = density([rest, (0.0, 1.0)])
    assert abs(one.sum() * cell - 1) < 1e-3
    closest = 0.0
    for turn in (0.0, 0.8, 1.6, math.pi):
        for label in (0.0, 1.0):
            other = density([rest, (turn, label)])
            for first, second in ((one, other), (other, one)):
                for t in (0.0, 0.4, 1.0):
                    found = float(np.maximum(first - math.exp(t + c) * second, 0.0).sum() * cell)
                    bound = gaussian.delta(t, mu)
                    assert found <= bound + 2e-4
                    closest = max(closest, found / bound)
    # Not vacuous: some pair comes near.
    assert closest > 0.3


def _two_signed(t: float, length: float, angle: float, points: int = 1200) -> float:
    """E(1 - e^(t - W))₊ for slopes of both signs of two records of this length, by midpoints of equal probability."""
    from scipy import special

    p, q = length * math.cos(angle), length * math.sin(angle)
    half = math.sqrt(2.0) * special.erfinv((np.arange(points) + 0.5) / points)
    losses = np.maximum((2 * p * half + 2 * p * p)[:, None], (2 * q * half + 2 * q * q)[None, :])
    return float(np.maximum(-np.expm1(t - losses), 0.0).mean())


@pytest.mark.parametrize("length", [0.3, 1.0, 2.0])
def test_replacing_a_two_signed_record_costs_most_where_both_rows_are_parallel(length: float) -> None:
    """Second lemma of the proof page: the mean falls in the angle up to π/4; the rule errs below 2e-3."""
    mu = 2 * length
    for t in (-1.0, 0.0, length**2, 2 * length**2, 3 * length**2 + 0.5, 5 * length**2):
        found = [_two_signed(t, length, angle) for angle in np.linspace(0, math.pi / 4, 6)]
        inner = 1 - math.exp(t - mu * mu / 2) * (1 - 2 * gaussian.delta(mu * mu / 2, mu))
        bound = 2 * gaussian.delta(t, mu) if t >= mu * mu / 2 else inner
        assert abs(found[0] - bound) <= 2e-3
        assert all(later <= earlier + 1e-9 for earlier, later in itertools.pairwise(found))


def _plane_density(records: list[tuple[float, float]], threshold: float, ridge: float, scale: float) -> np.ndarray:
    """Density of a perturbed Huber minimiser on a grid of the plane, rows of norm 1 given by their angle."""
    gradient = ridge * GRID
    hessian = np.broadcast_to(ridge * np.eye(2), (*GRID.shape, 2)).copy()
    for turn, response in records:
        x = np.array([math.cos(turn), math.sin(turn)])
        residual = GRID @ x - response
        gradient = gradient + np.clip(residual, -threshold, threshold)[..., None] * x
        hessian += (np.abs(residual) <= threshold)[..., None, None] * np.outer(x, x)
    size = np.square(gradient).sum(axis=-1) / scale**2
    return np.asarray(np.exp(-size / 2) * np.linalg.det(hessian) / (2 * math.pi * scale**2))


SPAN = np.linspace(-6.0, 6.0, 481)
GRID = np.stack(np.meshgrid(SPAN, SPAN, indexing="ij"), axis=-1)
CELL = (SPAN[1] - SPAN[0]) ** 2


def test_brute_force_over_two_signed_records_obeys_both_profiles() -> None:
    """Perturbed Huber minimisers in the plane, on a grid that errs by less than 4e-3, in both orders and relations."""
    ridge, scale, threshold = 3.0, 2.0, 1.0
    event = ObjectivePerturbation(Fraction(threshold), Fraction(scale) ** 2, Fraction(1, 3), 2)
    c = jacobian_term(event)
    rest = (0.4, 0.3)
    alone = _plane_density([rest], threshold, ridge, scale)
    one = _plane_density([rest, (0.0, 0.2)], threshold, ridge, scale)
    assert abs(one.sum() * CELL - 1) < 4e-3
    closest = {ADD: 0.0, REPLACE: 0.0}
    pairs = [(ADD, one, alone), (ADD, alone, one)]
    for turn, response in ((0.0, -4.0), (0.9, 2.0), (1.6, -0.5), (math.pi, 0.2)):
        other = _plane_density([rest, (turn, response)], threshold, ridge, scale)
        pairs += [(REPLACE, one, other), (REPLACE, other, one)]
    for relation, first, second in pairs:
        mu = objective_mu(event, relation)
        for t in (mu * mu / 2, 0.8, 1.3):
            if t < mu * mu / 2:
                continue
            found = float(np.maximum(first - math.exp(t + c) * second, 0.0).sum() * CELL)
            bound = 2 * gaussian.delta(t, mu)
            assert found <= bound + 4e-3
            closest[relation] = max(closest[relation], found / bound)
    assert min(closest.values()) > 0.02


@pytest.mark.parametrize(("length", "ridge", "scale"), [(1.0, 2.0, 1.5), (1.5, 2.5, 2.0)])
def test_t05_brute_force_over_three_classes_obeys_both_profiles(length: float, ridge: float, scale: float) -> None:
    """Perturbed softmax minimisers of one feature, three classes, in both orders and relations.

    What all classes have in common is noise that no record moves, so the density is one in the plane of contrasts. The
    grid errs by less than 1e-3.
    """
    basis = np.array([[1.0, -1.0, 0.0], [1.0, 1.0, -2.0]]) / np.sqrt([[2.0], [6.0]])

    def density(records: list[tuple[float, int]]) -> np.ndarray:
        margins = GRID @ basis
        gradient, hessian = ridge * GRID, np.broadcast_to(ridge * np.eye(2), (*GRID.shape, 2)).copy()
        for x, label in records:
            share = np.exp(x * margins)
            share = share / share.sum(axis=-1, keepdims=True)
            gradient = gradient + x * (share - np.eye(3)[label]) @ basis.T
            spread = share[..., None] * np.eye(3) - share[..., None] * share[..., None, :]
            hessian += x * x * (basis @ spread @ basis.T)
        size = np.square(gradient).sum(axis=-1) / scale**2
        return np.asarray(np.exp(-size / 2) * np.linalg.det(hessian) / (2 * math.pi * scale**2))

    square = Fraction(length) ** 2
    event = SoftmaxPerturbation(2 * square, Fraction(scale) ** 2, square / 2 / Fraction(ridge), 3)
    c = jacobian_term(event)
    assert c == pytest.approx(2 * math.log1p(length**2 / (3 * ridge)))
    rest = [(0.8 * length, 1), (-0.5 * length, 2)]
    alone, one = density(rest), density([*rest, (length, 0)])
    assert abs(one.sum() * CELL - 1) < 1e-3
    pairs = [(ADD, one, alone), (ADD, alone, one)]
    for x, label in ((length, 1), (-length, 0), (-length, 1)):
        other = density([*rest, (x, label)])
        pairs += [(REPLACE, one, other), (REPLACE, other, one)]
    closest = {ADD: 0.0, REPLACE: 0.0}
    for relation, first, second in pairs:
        mu, count = objective_mu(event, relation), vertices(event, relation)
        assert (mu, count) == pytest.approx(
            (math.sqrt(2) * length / scale, 2) if relation is ADD else (2 * math.sqrt(2) * length / scale, 4)
        )
        for t in (0.5 * mu * mu, mu * mu, 2 * mu * mu):
            found = float(np.maximum(first - math.exp(t + c) * second, 0.0).sum() * CELL)
            bound = min(1.0, count * gaussian.delta(t, mu))
            assert found <= bound + 1e-3
            closest[relation] = max(closest[relation], found / bound)
    assert min(closest.values()) > 0.01


def test_the_jacobian_term_of_classes_is_attained_by_equal_shares() -> None:
    """One record, no other: the determinant at equal shares is the bound, and elsewhere it is below."""
    rng = np.random.default_rng(3)
    for classes in (2, 3, 6):
        square, ridge = Fraction(9, 4), Fraction(1, 2)
        c = jacobian_term(SoftmaxPerturbation(2 * square, 1, square / 2 / ridge, classes))
        shares = [np.full(classes, 1 / classes), *rng.dirichlet(np.ones(classes), 50)]
        found = []
        for share in shares:
            spread = np.diag(share) - np.outer(share, share)
            found.append(np.linalg.slogdet(np.eye(classes) + spread * float(square / ridge))[1])
        assert found[0] == pytest.approx(c)
        assert max(found) <= c * (1 + 1e-12)


@pytest.mark.parametrize("relation", [ADD, REPLACE])
def test_the_dominating_loss_of_classes_is_above_the_largest_vertex(relation: Relation) -> None:
    """200,000 draws of the maximum over the vertices; false alarms below 1e-6."""
    classes, u = 4, 0.6
    event = SoftmaxPerturbation(2 * Fraction(u) ** 2, 1, 0, classes)
    rng, draws = np.random.default_rng(5), 200_000
    noise = rng.normal(size=(draws, 2, classes))
    wrong = [np.eye(classes)[k] - np.eye(classes)[0] for k in range(1, classes)]
    one = [np.stack([u * h, np.zeros(classes)]) for h in wrong]
    # A second record along another feature, and along the same one.
    two = [np.stack([np.zeros(classes), u * h]) for h in wrong] if relation is REPLACE else []
    sums = [a + b for a in one for b in two]
    losses = np.zeros(draws)
    for h in (*one, *two, *sums):
        losses = np.maximum(losses, np.einsum("nij,ij->n", noise, h) + 0.5 * np.square(h).sum())
    for delta in (0.2, 0.02, 1e-3):
        epsilon = objective_epsilon(event, relation, delta)
        # Each term lies in [0, 1]: Bernstein's inequality at 1e-7.
        slack = 6 * math.sqrt(delta / draws) + 11 / draws
        assert _delta_of_loss(losses, epsilon) <= delta + slack
