"""Offsets: weighted, several at once, and the same in fit and prediction."""

import math

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import tacit
from tacit.design.attached_columns import Offset, OffsetSum, OffsetTerm
from tacit.design.response import find_family
from tacit.errors import FormulaError
from tacit.formula.offset import offset_term, summed_offset
from tacit.schema.schema import NumericColumn, Schema

SCHEMA = Schema(
    {"n": NumericColumn(0, 60), "x": NumericColumn(-1, 1), "t": NumericColumn(1, 4), "a b": NumericColumn(0, 2)}
)


@pytest.mark.parametrize(
    ("spelling", "expected"),
    [
        ("offset(x)", OffsetTerm("x", 1.0, -1, 1)),
        ("offset(0.5 * x)", OffsetTerm("x", 0.5, -1, 1)),
        ("offset(x*-2)", OffsetTerm("x", -2.0, -1, 1)),
        ("offset(`a b` / 4)", OffsetTerm("a b", 0.25, 0, 2)),
        ("offset(-x)", OffsetTerm("x", -1.0, -1, 1)),
        ("offset(0.5*x/100)", OffsetTerm("x", 0.005, -1, 1)),
        ("offset(-2*x/10)", OffsetTerm("x", -0.2, -1, 1)),
        ("offset(I(x/4))", OffsetTerm("x", 0.25, -1, 1)),
        ("offset(2*(3*log(t)))", OffsetTerm("t", 6.0, 0.0, math.log(4), exposure=True)),
        ("offset(2 * log(t))", OffsetTerm("t", 2.0, 0.0, math.log(4), exposure=True)),
        ("exposure(t)", OffsetTerm("t", 1.0, 0.0, math.log(4), exposure=True)),
        ("log(t)", None),
    ],
)
def test_what_is_read(spelling: str, expected: OffsetTerm | None) -> None:
    assert offset_term(spelling, SCHEMA, find_family("poisson")) == expected


@pytest.mark.parametrize("spelling", [f"offset({10**400} * x)", f"offset(x / -{10**400})", "offset(1e999 * x)"])
def test_a_number_beyond_floats_is_refused(spelling: str) -> None:
    with pytest.raises(FormulaError, match="moderate"):
        offset_term(spelling, SCHEMA, find_family("poisson"))


def test_one_plain_offset_is_as_before_and_several_are_a_sum() -> None:
    term = OffsetTerm("x", 1.0, -1, 1)
    assert summed_offset([]) is None
    assert summed_offset([term]) == Offset("x", -1, 1)
    both = summed_offset([term, OffsetTerm("t", -0.5, 1, 4)])
    assert both == OffsetSum((term, OffsetTerm("t", -0.5, 1, 4)))
    assert (both.lower, both.upper) == (-3.0, 0.5)


def test_several_offsets_are_those_of_statsmodels() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.uniform(-1, 1, 500), "t": rng.uniform(1, 4, 500), "a b": rng.uniform(0, 2, 500)})
    shift = 0.5 * table["a b"] + np.log(table["t"])
    table["n"] = rng.poisson(np.exp(0.2 + 0.4 * table["x"] + shift))
    formula = "n ~ x + offset(0.5 * `a b`) + exposure(t)"
    fit = tacit.glm(formula, table, SCHEMA, family="poisson", epsilon=float("inf"))
    twin = sm.GLM(table["n"], sm.add_constant(table[["x"]]), sm.families.Poisson(), offset=shift).fit(tol=1e-12)
    np.testing.assert_allclose(fit.params, twin.params, atol=1e-6)
    expected = twin.predict(sm.add_constant(table[["x"]]), offset=shift)
    np.testing.assert_allclose(fit.predict(table), expected, rtol=1e-5)


def test_a_stored_fit_has_them(tmp_path: object) -> None:
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"x": rng.uniform(-1, 1, 2000), "t": rng.uniform(1, 4, 2000), "n": rng.poisson(3, 2000)})
    fit = tacit.glm("n ~ x + offset(0.5*x) + offset(log(t))", table, SCHEMA, family="poisson", epsilon=1.0)
    path = f"{tmp_path}/fit.json"
    fit.save(path)
    assert tacit.load(path).stored.design.attached.offset == fit.stored.design.attached.offset
    np.testing.assert_array_equal(tacit.load(path).predict(table), fit.predict(table))
