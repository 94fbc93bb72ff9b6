"""The schema that a person is handed to fill in: names and kinds of columns, nothing more.

Bounds and levels stay blank: reading them off the table would publish its extremes for nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from tacit.documents.canonical_json import quoted
from tacit.errors import SchemaError
from tacit.schema.schema import toml_key, toml_string
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

# Where a person can have several records, replace the line above by:
# [unit]
# column = "…"             # whose record it is
# max_rows = 3             # records of one person that are kept
# order = "…"              # optional: those with the smallest values of this column are kept

# [weight]
# column = "…"             # how often a record counts
# maximum = 1              # larger weights are capped"""

_NUMERIC = ('type = "numeric"', "# lower = ", "# upper = ", "# missing = ")
_FACTOR = ('type = "factor"', '# levels = ["…", "…"]', '# missing = "…"', '# other = "…"')

_LINES: dict[str, tuple[str, ...]] = {
    "numeric": _NUMERIC,
    "boolean": ('type = "binary"', "levels = [false, true]"),
    "text": _FACTOR,
    "date": ("# A date: turn it into a number in the table (days since …), or delete this column.",),
    "other": ("# Neither number nor text: convert it in the table, or delete this column.",),
    "unknown": (
        "# Keep one of the three, and fill it in:",
        *(f"# {line.removeprefix('# ')}" for line in (*_NUMERIC, *_FACTOR)),
        '# type = "binary"',
        "# levels = [0, 1]",
    ),
}


def template(names: Sequence[str], kinds: Sequence[str], source_name: str) -> str:
    """TOML text of a schema whose bounds and levels are left for a person to fill in.

    Guarantee: the text depends on the names and kinds alone; no value of the table is an argument. Read before it is
    filled in, it is refused with the name of the first column to fill in.
    """
    if len(names) != len(kinds):
        raise SchemaError(f"{len(names)} names and {len(kinds)} kinds: expected one kind a column.")
    if not names:
        raise SchemaError("The table has no columns, so there is no schema to write.")
    if len(set(names)) < len(names):
        twice = next(name for index, name in enumerate(names) if name in names[:index])
        raise SchemaError(f"Two columns are named {quoted(twice, bare=False)}; rename one of them in the table.")
    # TOML allows no line break or control character in a comment; its quoted strings have none.
    lines = [_HEADER.format(source=toml_string(source_name)), ""]
    for name, kind in zip(names, kinds, strict=True):
        one_of(f"The kind of column {quoted(name)}", kind, _LINES, SchemaError)
        if not name:
            raise SchemaError("A column has no name; give every column of the table a header.")
        lines += [f"[columns.{toml_key(name)}]", *_LINES[kind], ""]
    return "\n".join(line.rstrip() for line in lines)
