"""The later populations are as their lines say; all else is tested as for the others."""

import numpy as np
import pytest

from benchmarks.coverage.invented_later import populations
from benchmarks.coverage.plain_targets import block_of
from benchmarks.coverage.population import Draw
from benchmarks.coverage.populations import POPULATIONS, chosen

SIZE = 40_000


def drawn(name: str) -> Draw:
    return block_of(POPULATIONS[name], 2000, SIZE)


def test_there_are_four_of_all_families() -> None:
    found = populations()
    assert {each.name for each in found} <= {each.name for each in chosen(["invented"])}
    assert len(found) == 4
    assert {each.family for each in found} == {"gaussian", "binomial", "poisson"}


def test_a_district_is_rare_and_rents_spread_by_area() -> None:
    draw = drawn("rents")
    assert np.mean(draw.table["district"] == "harbor") == pytest.approx(0.02, abs=0.003)
    area, y = draw.table["area"], draw.response
    assert np.std(y[area > 120]) > 1.5 * np.std(y[area < 50])


def test_defaults_are_rare_and_use_is_heaped_at_zero() -> None:
    draw = drawn("defaults")
    assert draw.response.mean() == pytest.approx(0.04, abs=0.02)
    assert np.mean(draw.table["used"] == 0) > 0.25


def test_most_accounts_have_no_ticket_and_a_few_have_many() -> None:
    y = drawn("tickets").response
    assert np.mean(y == 0) == pytest.approx(0.65, abs=0.1)
    assert y.var() > 2 * y.mean()


def test_spikes_are_few_and_hold_most_of_the_variance() -> None:
    draw = drawn("sensors")
    assert draw.mean is not None
    away = draw.response - draw.mean
    assert np.mean(away > 15) == pytest.approx(0.003, abs=0.001)
    assert np.sum(away[away > 15] ** 2) > 5 * np.sum(away[away <= 15] ** 2)
