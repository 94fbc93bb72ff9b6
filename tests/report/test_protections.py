"""What is protected and what is not."""

import pytest

from tacit.privacy.relation import Relation
from tacit.report.protections import compared, protected, unprotected


@pytest.mark.parametrize("relation", list(Relation))
def test_presence_is_protected_where_the_number_is_private_and_the_number_is_named_elsewhere(
    relation: Relation,
) -> None:
    kept, told = protected(relation, "patient"), unprotected(relation, "patient", others="Others.")
    assert ("Whether a patient is in the table at all." in kept) == (relation is Relation.ADD_REMOVE)
    assert ("The number of records." in told) == (relation is not Relation.ADD_REMOVE)
    assert told[-1] == "Others."
    assert str(relation) in compared(relation, "patient")
