import pytest

from tacit.design.response import FAMILIES, Binary, Classes, Continuous, Count, find_family
from tacit.errors import SettingError


def test_every_family_has_its_response_and_link() -> None:
    assert {name: (family.response, family.link) for name, family in FAMILIES.items()} == {
        "binomial": (Binary, "logit"),
        "gaussian": (Continuous, "identity"),
        "poisson": (Count, "log"),
        "multinomial": (Classes, "softmax"),
        "huber": (Continuous, "identity"),
        "quantile": (Continuous, "identity"),
    }
    assert all(find_family(name) is family for name, family in FAMILIES.items())


@pytest.mark.parametrize(("name", "words"), [("gausian", 'Did you mean "gaussian"'), (3, '"binomial"'), (None, "None")])
def test_an_unknown_family_is_answered_with_the_known_ones(name: object, words: str) -> None:
    with pytest.raises(SettingError, match=words):
        find_family(name)


def test_offsets_are_for_links_in_which_they_are_no_part_of_the_response() -> None:
    assert {name for name, family in FAMILIES.items() if family.takes_offset} == {"binomial", "poisson"}
