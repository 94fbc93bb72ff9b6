"""Counting the lines of a file while it is read.

Private: the bytes. A parser of quoted text can take many lines for one record; the count tells.
"""

from __future__ import annotations

import gzip
import io
import zlib
from pathlib import Path
from typing import Any


class LineCounter(io.RawIOBase):
    """A stream over a text file, `.gz` or plain, that counts its lines as they pass.

    A line ends with LF, CR or CR LF; a last line without an end counts too.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        opener: Any = gzip.open if path.name.lower().endswith(".gz") else open
        self._stream = opener(path, "rb")
        self._ends = 0
        self._last = b"\n"

    @property
    def lines(self) -> int:
        """Lines read so far."""
        return self._ends + (self._last not in b"\r\n")

    def readable(self) -> bool:
        """Say that this stream is for reading."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Read and count."""
        try:
            data: bytes = self._stream.read(size)
        except (EOFError, zlib.error):
            raise OSError("the archive is cut short or damaged") from None
        if data:
            self._ends += data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n")
            if self._last == b"\r" and data[:1] == b"\n":
                self._ends -= 1
            self._last = data[-1:]
        return data

    def close(self) -> None:
        """Close the file."""
        self._stream.close()
        super().close()
