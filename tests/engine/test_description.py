"""What the engine tells of a table: the description of `rows`, and no other."""

from tacit.engine import description
from tacit.rows.sources import opening as origin


def test_the_engine_hands_on_the_description_of_rows() -> None:
    assert description.describe is origin.describe
    assert description.Description is origin.Description
