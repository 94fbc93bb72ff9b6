"""Several files as one table: a folder, a pattern, a list of paths, or a pyarrow dataset.

Private: the records. Public: the names of the files and what their headers or footers say of columns and lengths.
"""

from __future__ import annotations

import contextlib
import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tacit.errors import DataError, FileError
from tacit.rows.sources import source as sources
from tacit.rows.sources.source import FILE_KINDS, Batch, ColumnKind, Names, Source

WILD = frozenset("*?[")
"""Marks of a pattern, in a name that no file or folder has."""


def files_of(data: Any) -> list[Path] | None:
    """The files that data names, in an order that does not depend on the file system; None for a table in memory.

    A folder stands for the files in it, and in folders within, that end as tables do and do not begin with a dot or an
    underscore. A pattern is one of `glob`, in which ** are any folders.
    """
    if isinstance(data, str | os.PathLike):
        found, where = _named(Path(os.fsdecode(data))), "in the folder or by the pattern"
    elif isinstance(data, list | tuple) and data and all(isinstance(name, str | os.PathLike) for name in data):
        found, where = [Path(os.fsdecode(name)) for name in data], "in the list"
    elif type(data).__module__.startswith("pyarrow._dataset"):
        found, where = _of_dataset(data), "in the dataset"
    else:
        return None
    if _repeats(found):
        raise FileError(f"A file is named twice {where}, perhaps by a link; its records would count twice.")
    return found


def _repeats(paths: Sequence[Path]) -> bool:
    """Whether two paths are of one file, also by way of links of either kind."""
    if len(paths) < 2:
        return False
    files = []
    for path in paths:
        # What is not there, or not to be looked at, is refused where it is opened.
        with contextlib.suppress(OSError):
            files.append(path.stat())
    by_place = {(it.st_dev, it.st_ino) for it in files}
    return len({path.resolve() for path in paths}) < len(paths) or len(by_place) < len(files)


def _named(path: Path) -> list[Path]:
    if path.is_dir():
        inside = sorted(it for it in path.rglob("*") if it.is_file() and _is_table(it.relative_to(path)))
        if not inside:
            raise FileError(f"The folder {path.name!r} has no file that is read: {', '.join(FILE_KINDS)}.")
        return inside
    if WILD & set(str(path)) and not path.exists():
        matching = sorted(it for it in map(Path, glob.glob(str(path), recursive=True)) if it.is_file())  # noqa: PTH207
        if not matching:
            raise FileError(f"No file matches {path.name!r}.")
        return matching
    return [path]


def _is_table(inside: Path) -> bool:
    hidden = any(part.startswith((".", "_")) for part in inside.parts)
    # A text in a folder is as likely a note; a table of that ending is named.
    return not hidden and inside.name.lower().endswith(tuple(kind for kind in FILE_KINDS if ".txt" not in kind))


def _of_dataset(data: Any) -> list[Path]:
    files = getattr(data, "files", None)
    local = getattr(getattr(data, "filesystem", None), "type_name", None) == "local"
    if files is None or not local:
        raise DataError("Of pyarrow's datasets, those of files on this machine are read.")
    # What `filter` left out would be read: only the files are taken over. A version that keeps it elsewhere is refused.
    if getattr(data, "_scan_options", None) != {}:
        raise DataError("A filter of a pyarrow dataset is not applied here; write the records meant to a file.")
    found = [Path(name) for name in sorted(files)]
    kept = set(data.schema.names)
    if found and sources.file_kind(found[0]) == ".parquet":
        from tacit.rows.sources.arrow import read_footer

        if kept - set(read_footer(found[0])[0].names):
            raise DataError(
                "The dataset has columns that are in no file (of its folders' names); write them as columns."
            )
    return found


@dataclass(frozen=True)
class FileSet(Source):
    """The records of several files of one kind and the same columns, one file after the other.

    Guarantee: the files are refused by their headers, or by the names and kinds of columns in their footers, before a
    record is read. A file without records is like any other. Memory does not grow with the number of files.
    """

    parts: tuple[Source, ...] = field(repr=False)

    @classmethod
    def of(cls, paths: Sequence[Path], parts: Sequence[Source], kinds: Sequence[tuple[ColumnKind, ...]]) -> FileSet:
        """Take opened files together, with the kinds of their columns in the order of their names."""
        first = dict(zip(parts[0].names, kinds[0], strict=True))
        for path, part, own in zip(paths, parts, kinds, strict=True):
            here = dict(zip(part.names, own, strict=True))
            if set(here) != set(first):
                # Names in a footer are names; a CSV file without a line of names would have a record for them.
                odd = sorted(set(here) ^ set(first)) if part.typed_by else []
                quoted = f": {', '.join(map(repr, odd[:5]))}" if odd else "; every file begins with the same names"
                raise FileError(f"{path.name!r} and {paths[0].name!r} have different columns{quoted}.")
            unlike = [name for name in first if here[name] != first[name]]
            if unlike:
                raise FileError(
                    f"Column {unlike[0]!r} is {here[unlike[0]]} in {path.name!r} and {first[unlike[0]]} in "
                    f"{paths[0].name!r}; a column has one type."
                )
        known = [part.length for part in parts if part.length is not None]
        return cls(
            tuple(parts),
            names=parts[0].names,
            response=parts[0].response,
            length=sum(known) if len(known) == len(parts) else None,
            resident=False,
            typed_by=parts[0].typed_by,
        )

    def text_among(self, names: Names) -> list[str]:
        """Those of the columns whose type in the footers is text."""
        return self.parts[0].text_among(names)

    def batches(self, rows: int, *, numeric: Names, labels: Names) -> Iterator[Batch]:
        """Batches of the columns asked for, file after file."""
        for part in self.parts:
            yield from part.batches(rows, numeric=numeric, labels=labels)


def require_one_kind(paths: Sequence[Path]) -> None:
    """Refuse CSV and Parquet files together."""
    if len({sources.file_kind(path) == ".parquet" for path in paths}) > 1:
        raise FileError("CSV and Parquet files are read apart; give files of one kind.")
