"""Files of bounded size: read at once, and replaced whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tacit.errors import FileError, InputError

Name = str | os.PathLike[str]
LARGEST_FILE = 2**24
"""Bytes of a file that is read or written at once."""


def read_bytes(path: Name, largest: int = LARGEST_FILE, too_large: type[InputError] = FileError) -> bytes:
    """Read a file of at most `largest` bytes; a longer one raises `too_large`."""
    try:
        with Path(path).open("rb") as stream:
            content = stream.read(largest + 1)
    except (OSError, ValueError) as error:
        raise _failed(path, "read", error) from error
    if len(content) > largest:
        raise too_large(f"{os.fspath(path)[:200]!r} is larger than {largest} bytes")
    return content


def write_text(path: Name, text: str) -> None:
    """Replace a file by this text, in UTF-8, as `replacing` does."""
    content = text.encode("utf-8")
    if len(content) > LARGEST_FILE:
        raise FileError(f"the text is larger than {LARGEST_FILE} bytes, and no reader takes it")
    with replacing(path) as draft:
        draft.write_bytes(content)


@contextmanager
def replacing(path: Name) -> Iterator[Path]:
    """Give the name of a draft, which takes the place of the file when the block ends.

    The draft has the suffix of the file. A link is followed, not replaced.

    Guarantee: at no time does the name lead to an incomplete file. If the block fails, the file is what it was before
    and nothing else is left behind.
    """
    try:
        target = Path(path).resolve()
        # In the target's folder, because a replacement is atomic only within one file system.
        folder = tempfile.TemporaryDirectory(dir=target.parent, prefix=".tacit-")
    except (OSError, ValueError, RuntimeError) as error:
        raise _failed(path, "written", error) from error
    try:
        with folder as place:
            draft = Path(place) / f"draft{Path(path).suffix}"
            yield draft
            with draft.open("rb+") as stream:
                os.fsync(stream.fileno())
            draft.replace(target)
    except OSError as error:
        raise _failed(path, "written", error) from error


def _failed(path: Name, done: str, error: Exception) -> FileError:
    reason = getattr(error, "strerror", None) or "its name is no name of a file"
    return FileError(f"{os.fspath(path)[:200]!r} cannot be {done}: {reason}")
