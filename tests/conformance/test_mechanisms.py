"""What every mechanism promises, over every kind of query in the registry."""

import itertools
import math
import multiprocessing
from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from tacit.contract.column_query import ColumnMoments
from tacit.contract.deviance_query import DevianceSum
from tacit.contract.query import (
    KIND_OF,
    ColumnCounts,
    CurvatureAndScore,
    CurvatureTrace,
    GradientNorm,
    GradientSum,
    Measure,
    Query,
    ResidualSize,
    SecondMoments,
    Weights,
)
from tacit.contract.score_query import ScoreHistogram
from tacit.contract.sensitivity import Price, event_of, price_for, squared_sensitivity
from tacit.contract.statistic_query import GroupSums
from tacit.design.design import matrix_design
from tacit.design.response import Binary
from tacit.losses import classification, regression
from tacit.mechanisms.query_responder import Responder
from tacit.privacy.relation import Relation
from tacit.rows.admission.admit_rows import admit
from tacit.rows.sources.opening import open_source
from tacit.rows.storage.store import Store
from tacit.rows.storage.tiles import to_rows
from tests.conformance.mean_queries import MEANS
from tests.rows.memory_stores import memory_store

THETA = np.array([1.5, -0.7, 0.4])
MATRIX = np.array([[3.0, 0.2, 0.0], [0.1, 0.5, -2.0], [0.0, 0.3, 1.0]])
CLIPPED = replace(regression.SQUARED, lipschitz=0.7)
QUERIES: dict[str, Query] = {
    "gradient": GradientSum(THETA, 0.4),
    "gradient at zero": GradientSum(np.zeros(3), 2.0),
    "gradient, mapped": GradientSum(THETA, 1.0, MATRIX),
    "gradient, downweighted": GradientSum(THETA, 0.6, MATRIX, downweighted=True),
    "gradient, shortened": GradientSum(THETA, 0.6, MATRIX, downweighted=True, shortened=True),
    "moments": SecondMoments(1.8),
    "moments, mapped and shrunk": SecondMoments(0.5, MATRIX),
    "moments, curvature": SecondMoments(1.8, None, THETA, Weights.CURVATURE),
    "moments, score": SecondMoments(0.9, MATRIX, THETA, Weights.SCORE),
    "counts": ColumnCounts((0, 1, 3), np.array([-0.5, -np.inf, 0.2]), np.array([0.7, 0.1, np.inf])),
    "counts of both sides": ColumnCounts((1, 1), np.array([0, -np.inf]), np.array([np.inf, 0])),
    "sandwich": CurvatureAndScore(THETA, 0.9, None, classification.LOGISTIC),
    "sandwich, mapped": CurvatureAndScore(THETA, 1.4, MATRIX, classification.LOGISTIC),
    "sandwich, clipped score": CurvatureAndScore(THETA, 0.9, MATRIX, CLIPPED, 0.4),
    "sandwich, shortened": CurvatureAndScore(THETA, 0.9, MATRIX, classification.LOGISTIC, 0.7, shortened=True),
    "norms": GradientNorm(THETA, 0.9, 0.5, None, regression.SQUARED),
    "norms, tail": GradientNorm(THETA, 0.9, 0.7, MATRIX, classification.LOGISTIC, Measure.SHARE, 0.1),
    "residuals": ResidualSize(THETA, 0.7),
    "residuals, mapped": ResidualSize(THETA, 2.0, MATRIX, 0.1, 0.9),
    "log loss": ResidualSize(THETA, 2.0, None, -1.0, 1.0, Measure.LOG_LOSS),
    "log loss, squared": ResidualSize(THETA, 0.9, None, -2.0, 2.0, Measure.SQUARED_LOG_LOSS),
    "label tilt": ResidualSize(THETA, 0.4, None, -3.0, 3.0, Measure.LABEL_TILT, start=0.2),
    "residuals, fourth power": ResidualSize(THETA, 0.7, None, -1.0, 1.0, Measure.FOURTH),
    "residuals, cross": ResidualSize(THETA, 0.7, None, -1.0, 1.0, Measure.CROSS, start=0.3),
    "columns": ColumnMoments(np.array([1.5, -0.7, 1.0]), np.array([0.2, 0.0, -3.0]), 1.2),
    "columns, long": ColumnMoments(np.array([50.0, 1e-3, 4.0]), np.array([0.0, 2.0, 0.5]), 0.3),
    "deviance": DevianceSum(THETA, 1.5, classification.LOGISTIC),
    "histogram of scores": ScoreHistogram(THETA, np.array([-0.5, 0.1, 0.8])),
    "column moments": ColumnMoments(np.array([1.0, 0.5, 0.0]), np.array([0.1, -0.2, 0.3]), 0.8),
    "trace": CurvatureTrace(THETA, 1.8),
    **MEANS,
}
IntegerSum = Callable[[Query, int, Store], list[int]]
BOUNDS = [(0.0, 100.0), (100.0, 101.0), (-1e-6, 1e6), (-3.0, -1.0)]
CELLS = (-1e300, 0.0, 1e-310, 50.0, 100.5, 101.0, 1e300)


def size_of(query: Query) -> int:
    return int(getattr(query, "size", 1))


def prepared(bounds: tuple[float, float]) -> NDArray[np.float64]:
    """Rows of all corners, of points within and of points far outside, with either label."""
    cells = np.array(list(itertools.product(CELLS, CELLS, (0, 1))))
    design = matrix_design(["x0", "x1"], Binary("y", (0, 1)), bounds=bounds, row_norm=None, intercept=True)
    store = admit(open_source(cells[:, :2], cells[:, 2]), design, dtype=np.float64)
    return to_rows(store.block(0), len(cells))


def random_rows(n: int, seed: int = 0) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    rows = rng.uniform(-1, 1, (n, 4))
    rows[:, 2] = 1.0
    rows[:, 3] = rng.integers(0, 2, n)
    return rows


def price_of(query: Query, mu: float = 1.0, relation: Relation = Relation.REPLACE_ONE) -> Price:
    return price_for(KIND_OF[type(query)], Fraction(mu) ** 2, relation, records=1000, width=3, size=size_of(query))


def test_every_mechanism_of_the_registry_is_covered(require_all_sums: Callable[[Iterable[Query]], None]) -> None:
    require_all_sums(QUERIES.values())


@pytest.mark.parametrize("bounds", BOUNDS, ids=str)
@pytest.mark.parametrize("case", QUERIES)
def test_t01_t04_brute_force_over_neighbours_stays_within_the_sensitivity(
    case: str, bounds: tuple[float, float], integer_sum: IntegerSum
) -> None:
    """In exact integers, over all pairs of rows; and the noise is never 0."""
    query = QUERIES[case]
    rows = np.unique(prepared(bounds), axis=0)
    rows = np.vstack([rows, np.zeros(rows.shape[1])])
    for relation in Relation:
        price = price_of(query, relation=relation)
        sums = [integer_sum(query, price.bound, memory_store(row[None])) for row in rows]
        if relation is Relation.REPLACE_ONE:
            pairs = list(itertools.combinations(sums, 2))
        else:
            pairs = [(one, [0] * len(one)) for one in sums]
        largest = max(sum((a - b) ** 2 for a, b in zip(*pair, strict=True)) for pair in pairs)
        kind, size = KIND_OF[type(query)], size_of(query)
        allowed = squared_sensitivity(kind, price.bound, relation, size)
        assert 0 < largest <= allowed
        assert event_of(kind, price, relation, size).mu_squared >= Fraction(largest, 4**price.bits)
        responder = Responder(memory_store(rows), private=True, seed=0)
        assert responder.answer(query, price).noise_scale > 0


@pytest.mark.parametrize("n", [2, 3, 63, 64, 65, 129])
@pytest.mark.parametrize("case", QUERIES)
def test_t08_a_sum_is_the_sum_of_its_records(case: str, n: int, integer_sum: IntegerSum) -> None:
    """Odd and even numbers of records, whole and broken tiles: nothing is paired or dropped."""
    query, rows = QUERIES[case], random_rows(n)
    bound = price_of(query).bound
    singles = [integer_sum(query, bound, memory_store(row[None])) for row in rows]
    np.testing.assert_array_equal(integer_sum(query, bound, memory_store(rows)), np.sum(singles, axis=0))


@pytest.mark.parametrize("case", QUERIES)
@pytest.mark.parametrize("n", [1, 1000])
def test_t12_the_noise_is_that_of_the_sum_and_is_stated(case: str, n: int) -> None:
    """Standard deviation of 300 answers' coordinates against `noise_scale`, for any n.

    900 independent coordinates (the diagonal, for moments); the ratio of variances is chi-square.
    False-alarm rate 1e-6 per test.
    """
    query = QUERIES[case]
    price = price_of(query)
    responder = Responder(memory_store(random_rows(n)), private=True, seed=None)
    exact = Responder(memory_store(random_rows(n)), private=False, seed=None)
    truth = exact.answer(query, price).value
    answers = [responder.answer(query, price) for _ in range(300)]
    noise = np.array([answer.value - truth for answer in answers])
    if noise.ndim >= 3 and not isinstance(query, ColumnMoments | GroupSums | ScoreHistogram):
        np.testing.assert_array_equal(noise, np.swapaxes(noise, -1, -2))
        noise = np.diagonal(noise, axis1=-2, axis2=-1)
    scale = answers[0].noise_scale
    assert {answer.noise_scale for answer in answers} == {scale}
    ratio = np.sum((noise / scale) ** 2)
    low, high = stats.chi2.ppf([5e-7, 1 - 5e-7], noise.size)
    assert low < ratio < high


@pytest.mark.parametrize("case", QUERIES)
def test_t18_half_the_mu_is_twice_the_noise(case: str) -> None:
    query = QUERIES[case]
    rows = random_rows(10)
    scales = []
    for mu in (0.01, 0.1, 1.0, 10.0):
        responder = Responder(memory_store(rows), private=True, seed=0)
        scales.append(mu * responder.answer(query, price_of(query, mu)).noise_scale)
    # Rounding of the bound costs second moments up to 2^-14, gradients next to nothing.
    assert max(scales) <= min(scales) * 1.001


@pytest.mark.parametrize("case", QUERIES)
def test_t16_answers_of_any_two_tables_lie_on_one_lattice(case: str) -> None:
    """True sums of 0 and of something else: the same multiples of one step, of either parity."""
    query = QUERIES[case]
    price = Price(2**12, 6)
    parities = []
    steps = 2.0 if isinstance(query, SecondMoments | CurvatureAndScore) else 1.0
    for rows in (np.zeros((5, 4)), random_rows(5)):
        responder = Responder(memory_store(rows), private=True, seed=None)
        answers = [responder.answer(query, price) for _ in range(40)]
        unit = steps * 2.0**price.bits / answers[0].noise_scale
        values = np.array([answer.value for answer in answers]).ravel() * unit
        np.testing.assert_allclose(values, np.rint(values), rtol=0, atol=1e-6)
        parities.append(set((np.rint(values) % 2).tolist()))
    # 120 or more coordinates of noise as wide as 64 steps: all even by chance, below 1e-30.
    assert parities == [{0.0, 1.0}, {0.0, 1.0}]


def noise_of_a_process(queue: Any) -> None:
    values = []
    for query in QUERIES.values():
        responder = Responder(memory_store(np.zeros((4, 4))), private=True, seed=None)
        values.append(responder.answer(query, Price(2**36, 40)).value.tobytes())
    queue.put(values)


def test_t13_forked_processes_share_no_noise() -> None:
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    processes = [context.Process(target=noise_of_a_process, args=(queue,)) for _ in range(2)]
    for process in processes:
        process.start()
    drawn = [value for _ in processes for value in queue.get()]
    for process in processes:
        process.join()
    noise_of_a_process(queue)
    drawn += queue.get()
    assert len(set(drawn)) == 3 * len(QUERIES)


@pytest.mark.parametrize("case", QUERIES)
def test_t40_records_of_any_size_leave_the_sum_finite(case: str, integer_sum: IntegerSum) -> None:
    query = QUERIES[case]
    price = price_of(query)
    extremes = np.array([0.0, -0.0, 5e-324, 1e-300, 1.0, -1.0, 1e15])
    rows = np.array(list(itertools.product(extremes, extremes, (0.0, 1.0), (0.0, 1.0))))
    responder = Responder(memory_store(rows), private=True, seed=0)
    answer = responder.answer(query, price)
    assert np.isfinite(answer.value).all()
    total = integer_sum(query, price.bound, memory_store(rows))
    largest = len(rows) * price.bound * math.sqrt(size_of(query))
    assert math.sqrt(sum(entry**2 for entry in total)) <= largest
