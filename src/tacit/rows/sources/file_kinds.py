"""Files of records: which kinds are read, and how a change under the reader is noticed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from tacit.errors import FileError

KINDS = (".csv", ".csv.gz", ".parquet")


def file_kind(path: Path) -> str:
    """The ending of a file's name that says how it is read."""
    for kind in KINDS:
        if path.name.lower().endswith(kind):
            return kind
    raise FileError(f"{path.name!r} is not a kind of file that is read: {', '.join(KINDS)}.")


def unreadable(path: Path) -> FileError:
    """The error for a file whose content is not what its name says."""
    return FileError(f"{path.name!r} cannot be read: it is damaged, cut short or of another kind.")


@dataclass(frozen=True)
class FileState:
    """What the file system says of a file; a write in between changes it."""

    path: Path
    inode: int
    size: int
    modified: int

    @classmethod
    def of(cls, path: Path) -> FileState:
        """State of a file now; missing and forbidden files are refused here."""
        problem = "does not exist"
        try:
            status = path.stat()
            if path.is_file() and os.access(path, os.R_OK):
                return cls(path, status.st_ino, status.st_size, status.st_mtime_ns)
            problem = "may not be read" if path.is_file() else "is not a file"
        except OSError:
            pass
        raise FileError(f"{path.name!r} {problem}.")

    def require_unchanged(self) -> None:
        """Refuse a file that was replaced or written to since it was opened."""
        if FileState.of(self.path) != self:
            raise FileError(f"{self.path.name!r} changed while it was being read; start again.")
