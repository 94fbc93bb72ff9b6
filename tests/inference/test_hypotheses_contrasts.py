"""Differences of levels: the same as by hand, with names, and refused where there are none."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit.errors import SettingError

LEVELS = ["a", "b", "c", "d"]
SCHEMA = tacit.Schema.from_mapping(
    {
        "columns": {
            "age": {"type": "numeric", "lower": 0, "upper": 100},
            "ward": {"type": "factor", "levels": LEVELS},
            "y": {"type": "numeric", "lower": -20, "upper": 20},
        }
    }
)


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    ward, age = rng.choice(LEVELS, 3000), rng.uniform(0, 100, 3000)
    y = 0.02 * age + pd.Series(ward).map({"a": 0, "b": 1, "c": 2, "d": 4}) + rng.normal(size=3000)
    return pd.DataFrame({"age": age, "ward": ward, "y": y})


def fitted(table: pd.DataFrame, formula: str, epsilon: float = 4.0) -> tacit.Fit:
    return tacit.glm(formula, table, SCHEMA, "gaussian", epsilon=epsilon, random_state=1)


def test_they_are_the_combinations_by_hand(table: pd.DataFrame) -> None:
    fit = fitted(table, "y ~ age + C(ward)")
    found = fit.contrasts("ward")
    assert found.names[:4] == ("ward: b - a", "ward: c - a", "ward: d - a", "ward: c - b")
    assert len(found.names) == 6
    known = fit.t_test(["C(ward)[T.b]", "C(ward)[T.c]", "C(ward)[T.d]"])
    np.testing.assert_allclose(found.conf_int()[:3], known.conf_int())
    last = fit.t_test("C(ward)[T.d] - C(ward)[T.c]")
    np.testing.assert_allclose(found.conf_int()[-1:], last.conf_int())
    assert found.statements[-1] == last.statements[0]


def test_all_from_one_level(table: pd.DataFrame) -> None:
    found = fitted(table, "y ~ C(ward)").contrasts("ward", reference="c")
    assert found.names == ("ward: a - c", "ward: b - c", "ward: d - c")
    np.testing.assert_allclose(found.values, [-2.0, -1.0, 2.0], atol=0.5)


def test_they_do_not_depend_on_the_coding(table: pd.DataFrame) -> None:
    with_intercept = fitted(table, "y ~ C(ward)", np.inf).contrasts("ward")
    without = fitted(table, "y ~ 0 + C(ward)", np.inf).contrasts("ward")
    np.testing.assert_allclose(with_intercept.values, without.values, atol=1e-5)
    np.testing.assert_allclose(with_intercept.std_errors, without.std_errors, rtol=1e-4)


def test_simultaneous_intervals_share_the_error_among_them(table: pd.DataFrame) -> None:
    found = fitted(table, "y ~ C(ward)").contrasts("ward")
    together, alone = found.conf_int(simultaneous=True), found.conf_int(1 - 0.05 / 6)
    np.testing.assert_allclose(together, alone)


@pytest.mark.parametrize(
    ("factor", "reference", "why"),
    [
        ("age", None, "age is no factor .* its factors: ward"),
        ("nurse", None, "nurse is no factor"),
        ("ward", "z", "z is no level of ward; the levels are a, b, c, d"),
    ],
)
def test_what_has_no_levels_is_refused(table: pd.DataFrame, factor: str, reference: Any, why: str) -> None:
    with pytest.raises(SettingError, match=why):
        fitted(table, "y ~ age + C(ward)").contrasts(factor, reference)


def test_a_matrix_has_none(table: pd.DataFrame) -> None:
    model = tacit.LinearRegression(epsilon=np.inf, bounds=(0, 100), y_bounds=(-20, 20), inference=True).fit(
        table[["age"]].to_numpy(), table["y"].to_numpy()
    )
    with pytest.raises(SettingError, match="its factors: none"):
        model.contrasts("ward")


def test_a_stored_fit_has_those_of_the_fit(table: pd.DataFrame, tmp_path: Any) -> None:
    fresh = fitted(table, "y ~ C(ward)")
    fresh.save(tmp_path / "fit.json")
    stored = tacit.load(tmp_path / "fit.json")
    assert str(stored.contrasts("ward")) == str(fresh.contrasts("ward"))


def test_they_are_tested_by_their_names_and_quotes_are_of_either_kind(table: pd.DataFrame) -> None:
    fit = fitted(table, "y ~ age + C(ward, Treatment('b'))")
    found, one = fit.contrasts("ward"), "C(ward, Treatment('b'))[T.d]"
    for name in found.names:
        place = found.names.index(name)
        for text in (name, f" {name} = 0"):
            again = fit.t_test(text)
            assert (again.names, again.statements) == ((name,), (found.statements[place],))
            np.testing.assert_array_equal(again.conf_int()[0], found.conf_int()[place])
    np.testing.assert_allclose(fit.t_test("ward: a - d").values, -fit.t_test("ward: d - a").values)
    both = fit.t_test([one.replace("'", '"'), "ward: d - b", "age"])
    assert both.values[0] == both.values[1] == fit.t_test(one).values[0]
    assert fit.wald_test(["ward: d - b", "ward: c - b"]).df_num == 2
    for text in ("ward: a - e", "ward: a - a", "bed: a - b"):
        with pytest.raises(SettingError, match="There is no coefficient"):
            fit.t_test(text)


def test_their_frame_has_ratios_too(table: pd.DataFrame) -> None:
    found = fitted(table, "y ~ age + C(ward)").contrasts("ward")
    frame, ratios = found.summary_frame(0.9), found.summary_frame(0.9, exponentiate=True)
    for column in ("coef", "lower", "upper"):
        np.testing.assert_allclose(ratios[column], np.exp(frame[column]))
    np.testing.assert_array_equal(ratios["pvalue"], frame["pvalue"])
