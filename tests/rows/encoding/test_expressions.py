"""Values of expressions: those of the records, each for itself, without a word about what they hold."""

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.design.expression_tree import Apply, Cell, Expression, Number, Power
from tacit.errors import SettingError
from tacit.rows.encoding.expressions import cell_values, evaluated
from tacit.rows.storage.tiles import to_rows, to_tiles

A, B = Cell("a", 0, 4.0), Cell("b", 1, 0.5)
CASES: dict[str, tuple[Expression, Any]] = {
    "number": (Number(3.5), lambda a, b: 3.5 + 0 * a),
    "sum": (Apply("+", (A, B)), lambda a, b: a + b),
    "difference": (Apply("-", (A, Number(1.0))), lambda a, b: a - 1),
    "product": (Apply("*", (A, B)), lambda a, b: a * b),
    "quotient": (Apply("/", (A, Apply("+", (B, Number(2.0))))), lambda a, b: a / (b + 2)),
    "power": (Power(A, 3), lambda a, b: a * a * a),
    "abs": (Apply("abs", (A,)), lambda a, b: abs(a)),
    "minimum": (Apply("minimum", (A, B)), np.minimum),
    "maximum": (Apply("maximum", (A, Number(0.0))), lambda a, b: np.maximum(a, 0)),
    "less": (Apply("<", (A, B)), lambda a, b: a < b),
    "at most": (Apply("<=", (A, B)), lambda a, b: a <= b),
    "equal": (Apply("==", (A, A)), lambda a, b: a == a),  # noqa: PLR0124
    "other": (Apply("!=", (A, B)), lambda a, b: a != b),
    "not": (Apply("not", (Apply("<", (A, B)),)), lambda a, b: ~(a < b)),
    "sqrt": (Apply("sqrt", (Power(A, 2),)), lambda a, b: abs(a)),
}
NEAR: dict[str, tuple[Expression, Any]] = {
    "log": (Apply("log", (Apply("+", (Power(A, 2), Number(1.0))),)), lambda a, b: np.log(a * a + 1)),
    "log1p": (Apply("log1p", (Power(A, 2),)), lambda a, b: np.log1p(a * a)),
    "exp": (Apply("exp", (B,)), lambda a, b: np.exp(b)),
}


def rows(n: int) -> NDArray[np.float64]:
    rng = np.random.default_rng(n)
    return np.column_stack([rng.uniform(-1, 1, (n, 2)), np.ones(n), np.zeros(n)])


@pytest.mark.parametrize("case", CASES)
def test_values_are_those_of_plain_arithmetic_to_the_bit(case: str) -> None:
    expression, by_hand = CASES[case]
    table = rows(150)
    found = to_rows(evaluated(expression, to_tiles(table))[:, None], 150)[:, 0]
    np.testing.assert_array_equal(found, np.asarray(by_hand(4 * table[:, 0], table[:, 1] / 2), dtype=float))


@pytest.mark.parametrize("case", NEAR)
def test_functions_are_those_of_numpy_to_a_few_units(case: str) -> None:
    expression, by_hand = NEAR[case]
    table = rows(150)
    found = to_rows(evaluated(expression, to_tiles(table))[:, None], 150)[:, 0]
    np.testing.assert_allclose(found, by_hand(4 * table[:, 0], table[:, 1] / 2), rtol=1e-15)


@pytest.mark.parametrize("case", [*CASES, *NEAR])
def test_a_value_does_not_depend_on_the_place_or_on_other_records(case: str) -> None:
    expression, _ = {**CASES, **NEAR}[case]
    table = rows(300)
    whole = to_rows(evaluated(expression, to_tiles(table))[:, None], 300)[:, 0]
    order = np.random.default_rng(1).permutation(300)
    turned = to_rows(evaluated(expression, to_tiles(table[order]))[:, None], 300)[:, 0]
    assert turned.tobytes() == whole[order].tobytes()
    for drop in (1, 7, 64):
        rest = to_rows(evaluated(expression, to_tiles(table[drop:]))[:, None], 300 - drop)[:, 0]
        assert rest.tobytes() == whole[drop:].tobytes()


def test_t40_records_of_any_kind_neither_raise_nor_warn() -> None:
    table = np.array([[v, w, 1.0, 0.0] for v in (0.0, -0.0, 1e300, np.inf, np.nan) for w in (0.0, np.nan, -1e300)])
    inverse = Apply("/", (Number(1.0), A))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for expression in (inverse, Apply("log", (inverse,)), Apply("exp", (Apply("log", (A,)),)), Power(A, 20)):
            assert evaluated(expression, to_tiles(table)).shape == (1, 64)


def test_a_column_that_is_not_stored_is_refused() -> None:
    with pytest.raises(SettingError, match="do not have"):
        cell_values(Cell("c", 9, 1.0), to_tiles(rows(3)))
