"""Surrogates obey the public facts and have the moments that they are given."""

import numpy as np
import pytest

import tacit
from tacit import Assumptions, LinearRegression, LogisticRegression
from tacit.formula.formula import design_from_formula
from tacit.planning.demo_table import CLINIC_FORMULA, CLINIC_SCHEMA
from tacit.planning.surrogate import Surrogate


def test_rows_obey_the_bounds_of_a_formula() -> None:
    design = design_from_formula(CLINIC_FORMULA, tacit.Schema.parse(CLINIC_SCHEMA), family="binomial")
    found = Surrogate.simulated(design)
    assert np.linalg.norm(found.rows, axis=1).max() <= design.row_norm * (1 + 1e-12)
    assert found.rows.shape[1] == design.width
    assert set(found.response) == {0.0, 1.0}
    again = Surrogate.simulated(design)
    assert np.array_equal(found.rows, again.rows)
    assert np.array_equal(found.response, again.response)


def test_labels_have_their_share() -> None:
    design = LogisticRegression(epsilon=1.0, bounds=(0, 1), classes=(0, 1)).plan(1000, 3).design
    # 2000 labels: a mean 0.06 off has a probability below 1e-6.
    assert abs(Surrogate.simulated(design, Assumptions(share=0.1)).response.mean() - 0.1) < 0.06


def test_given_moments_are_those_of_the_rows() -> None:
    generator = np.random.default_rng(2)
    X = np.clip(generator.normal(0.5, 0.1, (4000, 2)) @ np.array([[1.0, 0.5], [0.0, 0.5]]), 0, 1)
    y = X @ [1.0, -1.0] + 0.1 * generator.standard_normal(4000)
    table = np.column_stack([np.ones(4000), X, y])
    design = LinearRegression(epsilon=1.0, bounds=(0, 1), y_bounds=(-2, 2)).plan(4000, 2).design
    found = Surrogate.simulated(design, Assumptions(moments=table.T @ table / 4000))
    features = found.rows[:, :2] / 2 + 0.5
    np.testing.assert_allclose(features.mean(axis=0), X.mean(axis=0), atol=0.02)
    np.testing.assert_allclose(np.cov(features.T), np.cov(X.T), atol=0.003)


def test_levels_whose_labels_are_all_alike_are_so_in_the_surrogate() -> None:
    generator = np.random.default_rng(3)
    level = generator.choice(3, 20_000, p=[0.6, 0.37, 0.03])
    X = (level[:, None] == np.arange(3)).astype(float)
    chance = np.array([0.3, 0.6, 0.0])[level]
    table = np.column_stack([np.ones(20_000), X, generator.random(20_000) < chance])
    design = LogisticRegression(epsilon=1.0, bounds=(0, 1), classes=(0, 1)).plan(20_000, 3).design
    found = Surrogate.simulated(design, Assumptions(moments=table.T @ table / 20_000))
    rare = found.rows[:, 2] > 0
    # Of some 180 rows.
    assert 50 < rare.sum() < 400
    assert not found.response[rare].any()
    assert found.response[~rare].any()


def test_positive_responses_are_positive_and_within_their_bounds() -> None:
    columns = {"x": {"type": "numeric", "lower": -1, "upper": 1}, "y": {"type": "numeric", "lower": 0, "upper": 50}}
    study = tacit.plan("y ~ x", tacit.Schema.from_mapping({"columns": columns}), n=4000, family="gamma", epsilon=1.0)
    assert 0 < study.forecast.excess_risk < 0.05


@pytest.mark.parametrize("family", ["binomial", "gaussian", "poisson", "multinomial"])
def test_an_intercept_alone_has_a_forecast(family: str) -> None:
    columns = {
        "binomial": {"type": "binary"},
        "gaussian": {"type": "numeric", "lower": -1, "upper": 1},
        "poisson": {"type": "numeric", "lower": 0, "upper": 9},
        "multinomial": {"type": "factor", "levels": ["a", "b", "c"]},
    }
    schema = tacit.Schema.from_mapping({"columns": {"y": columns[family]}})
    study = tacit.plan("y ~ 1", schema, n=8000, family=family, epsilon=1.0)
    assert all(0 < width < 1 for width in study.forecast.half_widths.values() if width is not None)
    assert study.forecast.excess_risk < 0.01
