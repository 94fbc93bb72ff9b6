"""Parts: which factors a piece of a formula stands for."""

import math

import pytest

from tacit.design.factor import Between, Indicator, Numeric, Power, Spline, Transform
from tacit.errors import FormulaError, SchemaError
from tacit.formula.atom import LARGEST_BASIS, column_atom, computed_atoms
from tacit.schema.schema import FactorColumn, NumericColumn, Schema

SCHEMA = Schema({"x": NumericColumn(1, 9), "w": FactorColumn(("a", "b", "c"))})


def test_columns() -> None:
    number, factor = column_atom("x", SCHEMA), column_atom("w", SCHEMA)
    assert (number.factors, number.partition) == ((Numeric("x"),), False)
    assert factor.factors == tuple(Indicator("w", level) for level in "abc")
    assert [name for name, _ in factor.choices(whole=True)] == ["w[a]", "w[b]", "w[c]"]
    assert [name for name, _ in factor.choices(whole=False)] == ["w[T.b]", "w[T.c]"]


def test_two_spellings_of_one_part_have_one_key() -> None:
    (bare,), (quoted,) = computed_atoms("C(w)", SCHEMA), computed_atoms("C(`w`)", SCHEMA)
    assert bare.factors == quoted.factors == column_atom("w", SCHEMA).factors
    (first,) = computed_atoms("I(x ** 1)", SCHEMA)
    assert first.factors == column_atom("x", SCHEMA).factors
    (short,), (long,) = computed_atoms("log(x)", SCHEMA), computed_atoms("np.log(x)", SCHEMA)
    assert short.factors == long.factors == (Transform("x", "log"),)


def test_powers() -> None:
    parts = computed_atoms("poly(x, degree=3, raw=True)", SCHEMA)
    assert [part.factors for part in parts] == [(Numeric("x"),), (Power("x", 2),), (Power("x", 3),)]
    assert computed_atoms("x ** 4", SCHEMA)[0].factors == (Power("x", 4),)


def test_splines_and_cuts() -> None:
    (spline,) = computed_atoms("bs(x, knots=[3], degree=1)", SCHEMA)
    assert spline.factors == tuple(Spline("x", (1, 3, 9), 1, index) for index in range(3))
    assert [name for name, _ in spline.choices(whole=False)] == [
        f"bs(x, knots=[3], degree=1)[{index}]" for index in (1, 2)
    ]
    (cut,) = computed_atoms("cut(x, edges=[1, 2.5, 4])", SCHEMA)
    assert cut.factors == (Between("x", -math.inf, 2.5), Between("x", 2.5, 4), Between("x", 4, math.inf))
    assert cut.labels == ("[1, 2.5]", "(2.5, 4]", "(4, 9]")


def test_a_slip_of_a_thousand_knots_is_refused() -> None:
    knots = [1 + (i + 1) / 1000 for i in range(LARGEST_BASIS + 1)]
    with pytest.raises(FormulaError, match="at most"):
        computed_atoms(f"bs(x, knots={knots})", SCHEMA)
    with pytest.raises(FormulaError, match="within"):
        computed_atoms(f"cut(x, [{10**400}])", SCHEMA)


def test_unknown_columns_are_unknown_in_calls_too() -> None:
    with pytest.raises(SchemaError, match='"z" is not declared'):
        computed_atoms("log(z)", SCHEMA)
