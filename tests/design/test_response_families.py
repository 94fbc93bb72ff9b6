import pytest

from tacit.design.response import (
    FAMILIES,
    Binary,
    Classes,
    CloglogBinary,
    Continuous,
    Count,
    Positive,
    ProbitBinary,
    find_family,
)
from tacit.errors import SettingError


def test_every_family_has_its_response_and_link() -> None:
    assert {name: (family.response, family.link) for name, family in FAMILIES.items()} == {
        "binomial": (Binary, "logit"),
        "gaussian": (Continuous, "identity"),
        "poisson": (Count, "log"),
        "multinomial": (Classes, "softmax"),
        "huber": (Continuous, "identity"),
        "quantile": (Continuous, "identity"),
        "probit": (ProbitBinary, "probit"),
        "cloglog": (CloglogBinary, "cloglog"),
        "gamma": (Positive, "log"),
        "negative-binomial": (Count, "log"),
    }
    assert all(find_family(name) is family for name, family in FAMILIES.items())


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gausian", 'Did you mean "gaussian"'),
        ("normal", 'mean "gaussian"'),
        ("Logit", 'mean "binomial"'),
        (3, '"binomial"'),
        (None, "None"),
    ],
)
def test_an_unknown_family_is_answered_with_the_known_ones(name: object, words: str) -> None:
    with pytest.raises(SettingError, match=words):
        find_family(name)


def test_offsets_are_for_links_in_which_they_are_no_part_of_the_response() -> None:
    assert {name for name, family in FAMILIES.items() if family.takes_offset} == set(FAMILIES) - {
        "gaussian",
        "multinomial",
        "huber",
        "quantile",
    }


@pytest.mark.parametrize("ends", [(-1.0, 1.0), (2.0, 1.0), (0.0, 1e-7), (0.0, 1e10), (0.0, float("nan"))])
def test_bounds_of_a_positive_response_are_from_0_and_moderate(ends: tuple[float, float]) -> None:
    with pytest.raises(SettingError, match="0 <= lower < upper"):
        Positive("y", *ends)


def test_the_least_mean_is_the_lower_bound_or_a_small_part_of_the_upper_one() -> None:
    assert Positive("y", 2.0, 50.0).smallest_mean == 2.0
    assert Positive("y", 0.0, 50.0).smallest_mean == 50.0 / 1e4
