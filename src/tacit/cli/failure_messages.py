"""Exit codes, and what is said when a command fails, in the words of the command line.

No message holds a value of the table: those of Tacit never do, and those of others are withheld.
"""

from __future__ import annotations

import json
import re
import sys
import traceback
from enum import IntEnum

from tacit.errors import CertificateError, DataError, FileError, LedgerError, TacitError
from tacit.inference.text_table import one_line

FLAGS = frozenset(
    {"delta", "epsilon", "invalid_rows", "iterations", "l2", "max_passes", "radius", "refusals"}
    | {"row_norm", "solver", "step_size"}
)
"""Keywords of Python whose flag has the same name."""
EPILOG = (
    "Exit codes: 0 done; 1 a fault of Tacit; 2 something given is wrong, nothing was spent; "
    "3 a table or a file is wrong; 4 a certificate, a stored fit or a ledger does not hold; "
    "130 interrupted."
)
_SWITCHES = {"inference=False": "--no-inference", "inference=True": "--inference"}
_KEYWORD = re.compile(r'\b(?P<name>[a-z][a-z_0-9]*)=(?:"(?P<text>[^"]*)"|(?P<rest>…|\.\.\.))')


class Exit(IntEnum):
    """What the shell is told."""

    DONE = 0
    INTERNAL = 1
    INPUT = 2
    DATA = 3
    CERTIFICATE = 4
    INTERRUPTED = 130
    UNREAD = 141


def exit_of(error: TacitError) -> Exit:
    """Exit code of an error that was raised on purpose."""
    if isinstance(error, CertificateError | LedgerError):
        return Exit.CERTIFICATE
    return Exit.DATA if isinstance(error, DataError | FileError) else Exit.INPUT


def in_flags(message: str) -> str:
    """Name the flags of a command where a message names keywords: l2=… becomes --l2 …."""
    for keyword, flag in _SWITCHES.items():
        message = message.replace(keyword, flag)
    return _KEYWORD.sub(_flag, message)


def _flag(found: re.Match[str]) -> str:
    if found["name"] not in FLAGS:
        return found[0]
    return f"--{found['name'].replace('_', '-')} {found['text'] or found['rest'] or ''}".rstrip()


def error_document(kind: str, message: str) -> dict[str, object]:
    """An error as a program reads it."""
    return {"error": {"kind": kind, "message": in_flags(message)}}


def tell_error(kind: str, message: str, *, as_json: bool) -> None:
    """Say what was wrong: to a program on standard output, to a person on standard error."""
    if as_json:
        sys.stdout.write(json.dumps(error_document(kind, message), indent=2) + "\n")
        return
    sentence = in_flags(message)
    sentence += "" if sentence.endswith((".", "…", "?", "!")) else "."
    # Whatever a file says: no message commands a terminal.
    sys.stderr.write("error: " + "\n".join(map(one_line, sentence.split("\n"))) + "\n")


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
