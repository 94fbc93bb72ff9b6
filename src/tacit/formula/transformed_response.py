"""What to do instead of a transformed response: the column to add, with the bounds that follow, or a log link."""

from __future__ import annotations

import re

from tacit.errors import InputError
from tacit.formula.computed_column import computed_factor
from tacit.schema.schema import Schema

PLAIN = "Transform the response before, and declare it in the schema."


def instead_of(spelling: str, schema: Schema) -> str:
    """Advice for a left side that is an expression: a declared column whose bounds are those of the expression."""
    try:
        found = computed_factor(spelling, schema)
    except InputError as error:
        return f"{PLAIN} Bounds of {spelling} do not follow from the declared ones: {error}"
    name = re.sub(r"\W+", "_", spelling.strip().removeprefix("I(")).strip("_")
    declared = (
        f'type = "numeric", lower = {found.lower:.6g}, upper = {found.upper:.6g}, which follow from those declared'
    )
    if re.search("[<>=]", spelling):
        declared = 'type = "binary", levels = [0, 1]'
    text = (
        "A response is read as it stands in the table, so that predictions are on its own scale. Add the column "
        f"{name} = {spelling} to the table and declare it: [columns.{name}] with {declared}."
    )
    inner = re.fullmatch(r"log\((\w+)\)", spelling.strip())
    if inner is not None:
        link = f'"{inner[1]} ~ …" with the family gamma, for amounts above 0'
        text += f" Or keep {inner[1]} and give its mean a log link: {link}."
    return text
