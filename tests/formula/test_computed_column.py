"""Expressions as columns: bounded by intervals, and what numpy and patsy would compute."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

import tacit
from tacit.design.factor import Computed, Transform
from tacit.errors import FormulaError, InputError
from tacit.formula.computed_column import DEEPEST, computed_factor
from tacit.formula.formula import design_from_formula
from tacit.rows.encoding.encode_rows import FeatureReader
from tacit.rows.sources.opening import open_source
from tacit.schema.schema import BinaryColumn, FactorColumn, NumericColumn, Schema

SCHEMA = Schema(
    {
        "y": NumericColumn(-50, 50),
        "a": NumericColumn(1, 100),
        "b": NumericColumn(-2, 2),
        "c d": NumericColumn(0, 1),
        "w": FactorColumn(("u", "v", "x")),
        "s": BinaryColumn(("no", "yes")),
    }
)
RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {
        "a": RNG.uniform(1, 100, 400),
        "b": RNG.uniform(-2, 2, 400),
        "c d": RNG.uniform(0, 1, 400),
        "w": RNG.choice(["u", "v", "x"], 400),
        "s": RNG.choice(["no", "yes"], 400),
    }
)
TABLE["y"] = 0.1 * TABLE["a"] - TABLE["b"] + (TABLE["w"] == "v") + RNG.normal(size=400)

EXPRESSIONS: dict[str, Any] = {
    "I(a + b)": lambda t: t["a"] + t["b"],
    "I(a*b)": lambda t: t["a"] * t["b"],
    "I(a / 10)": lambda t: t["a"] / 10,
    "I(a > 50)": lambda t: t["a"] > 50,
    "I((a - 50)^2)": lambda t: (t["a"] - 50) ** 2,
    "log(a + 1)": lambda t: np.log(t["a"] + 1),
    "log10(a)": lambda t: np.log10(t["a"]),
    "log2(a)": lambda t: np.log2(t["a"]),
    "abs(b)": lambda t: t["b"].abs(),
    "pmin(a, 50)": lambda t: t["a"].clip(upper=50),
    "pmax(a, 3, 50 * `c d`)": lambda t: np.maximum(t["a"].clip(lower=3), 50 * t["c d"]),
    "sqrt(log(a) + 1)": lambda t: np.sqrt(np.log(t["a"]) + 1),
    "clip(b, -1, 1)": lambda t: t["b"].clip(-1, 1),
    'I(w == "v")': lambda t: t["w"] == "v",
    'I(s == "yes" and a > 20)': lambda t: (t["s"] == "yes") & (t["a"] > 20),
}


@pytest.mark.parametrize("term", EXPRESSIONS)
def test_values_are_those_of_pandas_and_lie_within_the_bounds(term: str) -> None:
    design = design_from_formula(f"y ~ {term}", SCHEMA, family="gaussian")
    reader = FeatureReader.of(design)
    source = open_source(TABLE, fewest=0)
    (batch,) = source.batches(1000, numeric=reader.numeric, labels=tuple(reader.levels))
    values, valid = reader.read(batch)
    assert valid.all()
    np.testing.assert_allclose(values[:, 0], EXPRESSIONS[term](TABLE).astype(float), rtol=1e-12, atol=1e-12)
    column = design.columns[0]
    assert values.min() >= column.lower
    assert values.max() <= column.upper
    assert -np.inf < column.lower < column.upper < np.inf


@pytest.mark.parametrize(
    ("term", "twin"),
    [
        ("I(a*b) + log(a + 1)", "I(a*b) + np.log(a + 1)"),
        ('C(w, Treatment("v"))', "C(w, Treatment('v'))"),
        ('C(w, Treatment(reference="x")):b + b', "C(w, Treatment('x')):b + b"),
        ('relevel(factor(w), ref = "v")', "C(w, Treatment('v'))"),
        ("factor(w) * b", "C(w) * b"),
        ("C(w, Sum) + a", "C(w, Sum) + a"),
        ("poly(a, 2, raw = TRUE)", "a + I(a**2)"),
        ("I((a > 50) & (a < 80) | (a < 9))", "I(1 * ((a > 50) & (a < 80) | (a < 9)))"),
        ("as.factor(w)", "C(w)"),
        ("poly(a, degree=2, raw=T)", "a + I(a**2)"),
        ("1", "1"),
        ("{a + 1} + {b > 1}", "I(a + 1) + I(1 * (b > 1))"),
        ("a + C(w, Sum):a", "a + C(w, Sum):a"),
        ("C(w, Sum) * a", "C(w, Sum) * a"),
        ("bs(a, knots=c(20, 60), degree=3L)", "bs(a, knots=[20, 60], degree=3, lower_bound=1, upper_bound=100)"),
        ("bs(a, knots=[20], lower_bound=1, upper_bound=100)", "bs(a, knots=[20], lower_bound=1, upper_bound=100)"),
        ("bs(a, knots=20, Boundary.knots=c(1, 100))", "bs(a, knots=[20], lower_bound=1, upper_bound=100)"),
    ],
)
def test_a_fit_without_noise_is_that_of_statsmodels(term: str, twin: str) -> None:
    table = TABLE.rename(columns={"c d": "e"})
    fit = tacit.glm(f"y ~ {term}", TABLE, SCHEMA, family="gaussian", epsilon=float("inf"))
    known = smf.ols(f"y ~ {twin}", table).fit()
    assert sorted(fit.params) == pytest.approx(sorted(known.params), abs=1e-6)
    np.testing.assert_allclose(fit.predict(TABLE), known.predict(table), atol=1e-6)


def test_natural_splines_fit_as_scipys_do() -> None:
    fit = tacit.glm("y ~ ns(a, knots=c(20, 60))", TABLE, SCHEMA, family="gaussian", epsilon=float("inf"))
    assert len(fit.params) == 4
    from scipy.interpolate import CubicSpline

    knots = [1.0, 20.0, 60.0, 100.0]
    cardinal = np.column_stack([CubicSpline(knots, unit, bc_type="natural")(TABLE["a"]) for unit in np.eye(4)])
    expected = cardinal @ np.linalg.lstsq(cardinal, TABLE["y"], rcond=None)[0]
    np.testing.assert_allclose(fit.predict(TABLE), expected, atol=1e-5)


def test_a_private_fit_is_stored_and_read_back(tmp_path: Any) -> None:
    fit = tacit.glm('y ~ I(a*b) + I(w == "v") + ns(a, knots=[30])', TABLE, SCHEMA, family="gaussian", epsilon=4.0)
    fit.save(tmp_path / "fit.json")
    back = tacit.load(tmp_path / "fit.json")
    np.testing.assert_array_equal(back.predict(TABLE), fit.predict(TABLE))


def test_a_function_of_one_column_stays_a_transform() -> None:
    assert isinstance(design_from_formula("y ~ log(a)", SCHEMA, family="gaussian").columns[0].factors[0], Transform)
    assert isinstance(design_from_formula("y ~ I(log(a))", SCHEMA, family="gaussian").columns[0].factors[0], Transform)
    assert computed_factor("a + b", SCHEMA) == computed_factor("a + b", SCHEMA)
    assert isinstance(computed_factor("a + b", SCHEMA), Computed)


@pytest.mark.parametrize(
    ("term", "words"),
    [
        ("log(b)", "lower > 0"),
        ("log(b + 1)", "lower > 0"),
        ("I(a / b)", "holds 0"),
        ("I(a - a * 1)", None),
        ("I(y + a)", "cannot predict itself"),
        ("I(w + 1)", "it has levels"),
        ("I(a + nothing)", "not declared"),
        ("I(" + "sqrt(" * (DEEPEST + 1) + "a" + ")" * (DEEPEST + 2), "inside one another"),
        ("exp(a * 1000)", "upper <= 700"),
        ("I(1 + 1)", "the same number for every record"),
        ("I(a**b)", "a power is a whole number"),
        ('C(w, Treatment("z"))', "no declared level"),
        ("C(w, Treatment)", "in quotes"),
        ("C(w, Sum) - 1", "need an intercept"),
        ("C(w, Sum):a", r"C\(w, Sum\):a is refused: .* Add a to the formula, or write C\(w\):a"),
        ("C(w, Sum) + C(w, Sum):a:b", r"Add a:b to the formula"),
        ("C(w, Helmert)", r"C\(x, Sum\)\. Other codings give the same predictions"),
        ("ns(a, knots=[30], Boundary.knots=c(5, 90))", "its outer knots are the declared bounds, 1 and 100"),
        ("bs(a, knots=[30], upper_bound=90)", "its outer knots are the declared bounds, 1 and 100"),
        ("(1 | w)", r"\| is for random effects, which no family has. A declared factor"),
        ("a | w", r"\| is for random effects"),
        ('C(w) + C(w, Treatment("v")):a', "coded in two ways"),
        ("ns(a, df=3)", "off the data"),
        ("I(a > 50 & b < 5)", r"50 & b is refused: & and \| come before comparisons; put each .* in brackets"),
        ("Q('a')", "in backticks: `a`"),
        ("ifelse(a > 50, 1, 0)", "Comparisons are numbers"),
        ("ns(a, knots=[200])", "within the declared bounds"),
    ],
)
def test_refusals_give_the_reason(term: str, words: str | None) -> None:
    if words is None:
        assert design_from_formula(f"y ~ {term}", SCHEMA, family="gaussian").columns
        return
    with pytest.raises(InputError, match=words) as refused:
        design_from_formula(f"y ~ {term}", SCHEMA, family="gaussian")
    assert isinstance(refused.value, FormulaError | InputError)
