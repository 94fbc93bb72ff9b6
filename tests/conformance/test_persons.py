"""What every mechanism promises where several records belong to one person.

Neighbouring tables differ in all records of one person. Tables are admitted from raw cells, so that
the choice among a person's records is under test as well as the sums.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

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
    QueryKind,
    ResidualSize,
    SecondMoments,
    Weights,
)
from tacit.contract.score_query import ScoreHistogram
from tacit.contract.sensitivity import Price, event_of, price_for, squared_sensitivity
from tacit.design.attached_columns import AttachedColumns, Unit
from tacit.design.design import matrix_design
from tacit.design.response import Binary, Classes
from tacit.losses import classification, regression
from tacit.mechanisms.query_responder import Responder
from tacit.privacy.relation import Relation
from tacit.rows.admission.admit_rows import admit
from tacit.rows.sources.opening import open_source
from tacit.rows.storage.store import Store
from tests.conformance.mean_queries import MEANS

MOST = 3
THETA = np.array([1.5, -0.7, 0.4])
MATRIX = np.array([[3.0, 0.2, 0.0], [0.1, 0.5, -2.0], [0.0, 0.3, 1.0]])
CLASSES = np.outer(THETA, [1.0, -1.0, 0.5])
INTERVALS = np.array([-0.5, -np.inf, 0.2]), np.array([0.7, 0.1, np.inf])
CLIPPED = replace(regression.SQUARED, lipschitz=0.7)
QUERIES: dict[str, Query] = {
    "gradient": GradientSum(THETA, 0.4),
    "gradient, squared": GradientSum(THETA, 0.4, loss=regression.SQUARED),
    "gradient, mapped": GradientSum(THETA, 1.0, MATRIX),
    "gradient, downweighted": GradientSum(THETA, 0.6, MATRIX, downweighted=True),
    "gradient, balanced": GradientSum(THETA, 0.6, balanced=True),
    "gradient, classes": GradientSum(CLASSES, 0.7, loss=classification.SOFTMAX),
    "moments": SecondMoments(1.8),
    "moments, mapped and shrunk": SecondMoments(0.5, MATRIX),
    "moments, curvature": SecondMoments(1.8, None, THETA, Weights.CURVATURE),
    "moments, score": SecondMoments(0.9, MATRIX, THETA, Weights.SCORE),
    "sandwich": CurvatureAndScore(THETA, 1.4, None, classification.LOGISTIC),
    "counts": ColumnCounts((0, 1, 3), *INTERVALS),
    "counts of both sides": ColumnCounts((1, 1), np.array([0, -np.inf]), np.array([np.inf, 0])),
    "sandwich, clipped score": CurvatureAndScore(THETA, 0.9, MATRIX, CLIPPED, 0.4),
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
    "deviance": DevianceSum(THETA, 1.5, classification.LOGISTIC),
    "histogram of scores": ScoreHistogram(THETA, np.array([-0.5, 0.1, 0.8])),
    "column moments": ColumnMoments(np.array([1.0, 0.5, 0.0]), np.array([0.1, -0.2, 0.3]), 0.8),
    "trace": CurvatureTrace(THETA, 1.8),
    **MEANS,
}
IntegerSum = Callable[[Query, int, Store], list[int]]
BOUNDS = [(0.0, 100.0), (100.0, 101.0), (-1e-6, 1e6)]
FAR = (-1e300, 0.0, 100.5, 1e300)

Rows = NDArray[np.float64]
"""Records of one person: two features, label, day."""


def size_of(query: Query) -> int:
    return int(getattr(query, "size", 1))


def price_of(query: Query, relation: Relation = Relation.REPLACE_ONE) -> Price:
    width = THETA.size * (3 if getattr(query, "theta", THETA) is CLASSES else MOST)
    kind = KIND_OF[type(query)]
    return price_for(kind, Fraction(1), relation, records=1000, width=width, size=size_of(query))


def table(
    people: list[Rows],
    query: Query,
    *,
    bounds: tuple[float, float] = (0.0, 100.0),
    ordered: bool = False,
    sequence: Any = None,
) -> Store:
    """Persons admitted from raw cells, their records in the order of the list or in a sequence."""
    cells = np.concatenate(people)
    who = np.repeat(np.arange(len(people)), [len(rows) for rows in people])
    sequence = np.arange(len(cells)) if sequence is None else sequence
    cells, who = cells[sequence], who[sequence]
    response = Binary("y", (0, 1)) if query is not QUERIES["gradient, classes"] else None
    design = matrix_design(
        ["x0", "x1"], response or Classes("y", (0, 1, 2)), bounds=bounds, row_norm=None, intercept=True
    )
    unit = Unit("unit", MOST, "order" if ordered else None)
    source = open_source(cells[:, :2], cells[:, 2], attached={"unit": who, "order": cells[:, 3]})
    declared = replace(design, attached=AttachedColumns(unit=unit))
    return admit(source, declared, invalid_rows="zero", dtype=np.float64)


def squared_change(one: list[int], other: list[int]) -> int:
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))


def candidates(seed: int = 0) -> list[Rows]:
    """Whole sets of records one person may have: 1 … 1000 rows, equal, opposite, far and random."""
    rng = np.random.default_rng(seed)
    found = []
    for x0, x1, label in itertools.product(FAR, FAR, (0, 1)):
        found.append(np.array([[x0, x1, label, 1.0]]))
    for size in (2, 3, 4, 9):
        row = np.array([100.0, 0.0, 1.0, 1.0])
        found += [np.tile(row, (size, 1)), np.tile(row * [0, 1, 0, 1], (size, 1))]
        random = np.column_stack([rng.uniform(-50, 150, (size, 2)), rng.integers(0, 2, (size, 2))])
        found.append(random)
    opposite = np.array([[100.0, 100.0, 1.0, 2.0], [0.0, 0.0, 0.0, 2.0]])
    return [*found, opposite, np.tile([1e300, -1e300, 1.0, 0.0], (1000, 1))]


BLANK = np.full((2, 4), np.nan)
"""A person whose records are all invalid: what zero-out leaves of one."""
REST = [np.array([[30.0, 60.0, 1.0, 1.0]]), np.array([[80.0, 10.0, 0.0, 1.0]] * 2)]


def test_every_mechanism_of_the_registry_is_covered(require_all_sums: Callable[[Iterable[Query]], None]) -> None:
    require_all_sums(QUERIES.values())


@pytest.mark.parametrize("bounds", BOUNDS, ids=str)
@pytest.mark.parametrize("case", QUERIES)
def test_t01_t04_t35_brute_force_over_neighbouring_persons(
    case: str, bounds: tuple[float, float], integer_sum: IntegerSum
) -> None:
    """In exact integers, over all pairs of whole sets of records; the rest of the table stays."""
    query = QUERIES[case]
    kind, size = KIND_OF[type(query)], size_of(query)
    for relation in Relation:
        price = price_of(query, relation)
        sums = [integer_sum(query, price.bound, table([*REST, rows], query, bounds=bounds)) for rows in candidates()]
        if relation is Relation.REPLACE_ONE:
            changes = [squared_change(*pair) for pair in itertools.combinations(sums, 2)]
        else:
            gone = REST if relation is Relation.ADD_REMOVE else [*REST, BLANK]
            without = integer_sum(query, price.bound, table(gone, query, bounds=bounds))
            changes = [squared_change(found, without) for found in sums]
        largest = max(changes)
        allowed = squared_sensitivity(kind, price.bound, relation, size)
        assert 0 < largest <= allowed
        assert event_of(kind, price, relation, size).mu_squared >= Fraction(largest, 4**price.bits)


def some_people(n: int, most: int = 6) -> list[Rows]:
    rng = np.random.default_rng(n)
    return [
        np.column_stack([rng.uniform(-50, 150, (size, 2)), rng.integers(0, 2, (size, 2))])
        for size in rng.integers(1, most, n)
    ]


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("case", QUERIES)
def test_t08_the_order_of_the_file_does_not_matter(case: str, ordered: bool, integer_sum: IntegerSum) -> None:
    """Days tie, so that content decides between records of one day."""
    query, people = QUERIES[case], some_people(80)
    bound = price_of(query).bound
    whole = integer_sum(query, bound, table(people, query, ordered=ordered))
    rng = np.random.default_rng(1)
    for _ in range(3):
        sequence = rng.permutation(sum(map(len, people)))
        shuffled = table(people, query, ordered=ordered, sequence=sequence)
        assert integer_sum(query, bound, shuffled) == whole


@pytest.mark.parametrize("n", [2, 3, 64, 65, 129])
@pytest.mark.parametrize("case", QUERIES)
def test_t08_a_sum_is_the_sum_of_its_persons(case: str, n: int, integer_sum: IntegerSum) -> None:
    """Odd and even numbers of persons, whole and broken tiles: no person leans on another."""
    query, people = QUERIES[case], some_people(n)
    bound = price_of(query).bound
    base = integer_sum(query, bound, table([BLANK, BLANK], query))
    parts = [integer_sum(query, bound, table([rows, BLANK], query)) for rows in people]
    # A person alone cannot be admitted: beside each stands a blank one, which is taken off again.
    blank = [entry // 2 for entry in base]
    found = [sum(column) - n * b for column, b in zip(zip(*parts, strict=True), blank, strict=True)]
    assert integer_sum(query, bound, table(people, query)) == found


@pytest.mark.parametrize("case", QUERIES)
def test_t08_a_record_more_than_are_kept_counts_no_more_than_a_person(case: str, integer_sum: IntegerSum) -> None:
    query, people = QUERIES[case], some_people(20, 3)
    price = price_of(query)
    people[4] = np.repeat(people[4][:1], MOST, axis=0)
    extra = np.array([[0.0, 100.0, 0.0, 0.0]])
    kind, size = KIND_OF[type(query)], size_of(query)
    allowed = squared_sensitivity(kind, price.bound, Relation.REPLACE_ONE, size)
    before = integer_sum(query, price.bound, table(people, query))
    for count in (1, 2, 500):
        people[4] = np.concatenate([people[4][:MOST], np.repeat(extra, count, axis=0)])
        after = integer_sum(query, price.bound, table(people, query))
        assert squared_change(before, after) <= allowed


@pytest.mark.parametrize("case", QUERIES)
def test_t12_answers_are_the_sums_in_the_users_units_with_stated_noise(case: str, integer_sum: IntegerSum) -> None:
    """Noise at most 7 deviations off; the rate of a larger one is below 1e-10 a coordinate."""
    query, people = QUERIES[case], some_people(50)
    price = price_of(query)
    store = table(people, query)
    total = np.array(integer_sum(query, price.bound, store), dtype=float)
    exact = Responder(table(people, query), private=False, seed=None).answer(query, price)
    ratio = exact.value.ravel()[np.abs(total) > 0] / total[np.abs(total) > 0]
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)
    noisy = Responder(store, private=True, seed=None).answer(query, price)
    assert noisy.noise_scale == pytest.approx(ratio[0] * 2.0**price.bits)
    assert 0 < np.abs(noisy.value - exact.value).max() < 7 * noisy.noise_scale


def test_t29_the_number_of_persons_is_what_is_public_not_that_of_records() -> None:
    query = QUERIES["gradient"]
    few, many = (table([REST[0], REST[1]], query), table([REST[0], np.tile(REST[1], (9, 1))], query))
    assert few.length == many.length == 2
    assert few.layout.unit_rows == many.layout.unit_rows == MOST


def test_the_brute_force_would_find_a_person_that_is_clipped_record_by_record(integer_sum: IntegerSum) -> None:
    """A seeded fault: with the records of a person as persons of their own the bound is broken."""
    query = QUERIES["gradient"]
    price = price_of(query, Relation.ADD_REMOVE)
    heavy = np.tile([100.0, 100.0, 0.0, 1.0], (MOST, 1))
    apart = integer_sum(query, price.bound, table([*REST, *heavy[:, None]], query))
    without = integer_sum(query, price.bound, table(REST, query))
    allowed = squared_sensitivity(QueryKind.GRADIENT, price.bound, Relation.ADD_REMOVE)
    assert squared_change(apart, without) > allowed * (MOST - 0.1) ** 2
    together = integer_sum(query, price.bound, table([*REST, heavy], query))
    assert math.isclose(squared_change(together, without), allowed, rel_tol=1e-3)
