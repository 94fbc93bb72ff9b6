"""What a guarantee protects and what it does not, in plain words."""

from __future__ import annotations

from tacit.privacy.relation import Relation

_COMPARED = {
    Relation.REPLACE_ONE: "Compared are tables in which all records of one {unit} were exchanged for others.",
    Relation.ZERO_OUT: "Compared are tables in which all records of one {unit} were blanked.",
    Relation.ADD_REMOVE: "Compared are tables with and without one {unit}, so that the number of records is private.",
}


def compared(relation: Relation, unit: str) -> str:
    """Say which tables a relation compares."""
    return f"The protected unit is one {unit}. The relation is {relation}. {_COMPARED[relation].format(unit=unit)}"


def protected(relation: Relation, unit: str) -> tuple[str, ...]:
    """What is protected."""
    items = [
        f"Every cell of the records of each {unit}: whatever it holds, the release would have been about as likely.",
        "Against anybody who sees the release, with any knowledge, any computer, now or later.",
        "Whatever is computed from the release: predictions, tables, pictures and further models cost nothing more.",
    ]
    if not relation.n_is_public:
        items.insert(1, f"Whether a {unit} is in the table at all.")
    return tuple(items)


def unprotected(relation: Relation, unit: str, *, others: str) -> tuple[str, ...]:
    """What is not protected; `others` says which other releases are not covered."""
    items = [
        f"What the release says about people in general. It may be true of a {unit} whose record was never used.",
        "Public facts: names of columns, bounds, levels, and the formula.",
        "The table itself, against whoever can read it or the computer that holds it.",
        others,
    ]
    if relation.n_is_public:
        items.insert(1, "The number of records.")
    return tuple(items)
