"""Noisy second moments: the law of the noise, its scale, and least squares without it."""

import math

import numpy as np
import pytest
from sklearn.metrics import r2_score

from benchmarks.accuracy.bundled import diabetes
from benchmarks.rivals.adassp import Published, Tuned, isometric, scales, solve_lifted, symmetric
from benchmarks.rivals.calibration import mu_of
from benchmarks.rivals.non_private import NonPrivate
from benchmarks.rivals.scaling import unit_rows


@pytest.mark.parametrize(("draw", "off_diagonal"), [(symmetric, 1.0), (isometric, 0.5)])
def test_noise_is_symmetric_with_the_stated_variances(draw: object, off_diagonal: float) -> None:
    assert callable(draw)
    noise = draw(np.random.default_rng(0), 600)
    np.testing.assert_array_equal(noise, noise.T)
    assert np.var(np.diag(noise)) == pytest.approx(1.0, rel=0.2)
    assert np.var(noise[np.triu_indices(600, 1)]) == pytest.approx(off_diagonal, rel=0.03)


def test_one_record_moves_the_moments_as_much_as_is_paid_for() -> None:
    rng = np.random.default_rng(0)
    rows = unit_rows(rng.standard_normal((400, 5)), 2.0)
    norms = np.linalg.norm(rows, axis=1)
    assert norms.max() <= 1 + 1e-12
    one, other = rows[:200], rows[200:]
    moved = np.einsum("ij,ik->ijk", one, one) - np.einsum("ij,ik->ijk", other, other)
    assert np.linalg.norm(moved, axis=(1, 2)).max() <= math.sqrt(2.0)


def test_the_scales_together_cost_the_budget() -> None:
    mu = mu_of(1.0, 1e-6)
    for share in (0.2, 0.8):
        gram, cross = scales(mu, share)
        assert (math.sqrt(2.0) / gram) ** 2 + (2.0 / cross) ** 2 == pytest.approx(mu**2)


@pytest.mark.parametrize("method", [Published(), Tuned()])
def test_a_huge_budget_gives_least_squares(method: Published | Tuned) -> None:
    table = diabetes()
    (fit,) = method.fits(table, 1e6, [{"share": 0.5, "ridge": 0.1}], 0)
    (plain,) = NonPrivate().fits(table, 1e6, [{}], 0)
    assert r2_score(table.y_test, fit.margins) == pytest.approx(r2_score(table.y_test, plain.margins), abs=0.01)


def test_a_small_budget_does_not() -> None:
    table = diabetes()
    (fit,) = Published().fits(table, 0.1, [{}], 0)
    assert r2_score(table.y_test, fit.margins) < 0.3


def test_an_indefinite_matrix_has_a_bounded_solution() -> None:
    gram, cross = np.diag([4.0, -0.999]), np.array([8.0, 1.0])
    np.testing.assert_allclose(solve_lifted(gram, cross, 1.0), [1.6, 1.0])
    plain = np.linalg.solve(gram + np.eye(2), cross)
    assert abs(plain[1]) > 900
