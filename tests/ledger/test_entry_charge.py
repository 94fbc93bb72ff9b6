"""What a charge says of itself: public words, one line each."""

import pytest

from tacit.errors import SettingError
from tacit.ledger.entry import Purpose, shortened


def test_a_purpose_is_read_back() -> None:
    purpose = Purpose("first", "ana", "thesis", "y ~ x", "clinic.csv", "k", "sha256:0")
    assert Purpose.read(purpose.document()) == purpose


def test_a_charge_of_version_01_has_a_label_alone() -> None:
    assert Purpose.read({"label": "mean age"}) == Purpose("mean age")


@pytest.mark.parametrize("field", ["label", "analyst", "project", "formula", "file", "key"])
@pytest.mark.parametrize("text", ["two\nlines", "\u202e", "x" * 1001, 7])
def test_what_is_no_line_is_refused(field: str, text: object) -> None:
    with pytest.raises(SettingError, match=field):
        Purpose(**{field: text})  # type: ignore[arg-type]


def test_long_texts_of_a_fit_are_cut_and_never_refused() -> None:
    described = Purpose(label="own").described("other", "y ~\n" + "x + " * 1000, "\x00a.csv")
    assert described.label == "own"
    assert described.formula is not None
    assert len(described.formula) == 1000
    assert described.file == "a.csv"
    assert shortened(" \n", 10) is None
