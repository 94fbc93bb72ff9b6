"""The synthetic clinic: reproducible, within its declared bounds, true to its truth."""

import csv

import numpy as np
import statsmodels.api as sm

from tacit.formula.formula import design_from_formula
from tacit.planning.demo_table import (
    CLINIC_FORMULA,
    CLINIC_SCHEMA,
    CLINIC_TRUTH,
    CLINIC_UNITS,
    clinic_csv,
    clinic_loss,
    clinic_margins,
    clinic_table,
)
from tacit.schema.schema import BinaryColumn, FactorColumn, NumericColumn, Schema


def test_the_same_table_every_time() -> None:
    first, second, other = clinic_table(50), clinic_table(50), clinic_table(50, seed=1)
    assert clinic_csv(first) == clinic_csv(second)
    assert clinic_csv(first) != clinic_csv(other)


def test_the_schema_holds() -> None:
    table = clinic_table()
    schema = Schema.parse(CLINIC_SCHEMA)
    assert list(schema.columns) == list(table)
    for name, column in schema.columns.items():
        if isinstance(column, NumericColumn):
            values = table[name].astype(np.float64)
            assert column.lower <= values.min()
            assert values.max() < column.upper
        else:
            assert isinstance(column, FactorColumn | BinaryColumn)
            assert set(table[name].tolist()) == set(column.levels)


def test_the_truth_names_the_design() -> None:
    design = design_from_formula(CLINIC_FORMULA, Schema.parse(CLINIC_SCHEMA))
    assert design.names == tuple(CLINIC_TRUTH)
    assert set(CLINIC_UNITS) == set(CLINIC_TRUTH) - {"Intercept"}


def test_the_truth_is_true() -> None:
    # n = 200,000 at a fixed seed: the maximum-likelihood fit is within five standard errors.
    table = clinic_table(200_000, seed=3)
    design = np.column_stack(
        [
            np.ones(200_000),
            *(table[name].astype(np.float64) for name in ("age", "blood_pressure", "bmi")),
            table["smoker"] == "yes",
            table["visits"],
            table["ward"] == "surgery",
            table["ward"] == "cardiology",
        ]
    ).astype(np.float64)
    fit = sm.GLM(table["readmit"], design, family=sm.families.Binomial()).fit()
    assert np.abs((fit.params - list(CLINIC_TRUTH.values())) / fit.bse).max() < 5
    np.testing.assert_allclose(design @ list(CLINIC_TRUTH.values()), clinic_margins(table), atol=1e-12)
    loss = clinic_loss(table, dict(zip(CLINIC_TRUTH, fit.params, strict=True)))
    assert abs(loss + fit.llf / 200_000) < 1e-12
    assert 0.15 < table["readmit"].mean() < 0.4


def test_csv_round_trip() -> None:
    table = clinic_table(20)
    rows = list(csv.DictReader(clinic_csv(table).splitlines()))
    assert [int(row["age"]) for row in rows] == table["age"].tolist()
    assert [float(row["bmi"]) for row in rows] == table["bmi"].tolist()
    assert [row["ward"] for row in rows] == table["ward"].tolist()
