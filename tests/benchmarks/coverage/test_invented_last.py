"""The last populations are as their lines say; all else is tested as for the others."""

import numpy as np
import pytest

from benchmarks.coverage.invented_last import populations
from benchmarks.coverage.plain_targets import block_of
from benchmarks.coverage.population import Draw
from benchmarks.coverage.populations import POPULATIONS, chosen

SIZE = 40_000


def drawn(name: str) -> Draw:
    return block_of(POPULATIONS[name], 2000, SIZE)


def test_they_are_the_last_and_of_all_families() -> None:
    found = populations()
    assert [each.name for each in found] == [each.name for each in chosen(["invented"])][-23:-18]
    assert {each.family for each in found} == {"gaussian", "binomial", "poisson"}


def test_some_have_all_points() -> None:
    draw = drawn("exams")
    assert np.mean(draw.response == 100) == pytest.approx(0.04, abs=0.01)
    assert np.mean(draw.table["school"] == "boarding") == pytest.approx(0.03, abs=0.005)


def test_a_fifth_waits_and_longer_in_the_evening() -> None:
    draw = drawn("delays")
    late = draw.response > 20
    assert late.mean() == pytest.approx(0.13, abs=0.03)
    hour = draw.table["hour"]
    assert draw.response[hour > 18].std() > 1.2 * draw.response[hour < 10].std()


def test_some_leave_and_many_never_call() -> None:
    draw = drawn("churn")
    assert draw.response.mean() == pytest.approx(0.08, abs=0.01)
    assert np.mean(draw.table["calls"] == 0) > 0.4


def test_most_have_no_accident_and_counts_are_overdispersed() -> None:
    y = drawn("accidents").response
    assert np.mean(y == 0) == pytest.approx(0.79, abs=0.05)
    assert y.var() > 1.2 * y.mean()


def test_a_few_customers_hold_most_of_the_usage_at_one_price() -> None:
    draw = drawn("one_price")
    usage = draw.table["usage"]
    assert usage[usage > 20_000].sum() > 0.3 * usage.sum()
    assert draw.mean is not None
    assert np.std(draw.response - draw.mean) == pytest.approx(200, rel=0.03)
