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


def test_products_of_a_term_with_units_are_named() -> None:
    names = ("Intercept", "age", "age:sex[T.f]", "bmi")
    (said,) = beside_units({"age": (10.0, "10 years")}, names)
    assert "age:sex[T.f] (age still by one unit)" in said
    assert beside_units({"age": (10.0, ""), "age:sex[T.f]": (10.0, "")}, names) == []
