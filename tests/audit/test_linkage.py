"""Linkage of a published table with a register."""

import pytest

from tacit.audit.linkage import COLUMNS, link, simulated_town
from tacit.errors import SettingError


def test_date_of_birth_sex_and_postcode_name_almost_everybody() -> None:
    town = simulated_town(5000, seed=1)
    patients = town[::10]
    shares = [link(town, patients, columns).share for columns in (["sex"], ["sex", "postcode"], [*COLUMNS])]
    assert shares[0] == 0.0
    assert shares[1] < 0.01
    assert shares[2] > 0.95


def test_who_is_not_alone_is_not_named_and_names_are_right() -> None:
    town = simulated_town(2000, seed=2)
    found = link(town, town, ["postcode", "year of birth"])
    assert 0 < found.named == found.right < found.published == 2000


def test_a_town_is_that_of_its_seed() -> None:
    assert simulated_town(100, seed=3) == simulated_town(100, seed=3)
    assert simulated_town(100, seed=3) != simulated_town(100, seed=4)


def test_an_unknown_column_is_refused() -> None:
    town = simulated_town(10)
    with pytest.raises(SettingError, match="shoe size"):
        link(town, town, ["shoe size"])
