"""Which two tables count as neighbours. Every guarantee names its relation."""

from __future__ import annotations

from enum import StrEnum

from tacit.errors import SchemaError


class Relation(StrEnum):
    """The neighbouring relation of a guarantee.

    - ``replace-one``: one record is swapped for another; the number of records is public.
    - ``zero-out``: one record's contribution vanishes; the number of records is public.
    - ``add-remove``: one record is added or removed; the number of records is private.

    Guarantee: there are three relations, each with one spelling, and `parse` knows no synonym; `n_is_public` is false
    for ``add-remove`` and for nothing else.

    Examples
    --------
    >>> Relation.parse("zero-out").n_is_public
    True
    """

    REPLACE_ONE = "replace-one"
    ZERO_OUT = "zero-out"
    ADD_REMOVE = "add-remove"

    @property
    def n_is_public(self) -> bool:
        """Whether the number of records may be known and divided by."""
        return self is not Relation.ADD_REMOVE

    @classmethod
    def parse(cls, text_or_relation: object) -> Relation:
        """Return the relation that one of the three words names; refuse anything else."""
        if isinstance(text_or_relation, str) and text_or_relation in set(cls):
            return cls(text_or_relation)
        words = ", ".join(f'"{relation.value}"' for relation in cls)
        choose = 'Choose "replace-one" if the number of records is public.'
        raise SchemaError(f"unknown relation {repr(text_or_relation)[:60]}; expected one of {words}. {choose}")
