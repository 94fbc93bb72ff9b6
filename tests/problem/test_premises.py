"""What a guarantee assumes is said beside it."""

from tacit.problem.premises import ONE_RECORD, VALID, premise_of, premise_sentence


def test_the_unit_of_a_guarantee_has_its_premise() -> None:
    assert premise_of([VALID, "columns"]) is None
    assert premise_of(["columns", ONE_RECORD]) == "each has at most one record"


def test_every_premise_is_in_the_sentence() -> None:
    assert premise_sentence(["columns"], "row") == ""
    assert premise_sentence([VALID], "row") == "This assumes that every record is valid."
    assert "each patient has at most one record" in premise_sentence([ONE_RECORD], "patient")
