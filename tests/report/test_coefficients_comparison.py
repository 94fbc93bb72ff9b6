"""Coefficients beside a truth."""

from typing import Any

from tacit.report.coefficients import comparison_table


def term(name: str, coef: float, **paid: float) -> dict[str, Any]:
    return {"name": name, "coef": coef, "std_err": None, "lower": None, "upper": None, **paid}


def test_comparison() -> None:
    table = comparison_table([term("age", 0.25)], {"age": 0.2}, {"age": 0.22, "other": 1.0})
    assert table.headers == ("term", "truth", "not private", "private")
    assert table.rows == (("age", "0.200", "0.220", "0.250"),)
    paid = [term("age", 0.25, std_err=0.1, lower=0.05, upper=0.45)]
    assert comparison_table(paid, {"age": 0.2}, {"age": 0.22}).headers[-1] == "std. error"
