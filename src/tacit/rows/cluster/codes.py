"""Fixed codes in place of what goes wrong on a worker: an exception could quote a cell, and never crosses."""

from __future__ import annotations

import functools
from collections.abc import Callable
from enum import StrEnum
from typing import Any

from tacit.errors import ClusterError, DataError, FileError, InputError, SchemaError

Reply = tuple["Code", Any]
"""What a worker says: a code, and what was asked for where it is DONE."""


class Code(StrEnum):
    """How a call on a worker ended."""

    DONE = "done"
    NO_FILE = "no file"
    OTHER_FILE = "other file"
    OTHER_COLUMNS = "other columns"
    UNREADABLE = "unreadable"
    INVALID_RECORDS = "invalid records"
    FORGOTTEN = "forgotten"
    NO_MEMORY = "no memory"
    FAILED = "failed"


class Refused(Exception):
    """Ends a call on a worker with a code."""

    def __init__(self, code: Code) -> None:
        super().__init__(code)
        self.code = code


MESSAGES: dict[Code, tuple[type[Exception], str]] = {
    Code.NO_FILE: (FileError, "A worker cannot read {what}: every worker needs the files under the same paths."),
    Code.OTHER_FILE: (FileError, "A worker has another file as {what}, or it changed; all must read the same files."),
    Code.OTHER_COLUMNS: (SchemaError, "On a worker {what} has other columns, or columns of another type."),
    Code.UNREADABLE: (FileError, "A worker could not read {what}, or found no room for a scratch file."),
    Code.NO_MEMORY: (ClusterError, "A worker ran out of memory; use more workers, or larger ones."),
    Code.FAILED: (ClusterError, "A worker failed. What it said is not told: it could quote a record."),
}
"""What the coordinator says of a code, of files by their public names."""

_CODES: tuple[tuple[type[BaseException], Code], ...] = (
    (FileError, Code.UNREADABLE),
    (SchemaError, Code.OTHER_COLUMNS),
    (DataError, Code.INVALID_RECORDS),
    (InputError, Code.FAILED),
    (MemoryError, Code.NO_MEMORY),
)


def guarded(method: Callable[..., Any]) -> Callable[..., Reply]:
    """Make a method of a worker answer with a code, whatever happens in it.

    Guarantee: no exception, and no text or traceback of one, leaves the method.
    """

    @functools.wraps(method)
    def answered(*given: Any) -> Reply:
        try:
            return Code.DONE, method(*given)
        except Refused as refused:
            return refused.code, None
        except Exception as error:  # noqa: BLE001 - its text could quote a record and is dropped here
            return next((code for kind, code in _CODES if isinstance(error, kind)), Code.FAILED), None

    return answered


def error_of(code: Code, what: str) -> Exception:
    """The coordinator's error for a code."""
    kind, text = MESSAGES.get(code, MESSAGES[Code.FAILED])
    return kind(text.format(what=what))
