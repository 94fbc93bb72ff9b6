"""Exit codes, and what is said when a command fails.

No message holds a value of the table: those of Tacit never do, and those of others are withheld.
"""

from __future__ import annotations

import json
import sys
import traceback
from enum import IntEnum

from tacit.cli.flag_names import in_flags
from tacit.errors import CertificateError, DataError, FileError, LedgerError, TacitError
from tacit.inference.text_table import one_line


class Exit(IntEnum):
    """What the shell is told."""

    DONE = 0
    INTERNAL = 1
    INPUT = 2
    DATA = 3
    CERTIFICATE = 4
    INTERRUPTED = 130
    UNREAD = 141


EPILOG = (
    "Exit codes: 0 done; 1 a fault of Tacit; 2 something given is wrong, nothing was spent; "
    "3 a table or a file is wrong; 4 a certificate, a stored fit or a ledger does not hold; "
    "130 interrupted."
)


def exit_of(error: TacitError) -> Exit:
    """Exit code of an error that was raised on purpose.

    Examples
    --------
    >>> exit_of(FileError("…"))
    <Exit.DATA: 3>
    """
    if isinstance(error, CertificateError | LedgerError):
        return Exit.CERTIFICATE
    return Exit.DATA if isinstance(error, DataError | FileError) else Exit.INPUT


def error_document(kind: str, message: str) -> dict[str, object]:
    """An error as a program reads it."""
    return {"error": {"kind": kind, "message": in_flags(message)}}


def tell_error(kind: str, message: str, *, as_json: bool) -> None:
    """Say what was wrong: to a program on standard output, to a person on standard error."""
    if as_json:
        sys.stdout.write(json.dumps(error_document(kind, message), indent=2) + "\n")
    else:
        # Whatever a file says: no message commands a terminal.
        lines = map(one_line, _sentence(in_flags(message)).split("\n"))
        sys.stderr.write("error: " + "\n".join(lines) + "\n")


def tell_fault(error: BaseException, *, as_json: bool) -> None:
    """Show where Tacit failed, without the message, which might quote the table."""
    frames = "".join(traceback.format_tb(error.__traceback__))
    # What could not be imported is a fact about the machine, and the one that helps.
    what = f": {error}" if isinstance(error, ImportError) else ""
    kind = type(error).__name__
    sys.stderr.write(f"Traceback (most recent call last):\n{frames}{kind}{what}\n")
    tell_error(
        kind,
        "This is a fault of Tacit. The message is withheld because it may quote the table; "
        "please report the lines on standard error.",
        as_json=as_json,
    )


def _sentence(message: str) -> str:
    return message if message.endswith((".", "…", "?", "!")) else f"{message}."
