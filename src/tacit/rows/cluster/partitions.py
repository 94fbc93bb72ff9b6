"""Partitions of files: what each worker reads, and that it reads what the coordinator means.

Private: the records, and the number of records of a partition where n is private. Public: paths, sizes and columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tacit.design.reading import FileFormat
from tacit.errors import DataError, FileError
from tacit.rows.cluster.codes import Code, Refused
from tacit.rows.sources.csv_file import CsvSource
from tacit.rows.sources.declared_cells import DeclaredSource
from tacit.rows.sources.file_set import FileSet
from tacit.rows.sources.opening import Description, describe
from tacit.rows.sources.source import AttachedSource, Batch, FileState, Names, Source


@dataclass(frozen=True)
class Partition:
    """A file, or consecutive row groups of a Parquet file: first, …, stop - 1 of them."""

    path: str
    size: int
    groups: tuple[int, int] | None = None
    length: int | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """The file's name, for messages."""
        return repr(Path(self.path).name)


def split(source: Source) -> tuple[Partition, ...]:
    """Partitions of an opened file or of several, in the order of their records: row groups, or whole CSV files."""
    if isinstance(source, AttachedSource) and not source.columns:
        source = source.table
    if isinstance(source, DeclaredSource):
        source = source.source
    parts = source.parts if isinstance(source, FileSet) else (source,)
    return tuple(partition for part in parts for partition in _split_file(part))


def _split_file(source: Source) -> Iterator[Partition]:
    if isinstance(source, CsvSource):
        yield _partition(source.state)
        return
    # Not imported above: pyarrow takes long.
    from tacit.rows.sources.arrow import ParquetSource, group_lengths

    if not isinstance(source, ParquetSource):
        raise DataError(
            "A cluster reads CSV and Parquet files, which its workers open themselves. Write the table to a Parquet "
            "file that every worker can read, and give its path."
        )
    lengths = group_lengths(source.state.path)
    for group, length in enumerate(lengths):
        yield replace(_partition(source.state), groups=(group, group + 1), length=length)
    if not lengths:
        yield replace(_partition(source.state), groups=(0, 0), length=0)


def _partition(state: FileState) -> Partition:
    return Partition(str(state.path.resolve()), state.size)


def open_partitions(partitions: Sequence[Partition], expected: Description, written: FileFormat) -> CountedFiles:
    """Open partitions on a worker, neighbouring row groups together; refuse files that are not the coordinator's.

    Guarantee: a file that is missing, of another size, or with other columns than the coordinator saw, is refused by a
    code before a record is read. (That files of one size and one header have the same content is not checked.)
    """
    from tacit.rows.sources.arrow import ParquetSource

    opened: list[Source] = []
    for part in _joined(partitions):
        path = Path(part.path)
        try:
            state = FileState.of(path)
        except FileError:
            raise Refused(Code.NO_FILE) from None
        if state.size != part.size:
            raise Refused(Code.OTHER_FILE)
        if not _same_columns(describe(path, written), expected):
            raise Refused(Code.OTHER_COLUMNS)
        if part.groups is None:
            opened.append(CsvSource.open(path, None, written))
        else:
            opened.append(replace(ParquetSource.open(path, None, 0), groups=part.groups, length=part.length))
    known = [part.length for part in opened if part.length is not None]
    return CountedFiles(
        tuple(opened), [0] * len(opened), names=expected.names, resident=False,
        length=sum(known) if len(known) == len(opened) else None, typed_by=opened[0].typed_by if opened else None,
    )  # fmt: skip


def _same_columns(found: Description, expected: Description) -> bool:
    return dict(zip(found.names, found.kinds, strict=True)) == dict(zip(expected.names, expected.kinds, strict=True))


def _joined(partitions: Sequence[Partition]) -> Iterator[Partition]:
    """Runs of row groups that stand together in one file; a CSV file stays alone."""
    waiting: Partition | None = None
    for part in partitions:
        if waiting is None:
            waiting = part
        elif waiting.path == part.path and waiting.groups and part.groups and waiting.groups[1] == part.groups[0]:
            length = (waiting.length or 0) + (part.length or 0)
            waiting = replace(waiting, groups=(waiting.groups[0], part.groups[1]), length=length)
        else:
            yield waiting
            waiting = part
    if waiting is not None:
        yield waiting


@dataclass(frozen=True)
class CountedFiles(FileSet):
    """Files that are counted as they are read: records of each, private where n is."""

    counts: list[int] = field(repr=False)

    def batches(self, rows: int, *, numeric: Names, labels: Names) -> Iterator[Batch]:
        """Batches of the columns asked for, file after file."""
        for place, part in enumerate(self.parts):
            self.counts[place] = 0
            for batch in part.batches(rows, numeric=numeric, labels=labels):
                self.counts[place] += batch.length
                yield batch


def require_files(source: Source) -> None:
    """Refuse a table in memory, before a cluster is asked for anything."""
    if source.resident or (isinstance(source, AttachedSource) and source.columns):
        raise DataError(
            "A cluster reads files, which its workers open themselves; this table is in memory. Write it to a Parquet "
            "file that every worker can read, and give its path."
        )
