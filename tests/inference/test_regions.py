"""Regions hold what the joint test does not reject, and are refused where it is."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import tacit
from tacit.errors import SettingError
from tacit.inference.results import Results


@pytest.fixture(scope="module")
def model() -> Any:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(4000, 3))
    X[:, 1] += X[:, 0]
    y = rng.random(4000) < 1 / (1 + np.exp(-(0.3 + X @ [0.5, -0.5, 0.2])))
    return tacit.LogisticRegression(epsilon=3.0, delta=1e-6, bounds=(-8, 8), inference=True, random_state=1).fit(X, y)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99, 0.9995])
def test_it_holds_what_the_test_does_not_reject(model: Any, level: float) -> None:
    region = model.confidence_region(["x0", "x1 - x2"], level)
    rng, agreed = np.random.default_rng(1), set()
    spread = region.radius * np.linalg.cholesky(region.matrix)
    for _ in range(40):
        point = (region.center + spread @ rng.normal(size=2) * 0.8).tolist()
        test = model.wald_test([f"x0 = {point[0]!r}", f"x1 - x2 = {point[1]!r}"])
        assert region.contains(point) == (test.pvalue > 1 - level)
        agreed.add(region.contains(point))
    assert agreed == {True, False}
    assert region.contains(region.center)
    assert region.statement == test.statement


def test_without_noise_it_has_the_law_of_chi_squared(twins: Any) -> None:
    region = twins.ours.confidence_region(["x0", "x1", "x2"], 0.9)
    assert region.radius**2 == pytest.approx(stats.chi2(3).ppf(0.9))
    np.testing.assert_allclose(region.matrix, twins.ours.cov_params()[1:, 1:], rtol=1e-9)
    values = [f"x{j} = {value!r}" for j, value in enumerate((0.6, -0.4, 0.0))]
    test = twins.ours.wald_test(values)
    assert region.contains([0.6, -0.4, 0.0]) == (test.pvalue > 0.1)


def test_a_single_coefficient_has_an_interval(model: Any) -> None:
    region = model.confidence_region("x2")
    ends = region.intervals[0]
    for value in (*ends, 0.999 * ends[0] + 0.001 * ends[1]):
        expected = model.wald_test(f"x2 = {float(value)!r}").pvalue
        assert expected >= 0.05 - 1e-9


def test_the_boundary_is_the_edge_and_lies_in_the_box(model: Any) -> None:
    region = model.confidence_region(["x0", "x1"])
    edge = region.boundary(50)
    away = edge - region.center
    squares = np.einsum("ij,jk,ik->i", away, np.linalg.inv(region.matrix), away)
    np.testing.assert_allclose(squares, region.radius**2)
    box = region.intervals
    assert (edge >= box[:, 0] - 1e-12).all()
    assert (edge <= box[:, 1] + 1e-12).all()
    assert "0.95 confidence region, nominal" in str(region)
    with pytest.raises(SettingError, match="two combinations"):
        model.confidence_region(["x0", "x1", "x2"]).boundary()


def test_together_it_is_wider_than_each_by_itself(model: Any) -> None:
    box = model.confidence_region(["x0", "x1"]).intervals
    alone = model.t_test(["x0", "x1"]).conf_int()
    assert (np.diff(box, axis=1) > 1.05 * np.diff(alone, axis=1)).all()


@pytest.mark.parametrize(
    ("asked", "level", "why"),
    [
        (["x0", "nope"], 0.95, "no coefficient 'nope'"),
        (["x0", "2 * x0"], 0.95, "follow from the others"),
        (["x0 = 1", "x1"], 0.95, "no hypothesis"),
        (["x0", "x1"], 1.0, "between 0 and 1"),
    ],
)
def test_what_has_no_region_is_refused(model: Any, asked: Any, level: float, why: str) -> None:
    with pytest.raises(SettingError, match=why):
        model.confidence_region(asked, level)


@pytest.mark.parametrize("point", [[1.0], [1.0, math.nan], "ab", [[1.0, 2.0]]])
def test_points_that_are_none_are_refused(model: Any, point: Any) -> None:
    with pytest.raises(SettingError, match="Expected 2 numbers: x0, x1"):
        model.confidence_region(["x0", "x1"]).contains(point)


def test_withheld_combinations_are_refused_with_the_reason(make_release: Any, altered: Any) -> None:
    release = altered(make_release(), step=np.zeros(4), visible=0.21, hidden_size=50.0)
    results = Results(release)
    assert "withheld" in results.coefficients.statements
    for ask in (results.confidence_region, results.wald_test):
        with pytest.raises(SettingError, match=r"withheld \(.*noise hides a direction"):
            ask(np.eye(4)[1:])
