"""Tables of coefficients."""

from typing import Any

from tacit.report.coefficients import coefficient_table, comparison_table


def term(name: str, coef: float, **paid: float) -> dict[str, Any]:
    return {"name": name, "coef": coef, "std_err": None, "lower": None, "upper": None, **paid}


def test_columns_show_what_was_paid_for() -> None:
    plain = coefficient_table([term("Intercept", -1.0), term("age", 0.25)])
    assert plain.headers == ("term", "coefficient")
    assert plain.rows == (("Intercept", "-1.000"), ("age", "0.250"))
    paid = coefficient_table([term("age", 0.25, std_err=0.1, lower=0.05, upper=0.45)])
    assert paid.headers == ("term", "coefficient", "std. error", "lower", "upper")
    assert paid.rows == (("age", "0.250", "0.100", "0.050", "0.450"),)


def test_comparison() -> None:
    table = comparison_table([term("age", 0.25)], {"age": 0.2}, {"age": 0.22, "other": 1.0})
    assert table.headers == ("term", "truth", "not private", "private")
    assert table.rows == (("age", "0.200", "0.220", "0.250"),)
    paid = [term("age", 0.25, std_err=0.1, lower=0.05, upper=0.45)]
    assert comparison_table(paid, {"age": 0.2}, {"age": 0.22}).headers[-1] == "std. error"
