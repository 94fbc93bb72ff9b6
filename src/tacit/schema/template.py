"""The schema that a person is handed to fill in: names and kinds of columns, nothing more.

Bounds and levels stay blank: reading them off the table would publish its extremes for nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from tacit.design.reading import FileFormat
from tacit.documents.canonical_json import quoted
from tacit.errors import SchemaError
from tacit.schema.schema import toml_key, toml_lines, toml_string
from tacit.validate import one_of

_HEADER = """\
# Public facts about {source}.
# Fill in what is known without looking at the records: the range an instrument can show, the
# codes of a questionnaire. Values outside the bounds are clipped to them. Delete the columns that
# no model needs. A binary response has type = "binary" and levels = [negative, positive]; of a
# count, upper is the largest one.
#
# "missing" and "other" are optional. Without them a record with a missing or undeclared value is
# refused, or contributes nothing. missing_indicator = true adds a column that marks such records.

relation = "replace-one"   # or "zero-out", or "add-remove" where the number of records is private
unit = "row"               # what one record is, e.g. "patient"; a unit has at most one record
{codes}
# Where a person can have several records, replace unit = "row" by:
# [unit]
# column = "…"             # whose record it is
# max_rows = 3             # records of one person that are kept
# order = "…"              # optional: those with the smallest values of this column are kept

# [weight]
# column = "…"             # how often a record counts
# maximum = 1              # larger weights are capped"""

_FILE = {
    "delimiter": (",", "what parts the columns"),
    "decimal": (",", "where numbers are written 1,5"),
    "encoding": ("cp1252", "where letters are not in UTF-8, as in older files of Excel"),
}
"""Facts about a text file: what is proposed, and when."""

_NUMERIC = ('type = "numeric"', "# lower = ", "# upper = ", "# missing = ")
_DATE = ('type = "date"', "# lower = 2015-01-01", "# upper = 2024-12-31", '# unit = "days"', '# format = "%Y-%m-%d"')
_FACTOR = ('type = "factor"', '# levels = ["…", "…"]', '# missing = "…"', '# other = "…"')

_LINES: dict[str, tuple[str, ...]] = {
    "numeric": _NUMERIC,
    "boolean": ('type = "binary"', "levels = [false, true]"),
    "text": _FACTOR,
    "date": _DATE[:4],
    "other": ("# Neither number nor text: convert it in the table, or delete this column.",),
    "unknown": (
        "# Keep one of the four, and fill it in:",
        *(f"# {line.removeprefix('# ')}" for line in (*_NUMERIC, *_FACTOR, *_DATE)),
        '# type = "binary"',
        "# levels = [0, 1]",
    ),
}


def template(
    names: Sequence[str],
    kinds: Sequence[str],
    source_name: str,
    written: FileFormat | None = None,
    codes: Sequence[str] = (),
) -> str:
    """TOML text of a schema whose bounds and levels are left for a person to fill in.

    Guarantee: the text depends on the names and kinds alone, and on the format and codes that were given or seen in a
    line of names; no value of the table is an argument. Read before it is filled in, it is refused with the name of the
    first column to fill in.
    """
    if len(names) != len(kinds):
        raise SchemaError(f"{len(names)} names and {len(kinds)} kinds: expected one kind a column.")
    if not names:
        raise SchemaError("The table has no columns, so there is no schema to write.")
    if len(set(names)) < len(names):
        twice = next(name for index, name in enumerate(names) if name in names[:index])
        raise SchemaError(f"Two columns are named {quoted(twice, bare=False)}; rename one of them in the table.")
    # TOML allows no line break or control character in a comment; its quoted strings have none.
    listed = toml_lines({"missing_codes": list(codes) or [-99, "…"]})[0]
    comment = "# what stands for a missing cell in every column"
    coded = f"{listed}   {comment}" if codes else f"# {listed}   {comment}"
    lines = [_HEADER.format(source=toml_string(source_name), codes=f"{coded}\n"), ""]
    if written is not None:
        lines += ["[file]", *_file_lines(written), ""]
    for name, kind in zip(names, kinds, strict=True):
        one_of(f"The kind of column {quoted(name)}", kind, _LINES, SchemaError)
        if not name:
            raise SchemaError("A column has no name; give every column of the table a header.")
        lines += [f"[columns.{toml_key(name)}]", *_LINES[kind], ""]
    return "\n".join(line.rstrip() for line in lines)


def _file_lines(written: FileFormat) -> list[str]:
    """What is not the usual format as a fact, the rest as comments."""
    usual, lines = FileFormat(","), []
    for key, (proposal, meaning) in _FILE.items():
        value = getattr(written, key)
        given = value != getattr(usual, key)
        line = toml_lines({key: value if given else proposal})[0]
        lines.append(f"{line if given else f'# {line}':<26} # {meaning}")
    return lines
