"""Units of effect: ten years in place of one."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit.errors import SettingError
from tacit.inference.units import beside_units, checked_units, parsed_units
from tacit.planning.demo_table import CLINIC_SCHEMA, clinic_table


def test_a_number_or_a_pair_are_units() -> None:
    found = checked_units({"age": (10, "age, 10 years"), "bmi": 5}, ("age", "bmi"))
    assert found == {"age": (10.0, "age, 10 years"), "bmi": (5.0, "bmi, per 5")}
    assert checked_units(None, ("age",)) == {}


@pytest.mark.parametrize(
    ("units", "words"),
    [
        ({"agge": 10}, "no term"),
        ({"age": 0}, "positive"),
        ({"age": float("nan")}, "positive"),
        ({"age": "10"}, "a number or a pair"),
        ({"age": (10, 10)}, "a number or a pair"),
    ],
)
def test_other_units_are_refused(units: Any, words: str) -> None:
    with pytest.raises(SettingError, match=words):
        checked_units(units, ("age",))


def test_a_command_line_has_them_as_text() -> None:
    found = parsed_units(["age=10 years", "I(a=b)=2"])
    assert found == {"age": (10.0, "age, per 10 years"), "I(a=b)": (2.0, "I(a=b), per 2")}
    for text in ("age", "=10", "age=ten"):
        with pytest.raises(SettingError, match="10 years"):
            parsed_units([text])


def test_a_summary_has_them() -> None:
    table = pd.DataFrame(clinic_table(3000))
    fit = tacit.glm("readmit ~ age + bmi", table, tacit.Schema.parse(CLINIC_SCHEMA), epsilon=3.0)
    plain, wide = fit.summary().lines[1], fit.summary(units={"age": (10, "decades")}).lines[1]
    assert wide.name == "decades"
    assert plain.lower is not None
    assert plain.std_err is not None
    ten = [10 * number for number in (plain.coef, plain.lower, plain.std_err)]
    assert [wide.coef, wide.lower, wide.std_err] == pytest.approx(ten)
    assert wide.pvalue == pytest.approx(plain.pvalue)
    ratio = fit.summary(units={"age": 10}, exponentiate=True).lines[1]
    assert ratio.coef == pytest.approx(np.exp(10 * plain.coef))


def test_words_that_begin_with_a_number_say_the_unit() -> None:
    assert checked_units({"age": (10, "10 years")}, ("age",)) == {"age": (10.0, "age, per 10 years")}


def test_a_column_of_several_classes_is_named_once() -> None:
    names = ("low: Intercept", "low: age", "high: age", "mid-age")
    assert checked_units({"age": (10, "10 years")}, names) == {
        "low: age": (10.0, "low: age, per 10 years"),
        "high: age": (10.0, "high: age, per 10 years"),
    }
    for units in ({"age": 10, "low: age": 5}, {"low: age": 5, "age": 10}):
        assert checked_units(units, names)["low: age"] == (5.0, "low: age, per 5")
    with pytest.raises(SettingError, match="no term"):
        checked_units({"ge": 10}, names)


@pytest.mark.parametrize(
    ("unit", "given", "factor"),
    [
        ("days", (10, "10 years"), 3652.425),
        ("days", (3652.425, "10 years"), 3652.425),
        ("days", (365, "1 year"), 365.0),
        ("days", (30, "30 days"), 30.0),
        ("days", (1, "1 decade"), 3652.425),
        ("days", (10, "age at the visit"), 10.0),
        ("years", (10, "10 years"), 10.0),
        ("years", (7, "7 days"), 7 / 365.2425),
        ("years", 2, 2.0),
    ],
)
def test_spans_of_dates_are_counted_in_the_unit_of_the_column(unit: str, given: Any, factor: float) -> None:
    assert checked_units({"day": given}, ("day",), {"day": unit})["day"][0] == pytest.approx(factor, rel=1e-12)


def test_a_span_that_the_number_contradicts_is_refused() -> None:
    with pytest.raises(SettingError, match=r"'day' counts days, and 10 years are 3652\.425 of them; got 7\. Give"):
        checked_units({"day": (7, "10 years")}, ("day",), {"day": "days"})


def test_ten_years_of_a_date_in_days_are_ten_years() -> None:
    schema = tacit.Schema.parse("""
[columns.day]
type = "date"
lower = 2015-01-01
upper = 2024-12-31
[columns.y]
type = "numeric"
lower = -10
upper = 10
""")
    days = pd.Timestamp("2015-01-01") + pd.to_timedelta(np.arange(3000), unit="D")
    table = pd.DataFrame({"day": days, "y": np.arange(3000) / 3652.425})
    fit = tacit.glm("y ~ day", table, schema, family="gaussian", epsilon=float("inf"))
    summary = fit.summary(units={"day": (10, "10 years")})
    assert (summary.lines[1].name, round(summary.lines[1].coef, 6)) == ("day, per 10 years", 1.0)


def test_the_intercept_of_years_without_an_origin_is_said_to_be_at_year_0() -> None:
    text = """
[columns.day]
type = "date"
lower = 2015-01-01
upper = 2024-12-31
unit = "years"
[columns.y]
type = "binary"
"""
    generator = np.random.default_rng(0)
    days = pd.Timestamp("2015-01-01") + pd.to_timedelta(generator.integers(0, 3600, 4000), unit="D")
    table = pd.DataFrame({"day": days, "y": generator.integers(0, 2, 4000)})
    said = " ".join(str(tacit.glm("y ~ day", table, tacit.Schema.parse(text), epsilon=2.0).summary()).split())
    assert "day counts years such as 2015.5, and the intercept is at year 0: declare an origin" in said
    near = text.replace('unit = "years"', 'unit = "years"\norigin = 2020-01-01')
    assert "year 0" not in str(tacit.glm("y ~ day", table, tacit.Schema.parse(near), epsilon=2.0).summary())


def test_names_may_stand_in_backquotes_and_all_terms_are_listed() -> None:
    names = ("Intercept", *(f"x{j}" for j in range(10)), "age (years)", "age (years):sex")
    given = parsed_units(["`age (years)`=10 years", "`age (years)`:sex=10 years"])
    assert checked_units(given, names) == {
        "age (years)": (10.0, "age (years), per 10 years"),
        "age (years):sex": (10.0, "age (years):sex, per 10 years"),
    }
    with pytest.raises(SettingError, match=r"age:sex.*age .years.:sex"):
        checked_units({"age:sex": 10}, names)


def test_products_of_a_term_with_units_are_named() -> None:
    names = ("Intercept", "age", "age:sex[T.f]", "bmi")
    (said,) = beside_units({"age": (10.0, "10 years")}, names)
    assert "age:sex[T.f] (age still by one unit)" in said
    assert beside_units({"age": (10.0, ""), "age:sex[T.f]": (10.0, "")}, names) == []
