"""What goes wrong on a worker crosses as a code: no text, no cause, no traceback."""

import pytest

from tacit.errors import ClusterError, DataError, FileError, SchemaError, SettingError
from tacit.rows.cluster.codes import MESSAGES, Code, Refused, error_of, guarded

SECRET = "the patient of row 17"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (FileError(SECRET), Code.UNREADABLE),
        (SchemaError(SECRET), Code.OTHER_COLUMNS),
        (DataError(SECRET), Code.INVALID_RECORDS),
        (SettingError(SECRET), Code.FAILED),
        (MemoryError(SECRET), Code.NO_MEMORY),
        (ZeroDivisionError(SECRET), Code.FAILED),
        (Refused(Code.NO_FILE), Code.NO_FILE),
    ],
)
def test_every_exception_ends_as_a_code(error: Exception, code: Code) -> None:
    @guarded
    def fails() -> None:
        raise error

    assert fails() == (code, None)


def test_a_reply_is_marked_done() -> None:
    assert guarded(lambda: 3)() == (Code.DONE, 3)


@pytest.mark.parametrize("code", [code for code in Code if code not in {Code.DONE, Code.INVALID_RECORDS}])
def test_every_code_has_words_of_the_coordinator(code: Code) -> None:
    error = error_of(code, "'a.csv'")
    assert isinstance(error, FileError | SchemaError | ClusterError)
    assert str(error).endswith(".")


def test_codes_about_files_name_the_file() -> None:
    assert all("{what}" in MESSAGES[code][1] for code in (Code.NO_FILE, Code.OTHER_FILE, Code.OTHER_COLUMNS))
