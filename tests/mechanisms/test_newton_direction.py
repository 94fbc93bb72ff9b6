"""Damped directions: how far one record can move them, and that they are solved beyond doubt."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from tacit.contract.query import CurvatureTrace, DampedDirection
from tacit.contract.sensitivity import Price
from tacit.mechanisms.newton_direction import (
    CURVATURE_BOUND,
    SLACK,
    answer_curvature_trace,
    answer_damped_direction,
    damping_integer,
    integer_curvature,
    integer_direction,
    largest_move,
    solve_exactly,
    solve_within,
)
from tacit.noise.entropy import SeededEntropy
from tests.rows.memory_stores import memory_store
from tests.rows.person_stores import person_store

RNG = np.random.default_rng(17)
PRICE = Price(2**20, 22)


def table(rows: int, width: int = 3) -> NDArray[np.float64]:
    values = RNG.uniform(-1, 1, (rows, width + 1))
    values[:, width] = RNG.random(rows) < 0.5
    return values


def query(width: int = 3, damping: float = 2.0, size: float = 5.0) -> DampedDirection:
    gradient = RNG.normal(size=width)
    return DampedDirection(RNG.normal(size=width), gradient * size, damping, 1.5)


def squared_distance(one: list[int], other: list[int]) -> int:
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("damping", [0.05, 0.5, 20.0])
@pytest.mark.parametrize("others", [0, 1, 40])
def test_t01_brute_force_over_neighbours_stays_within_the_bound(damping: float, others: int) -> None:
    """All pairs of extreme rows, replaced or blanked, with few or many other records."""
    asked = query(damping=damping)
    rows = np.array([[*corner, 1.0] for corner in itertools.product((-40.0, 0.0, 0.9), repeat=3)])
    rest = table(others)
    found = []
    for row in rows:
        integers, step = integer_direction(asked, PRICE, memory_store(np.vstack([rest, row])))
        found.append((integers, step))
    assert len({step for _, step in found}) == 1
    largest = max(squared_distance(a, b) for (a, _), (b, _) in itertools.combinations(found, 2))
    assert 0 < largest <= PRICE.bound**2


def test_the_bound_is_attained_where_one_record_is_all_there_is() -> None:
    """One column, θ = 0, a record on the row bound against a blank one: nearly all of the bound."""
    asked = DampedDirection(np.zeros(1), np.array([3.0]), 0.4, 1.5)
    full = integer_direction(asked, PRICE, memory_store(np.array([[1.5, 1.0]])))[0]
    blank = integer_direction(asked, PRICE, memory_store(np.zeros((1, 2))))[0]
    gap = math.isqrt(squared_distance(full, blank))
    assert 0.998 * PRICE.bound <= gap <= PRICE.bound


def test_t08_rows_added_or_removed_stay_within_the_bound() -> None:
    asked = query(damping=0.3)
    values = table(129)
    for count in (1, 63, 64, 65, 128):
        fewer, step = integer_direction(asked, PRICE, memory_store(values[:count]))
        more, same = integer_direction(asked, PRICE, memory_store(values[: count + 1]))
        assert step == same
        assert squared_distance(fewer, more) <= PRICE.bound**2


def test_t35_all_records_of_a_person_together_stay_within_the_bound() -> None:
    """Their parts of the curvature have a bounded trace, and no rank: the proof needs none."""
    asked = query(damping=0.05)
    rest = [table(2), table(1)]
    extreme = [np.array([[30.0, 0, 0, 1.0], [0, 30.0, 0, 1.0]]), np.array([[0, 0, 9.0, 0.0]])]
    found = [
        integer_direction(asked, PRICE, person_store([*rest, person], unit_rows=2))[0]
        for person in (*extreme, table(2), np.zeros((1, 4)))
    ]
    gaps = [squared_distance(a, b) for a, b in itertools.combinations(found, 2)]
    assert 0 < max(gaps) <= PRICE.bound**2


def test_one_record_has_a_bounded_part_of_the_curvature() -> None:
    asked = query()
    for row in (*table(30), np.array([1e8, 1e-8, -1e8, 1.0])):
        part = integer_curvature(asked, CURVATURE_BOUND, memory_store(row[None]))
        assert 0 <= int(np.trace(part)) <= CURVATURE_BOUND


def test_the_direction_is_that_of_an_independent_solve() -> None:
    values = table(300)
    asked = query(damping=4.0)
    X = values[:, :3]
    share = 1 / (1 + np.exp(-X @ asked.theta))
    shrunk = X * np.minimum(1, 1.5 / np.linalg.norm(X, axis=1))[:, None]
    H = (shrunk * (share * (1 - share))[:, None]).T @ shrunk
    expected = np.linalg.solve(H + 4.0 * np.eye(3), asked.gradient)
    answer = answer_damped_direction(asked, Price(2**36, 0), memory_store(values), None)
    np.testing.assert_allclose(answer.value, expected, rtol=2e-4, atol=2e-5)
    assert answer.noise_scale == 0.0


def test_solutions_are_near_enough_in_exact_rationals() -> None:
    for width, scale in ((1, 3), (4, 2**20), (7, 2**29)):
        rows = RNG.integers(-scale, scale, (width - 1, width)) if width > 1 else np.zeros((1, 1))
        # Rank one short: the damping alone holds the last direction.
        exact = np.array(rows, dtype=object)
        matrix = (exact.T @ exact).astype(np.int64)
        vector = [Fraction(float(entry)) for entry in RNG.normal(size=width)]
        found = solve_within(matrix, 5, vector)
        damped = [[int(a) + 5 * (j == k) for k, a in enumerate(r)] for j, r in enumerate(matrix)]
        true = solve_exactly(damped, vector)
        error = sum((a - b) ** 2 for a, b in zip(found, true, strict=True))
        size = sum(entry * entry for entry in vector)
        allowed = SLACK * CURVATURE_BOUND / (5 * (5 + Fraction(CURVATURE_BOUND)))
        assert error <= allowed**2 * size
        residual = [
            sum(a * x for a, x in zip(row, true, strict=True)) - entry
            for row, entry in zip(damped, vector, strict=True)
        ]
        assert not any(residual)


@pytest.mark.parametrize("refused", [False, True])
def test_where_floats_fail_the_solution_is_exact(refused: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def useless(matrix: object, vector: list[float], rcond: object) -> tuple[NDArray[np.float64]]:
        if refused:
            raise np.linalg.LinAlgError
        return (np.full(len(vector), np.nan),)

    monkeypatch.setattr(np.linalg, "lstsq", useless)
    found = solve_within(np.array([[3, 1], [1, 2]]), 1, [Fraction(1), Fraction(0)])
    assert found == [Fraction(3, 11), Fraction(-1, 11)]


def test_the_damping_is_rounded_up_and_never_0() -> None:
    store = memory_store(table(5))
    assert damping_integer(query(damping=1e-90), store) == 1
    one, two = (damping_integer(query(damping=value), store) for value in (1.0, 2.0))
    assert two in {2 * one - 1, 2 * one}
    assert largest_move(Fraction(1), one) < largest_move(Fraction(1), one - 1)


def test_t12_noise_is_of_the_scale_that_is_stated() -> None:
    """900 coordinates; the ratio of variances is chi-square. False-alarm rate 1e-6."""
    store, asked = memory_store(table(50)), query()
    price = Price(2**12, 10)
    truth = answer_damped_direction(asked, price, store, None).value
    entropy = SeededEntropy(3)
    answers = [answer_damped_direction(asked, price, store, entropy) for _ in range(300)]
    noise = np.array([answer.value - truth for answer in answers]) / answers[0].noise_scale
    low, high = stats.chi2.ppf([5e-7, 1 - 5e-7], noise.size)
    assert low < np.square(noise).sum() < high


@pytest.mark.parametrize("gradient", [np.zeros(3), np.full(3, 1e-200), np.full(3, 1e90)])
def test_any_gradient_is_answered(gradient: NDArray[np.float64]) -> None:
    asked = DampedDirection(np.zeros(3), gradient, 1.0, 1.0)
    for values in (np.zeros((4, 4)), table(4)):
        answer = answer_damped_direction(asked, PRICE, memory_store(values), SeededEntropy(1))
        assert np.isfinite(answer.value).all()
        assert answer.noise_scale > 0


def test_t20_answers_do_not_depend_on_blocks_threads_or_order(monkeypatch: pytest.MonkeyPatch) -> None:
    values, asked = table(700), query()
    reference = integer_direction(asked, PRICE, memory_store(values))
    for threads in ("1", "3"):
        monkeypatch.setenv("TACIT_THREADS", threads)
        order = RNG.permutation(len(values))
        assert integer_direction(asked, PRICE, memory_store(values[order], 128)) == reference


def test_the_trace_is_that_of_the_curvature() -> None:
    values = table(400)
    theta = RNG.normal(size=3)
    X = values[:, :3]
    share = 1 / (1 + np.exp(-X @ theta))
    expected = (share * (1 - share)) @ np.square(X).sum(axis=1)
    asked = CurvatureTrace(theta, 2.0)
    found = answer_curvature_trace(asked, Price(2**36, 0), memory_store(values), None)
    assert math.isclose(found.value[0], expected, rel_tol=1e-3)
    noised = answer_curvature_trace(asked, Price(2**36, 40), memory_store(values), SeededEntropy(2))
    assert abs(noised.value[0] - expected) < 10 * noised.noise_scale
