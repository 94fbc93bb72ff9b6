"""The files a command writes: what cannot be written is refused before anything is spent."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from tacit.errors import FileError


def require_writable(
    outputs: Sequence[Path | None], inputs: Sequence[Path | None] = (), *, force: bool = False
) -> None:
    """Refuse outputs that cannot be written, exist already, or are also read.

    Guarantee
    ---------
    - Nothing is created or changed.
    - A file that exists passes only with `force`, an input of the same command never.
    """
    read = {path.resolve() for path in inputs if path is not None}
    seen: set[Path] = set()
    for output in outputs:
        if output is None:
            continue
        target = output.resolve()
        if target in read:
            raise FileError(f"{str(output)!r} is read by this command; write to another file.")
        if target in seen:
            raise FileError(f"{str(output)!r} was given twice; each file needs a name of its own.")
        seen.add(target)
        _require_place(output, target, force=force)


def _require_place(output: Path, target: Path, *, force: bool) -> None:
    if target.is_dir():
        raise FileError(f"{str(output)!r} is a directory; give the name of a file.")
    if target.exists() and not force:
        raise FileError(f"{str(output)!r} exists; choose another name, or add --force.")
    if not target.parent.is_dir():
        raise FileError(f"{str(output)!r} cannot be written: its directory does not exist.")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise FileError(f"{str(output)!r} cannot be written: its directory is read-only.")
