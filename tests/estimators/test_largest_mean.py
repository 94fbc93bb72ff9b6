"""Selected statistics: the best one at a large budget, charged and certified, for every method."""

import numpy as np
import pyarrow as pa
import pytest

import tacit
from tacit.errors import BudgetError, InputError

SCHEMA = tacit.Schema.parse(
    """
[columns.x]
type = "numeric"
lower = 0
upper = 1

[columns.g]
type = "factor"
levels = ["a", "b"]
"""
)
TABLE = pa.table({"x": np.linspace(0, 1, 500) ** 3, "g": ["a", "b", "a", "a", "b"] * 100})
EXPRESSIONS = ["x", "x < 0.2", "2 * x - 1"]


@pytest.mark.parametrize("method", ["exponential", "permute-and-flip", "report-noisy-max"])
def test_the_largest_mean_is_selected(method: str) -> None:
    """Means 0.25, 0.58 and -0.5 of 500 records at ε = 20: wrong with a probability below 1e-6."""
    found = tacit.select(TABLE, SCHEMA, EXPRESSIONS, epsilon=20.0, method=method)
    assert (found.index, found.expression) == (1, "x < 0.2")
    statement = found.certificate.check()
    assert statement.consistent
    document = found.certificate.document
    assert (document["total"]["epsilon"], document["total"]["delta"]) == (20.0, 0.0)
    assert document["events"][0]["noise"]["law"] == ("exponential" if method == "exponential" else "permute-and-flip")


def test_without_noise_it_is_the_best_and_nothing_is_claimed() -> None:
    found = tacit.select(TABLE, SCHEMA, EXPRESSIONS, epsilon=float("inf"))
    assert (found.index, found.certificate.private) == (1, False)


def test_a_pure_ledger_is_charged_before_anything_is_told() -> None:
    with tacit.Ledger(budget=tacit.Budget(epsilon=3.0, delta=0.0)) as ledger:
        tacit.select(TABLE, SCHEMA, EXPRESSIONS, epsilon=2.0)
        with pytest.raises(BudgetError):
            tacit.select(TABLE, SCHEMA, EXPRESSIONS, epsilon=2.0)
    assert len(ledger.charges()) == 1


@pytest.mark.parametrize("wrong", [{"method": "largest"}, {"expressions": []}, {"expressions": "x"}, {"epsilon": None}])
def test_bad_settings_are_refused_before_a_record_is_read(wrong: dict[str, object]) -> None:
    given = {"expressions": EXPRESSIONS, "epsilon": 1.0, **wrong}
    with pytest.raises(InputError):
        tacit.select("no file.csv", SCHEMA, **given)  # type: ignore[arg-type]
