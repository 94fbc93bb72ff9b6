"""What a guarantee assumes is said beside it."""

from tacit.contract.assumptions import ONE_RECORD, VALID, premise_of


def test_the_unit_of_a_guarantee_has_its_premise() -> None:
    assert premise_of([VALID, "columns"]) is None
    assert premise_of(["columns", ONE_RECORD]) == "each has at most one record"
