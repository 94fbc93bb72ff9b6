"""The table: lines, verdicts on silence, and the limit of large ε."""

import math

import pytest

from benchmarks.coverage.plain_replications import PlainCell
from benchmarks.coverage.plain_table import limit_table, mu_of, silence, tables
from benchmarks.coverage.plain_tally import LabelCount, Tally
from benchmarks.coverage.populations import POPULATIONS
from tacit import LogisticRegression
from tacit.accounting import mu_squared_of

FITS = 400


def tally_of(name: str, label: str, share: float, rest: str = "withheld") -> Tally:
    """Fits whose intervals cover 95%; a share of them has the label."""
    d = POPULATIONS[name].d
    some = round(FITS * share)

    def count(fits: int) -> LabelCount:
        hits = round(0.95 * fits)
        moments = fits, fits * d**2, hits * d**2, hits * d**2
        return LabelCount([fits] * d, [hits] * d, 0, 0, *moments)

    labels = {label: count(some), rest: count(FITS - some)}
    return Tally(FITS, labels, {}, d - 1, {"0": FITS}, [0.05 * FITS] * d, [FITS] * d, 1.0, d)


@pytest.mark.parametrize(("epsilon", "n"), [(0.5, 1000), (1.0, 4000), (3.0, 20_000)])
def test_mu_is_that_of_the_default_budget(epsilon: float, n: int) -> None:
    model = LogisticRegression(epsilon=epsilon, bounds=(-1, 1), classes=(0, 1), inference=True)
    plan = model.plan(n, 1)
    spent = mu_squared_of(plan.budget)
    assert mu_of(epsilon, n) ** 2 == pytest.approx(float(spent), rel=1e-3)


def test_silence_is_a_fault_where_there_is_enough_to_tell() -> None:
    def said(name: str, n: int, share: float) -> list[str]:
        cell = PlainCell(name, n, 1.0)
        return silence(cell, POPULATIONS[name], tally_of(name, "nominal", share))

    assert said("logit4", 4000, 0.5) == ["offered 0.500 < 0.9"]
    assert said("logit4", 4000, 0.95) == []
    assert said("logit20", 1000, 0.0) == []
    assert said("gamma_cost", 4000, 0.0) == []
    assert said("gamma_cost", 20_000, 0.3) == ["offered 0.300 < 0.8"]
    assert said("rare3", 20_000, 0.6) == []
    assert said("rare3", 20_000, 0.1) == ["offered 0.100 < 0.5"]
    wide = tally_of("mixed_lin", "nominal", 1.0)
    wide.widths = {str(round(100 * math.log(6.6))): 5}
    found = silence(PlainCell("mixed_lin", 20_000, 1.0), POPULATIONS["mixed_lin"], wide)
    assert found == ["width 6.62 > 2.5"]


def test_lines_are_in_the_order_of_the_populations() -> None:
    text = tables(
        {
            PlainCell("pois4", 4000, 1.0): tally_of("pois4", "nominal", 1.0),
            PlainCell("lin4", 4000, 1.0): tally_of("lin4", "conservative", 1.0),
            PlainCell("lin4", 1000, 1.0): tally_of("lin4", "nominal", 0.5, "approximate"),
        }
    )
    assert text.startswith("2 of 3 cells hold; of those by today's rules 2 of 3.")
    lines = [line for line in text.splitlines() if "4 | " in line]
    assert lines[0].startswith("| lin4 | 4 | 1000 | 1 | 400 | 50/0/0 approximate 50 | 0.950 (0.950)")
    assert "label 'approximate' says nothing" in lines[0]
    assert lines[1].startswith("| lin4 | 4 | 4000 | 1 | 400 | 0/100/0 | – | 0.950 (0.950) | 1.00 |")
    assert lines[1].endswith("| holds |")
    assert lines[2].startswith("| pois4 |")
    assert "Over all cells 2 of 2 populations hold." in text


def test_rare_labels_are_pooled_by_population() -> None:
    bad = LabelCount([12] * 4, [4] * 4, 0, 0, 48, 48, 16, 16)
    cells = {PlainCell("lin4", n, 1.0): Tally(400, {"conservative": bad}, d=4) for n in (4000, 1000)}
    text = tables(cells)
    assert "few: conservative 0.333 < 0.94" in text


def test_the_limit_is_judged_by_the_mean() -> None:
    near, far = tally_of("lin4", "nominal", 1.0), tally_of("lpm", "nominal", 1.0)
    far.distances = [FITS * 1.0, 0.0, 0.0, 0.0]
    cells = {PlainCell("lin4", 20_000, 50.0): near, PlainCell("lpm", 20_000, 50.0): far}
    text = limit_table(cells)
    assert "| lin4 | 20000 | 50 | 400 | 0.050 | 0.050 (x2) | holds |" in text
    assert "| lpm | 20000 | 50 | 400 | 0.250 | 1.000 (Intercept) | **fails** |" in text
    assert tables(cells) == text
    nothing = {PlainCell("const_lin", 20_000, 50.0): Tally(3, distances=[0.0] * 3, compared=[0] * 3)}
    assert "| nan | – | – |" in limit_table(nothing)
