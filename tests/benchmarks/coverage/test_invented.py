"""The invented populations are as their lines say; all else is tested as for the others."""

import numpy as np
import pytest

from benchmarks.coverage.invented import GRAVITY, MONTHS, populations
from benchmarks.coverage.plain_targets import block_of, target_of
from benchmarks.coverage.population import RESPONSE, Draw, Population
from benchmarks.coverage.populations import POPULATIONS, chosen

SIZE = 40_000


def drawn(name: str) -> Draw:
    return block_of(POPULATIONS[name], 2000, SIZE)


def test_there_are_ten_of_all_families_and_widths() -> None:
    found = populations()
    assert [each.name for each in found] == [each.name for each in chosen(["invented"])][:10]
    assert len(found) == 10
    assert {each.family for each in found} == {"gaussian", "binomial", "poisson"}
    assert min(each.d for each in found) == 2
    assert max(each.d for each in found) == 15
    assert not any(each.clean for each in found)


def test_incomes_are_heaped_and_skewed() -> None:
    y = drawn("incomes").response
    assert np.mean(y % 1000 == 0) == pytest.approx(0.7, abs=0.02)
    assert y.mean() > 1.15 * np.median(y)


def test_a_unit_says_nothing_that_the_other_does_not() -> None:
    table = drawn("twin_units").table
    assert np.corrcoef(table["celsius"], table["fahrenheit"])[0, 1] > 0.999
    assert POPULATIONS["twin_units"].nulls == ("fahrenheit",)


def test_few_records_say_most() -> None:
    assert np.mean(drawn("claims").response == 0) == pytest.approx(0.93, abs=0.01)
    usage = drawn("few_firms").table["usage"]
    assert np.mean(usage > 25_000) == pytest.approx(0.03, abs=0.006)
    # The price of the firms, not that of the 97%.
    assert target_of(POPULATIONS["few_firms"])[1] == pytest.approx(0.18, abs=0.02)


def test_fraud_and_its_flags_are_rare() -> None:
    table = drawn("fraud").table
    assert table[RESPONSE].mean() == pytest.approx(0.015, abs=0.003)
    assert np.mean(table["foreign"] * table["new_device"]) == pytest.approx(0.008, abs=0.002)


def test_mislabelled_outcomes_stay_at_the_highest_dose() -> None:
    draw = drawn("mislabelled_dose")
    highest = (draw.table["dose"] == 16) & (draw.table["strain"] != "c")
    assert draw.response[highest].mean() == pytest.approx(0.98, abs=0.006)


def test_answers_are_mostly_five_and_go_together() -> None:
    table = drawn("survey_items").table
    assert set(np.unique(table["item1"])) == {1, 2, 3, 4, 5}
    assert np.mean(table["item1"] == 5) == pytest.approx(0.58, abs=0.02)
    assert np.corrcoef(table["item1"], table["item10"])[0, 1] > 0.45


def test_the_sick_are_seen_for_fewer_days() -> None:
    table = drawn("visits").table
    sick = table["chronic"] >= 3
    assert table["days"][sick].mean() < 0.85 * table["days"][~sick].mean()
    assert np.mean(table[RESPONSE] == 0) > 0.5
    assert table[RESPONSE].max() > 50


def test_winter_is_rare_and_cold() -> None:
    table = drawn("bike_months").table
    shares = [np.mean(table["month"] == month) for month in MONTHS]
    assert sum(shares) == pytest.approx(1)
    assert min(shares) == pytest.approx(0.02, abs=0.005)
    january = table["month"] == "m01"
    assert table[RESPONSE][january].mean() < 0.15 * table[RESPONSE].mean()


def test_trade_spans_orders_of_magnitude() -> None:
    mean = drawn("gravity").mean
    assert mean is not None
    low, high = np.quantile(mean, [0.01, 0.99])
    assert high > 1000 * low
    assert GRAVITY[-1] == 0.0


@pytest.mark.parametrize("population", populations(), ids=lambda each: each.name)
def test_nulls_have_a_target_of_zero(population: Population) -> None:
    target = dict(zip(population.names, target_of(population), strict=True))
    largest = max(map(abs, target.values()))
    assert all(abs(target[name]) < 1e-3 * largest for name in population.nulls)
