"""Terms, schemas and the laws of features."""

import numpy as np
import pytest

from benchmarks.coverage.population import (
    correlated,
    factor,
    heavy,
    lognormal,
    normal,
    number,
    numeric,
    plain_population,
    power,
    product,
    spline,
    truth_of,
)

TABLE = {"x": np.array([1.0, 2.0, 3.0]), "g": np.array(["a", "b", "c"]), "h": np.array(["p", "q", "q"])}


def test_terms_have_a_column_for_each_name() -> None:
    groups, arms = factor("g", "abc"), factor("h", "pq")
    assert power("x", 3).values(TABLE)[:, 0].tolist() == [1, 8, 27]
    assert groups.names == ("C(g)[T.b]", "C(g)[T.c]")
    assert groups.values(TABLE).tolist() == [[0, 0], [1, 0], [0, 1]]
    both = product(groups, arms)
    assert both.names == ("C(g)[T.b]:C(h)[T.q]", "C(g)[T.c]:C(h)[T.q]")
    assert both.values(TABLE).tolist() == [[0, 0], [1, 0], [0, 1]]


def test_a_spline_sums_to_one_with_its_first_function() -> None:
    term = spline("x", (2.0,), (1.0, 3.0))
    found = term.values(TABLE)
    assert len(term.names) == found.shape[1] == 4
    assert found.sum(axis=1) == pytest.approx([0, 1, 1])


@pytest.mark.parametrize("law", [normal, correlated, heavy])
def test_features_are_centred(law: object) -> None:
    assert callable(law)
    X = law(20_000, 3, np.random.default_rng(1))
    assert np.abs(X.mean(axis=0)).max() < 6 * X.std() / np.sqrt(len(X))


def test_correlated_and_skewed_features_are_so() -> None:
    generator = np.random.default_rng(2)
    X = correlated(20_000, 2, generator)
    assert np.mean(X[:, 0] * X[:, 1]) == pytest.approx(0.8, abs=0.04)
    assert np.log(lognormal(20_000, 1, generator)).std() == pytest.approx(1, abs=0.03)


def test_slopes_of_zero_are_the_nulls() -> None:
    found = plain_population(
        "p",
        "",
        "gaussian",
        2,
        lambda X, _: (X[:, 0], X[:, 0]),
        response=numeric(-9, 9),
        draw=normal,
        truth=(0.0, 1.0, 0.0),
    )
    assert found.nulls == ("x1",)
    assert found.formula == "y ~ x0 + x1"
    assert found.truth == truth_of((number("x0"), number("x1")), (0, 1, 0))
    draw = found.sample(5, np.random.default_rng(0))
    assert found.rows(draw).shape == (5, found.d)
    assert set(found.schema.columns) == {"x0", "x1", "y"}
