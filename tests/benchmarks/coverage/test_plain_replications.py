"""A replication: what is noted of a fit, and that it can be repeated."""

import math
from dataclasses import dataclass, replace

import pytest

from benchmarks.coverage import plain_replications
from benchmarks.coverage.plain_replications import (
    PlainCell,
    drawn,
    fitted,
    joint_test,
    replicate,
    rules_stamp,
    rules_today,
    run_replications,
    said,
)
from benchmarks.coverage.plain_targets import target_of
from benchmarks.coverage.populations import POPULATIONS
from tacit.errors import SettingError

CELL = PlainCell("logit4", 1000, 3.0)
LABELS = {"nominal", "conservative", "withheld", "approximate"}


@pytest.mark.parametrize("name", ["logit4", "gamma_cost", "pois_expo", "person_lin", "sep_logit"])
def test_a_row_has_a_number_for_each_coefficient(name: str) -> None:
    cell, population = replace(CELL, population=name), POPULATIONS[name]
    row = replicate(cell, target_of(population), 0)
    for column in ("estimate", "lower", "upper", "pvalue", "label", "target", "plain", "hc0"):
        assert len(row[column]) == population.d == row["d"]
    assert set(row["label"]) <= LABELS
    for label, lower, upper in zip(row["label"], row["lower"], row["upper"], strict=True):
        assert (label == "withheld") == (lower is None) == (upper is None)
    assert row["joint_df"] == sum(math.isfinite(each) for each in row["target"][1:])


def test_a_replication_can_be_repeated() -> None:
    target = target_of(POPULATIONS["logit4"])
    first, second = run_replications(CELL, target, (0, 1))
    again = replicate(CELL, target, 0)
    # Rows have the stamp of their rules besides, which is a digest of the first replication.
    assert first["rules"] == second["rules"] == rules_stamp(again) == rules_today(CELL, target)
    assert {**first, "seconds": 0} == {**again, "seconds": 0, "rules": first["rules"]}
    assert first["estimate"] != second["estimate"]
    assert first["plain"] != second["plain"]


def test_no_intervals_are_noted_as_withheld() -> None:
    cell = PlainCell("lin20", 200, 0.5)
    row = replicate(cell, target_of(POPULATIONS["lin20"]), 0)
    assert set(row["label"]) == {"withheld"}
    assert row["joint"] is None
    assert set(row["lower"]) == set(row["pvalue"]) == {None}


def test_a_refused_fit_offers_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise SettingError("not this one")

    monkeypatch.setattr(plain_replications, "fitted", refuse)
    row = replicate(CELL, target_of(POPULATIONS["logit4"]), 0)
    assert row["error"] == "not this one"
    assert set(row["label"]) == {"withheld"}
    assert row["joint_df"] == 3

    def crash(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(plain_replications, "fitted", crash)
    with pytest.raises(ZeroDivisionError) as caught:
        replicate(CELL, target_of(POPULATIONS["logit4"]), 7)
    assert caught.value.__notes__ == ["in logit4/1000/3, replication 7"]


@dataclass
class Line:
    name: str
    coef: float
    lower: float | None
    upper: float | None
    pvalue: float | None
    statement: str | None


class Spoken:
    """A fit with lines of many kinds."""

    lines = (
        Line("a", 1.0, 0.5, 1.5, 0.01, "nominal"),
        Line("b", 1.0, None, None, None, "withheld"),
        Line("c", 1.0, math.nan, math.nan, math.nan, "nominal"),
        Line("d", 1.0, 0.5, 1.5, 0.01, "withheld"),
        Line("e", 1.0, 0.5, 1.5, 0.01, None),
    )

    def summary(self) -> "Spoken":
        return self


def test_labels_are_what_a_summary_shows() -> None:
    found = said(Spoken(), "abcde")  # type: ignore[arg-type]
    assert found["label"] == ["nominal", "withheld", "withheld", "withheld", "unsaid"]
    assert found["upper"] == [1.5, None, None, None, 1.5]
    assert found["pvalue"] == [0.01, None, None, None, 0.01]


def test_the_joint_test_is_that_of_the_values() -> None:
    population = POPULATIONS["lin4"]
    fit = fitted(population, drawn(PlainCell("lin4", 4000, 10.0), 0), 10.0, 1)
    values = [fit.params[name] for name in population.slopes]
    near = joint_test(fit, population.slopes, values)
    assert near["joint"] == pytest.approx(1, abs=0.01)
    far = joint_test(fit, population.slopes, [value + 5 * fit.bse["x0"] for value in values])
    assert far["joint"] < 0.01
