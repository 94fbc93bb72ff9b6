"""Exit codes of the one exception tree."""

import pytest

from tacit import errors
from tacit.cli.output import EPILOG, Exit, exit_of, tell_error


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.InputError, 2),
        (errors.BudgetError, 2),
        (errors.BoundsError, 2),
        (errors.SchemaError, 2),
        (errors.FormulaError, 2),
        (errors.SettingError, 2),
        (errors.DataError, 3),
        (errors.FileError, 3),
        (errors.CertificateError, 4),
    ],
)
def test_codes(error: type[errors.TacitError], code: int) -> None:
    assert exit_of(error("…")) == code


def test_codes_are_documented_in_help() -> None:
    for code in Exit:
        assert code is Exit.UNREAD or f" {code.value} " in EPILOG


def test_messages_end_like_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    for message in ("no such thing", "no such thing."):
        tell_error("InputError", message, as_json=False)
        assert capsys.readouterr() == ("", "error: no such thing.\n")
