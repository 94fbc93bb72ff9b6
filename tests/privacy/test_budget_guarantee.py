import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import BudgetError, SchemaError
from tacit.privacy.budget import Guarantee
from tacit.privacy.relation import Relation


def test_reads_aloud() -> None:
    guarantee = Guarantee(Relation.REPLACE_ONE, "row", epsilon=1.0, delta=1e-6, mu=0.2)
    assert str(guarantee) == "(ε = 1, δ = 1e-06), replace-one, per row"
    assert not guarantee.infinite


def test_infinite_epsilon_reads_no_guarantee() -> None:
    guarantee = Guarantee(Relation.ZERO_OUT, "patient", epsilon=math.inf, delta=0.0, mu=None)
    assert guarantee.infinite
    assert str(guarantee) == "no guarantee (ε = ∞), zero-out, per patient"


@settings(max_examples=200, deadline=None)
@given(st.floats(min_value=0.0, max_value=1e300), st.floats(min_value=0.0, max_value=0.999))
def test_numbers_read_aloud_are_never_smaller(epsilon: float, delta: float) -> None:
    text = str(Guarantee(Relation.ADD_REMOVE, "row", epsilon=epsilon, delta=delta, mu=None))
    first, second = text[1 : text.index(")")].split(", ")
    for spoken, exact in ((first, epsilon), (second, delta)):
        value = float(spoken.split(" = ")[1])
        assert exact <= value <= exact * (1 + 1.1e-5) + 5e-324


@pytest.mark.parametrize(
    "value", [(0.1, "0.1"), (1.0000001, "1.00001"), (0.2999999999, "0.3"), (12345678.0, "1.23457e+07")]
)
def test_rounding_aloud(value: tuple[float, str]) -> None:
    number, spoken = value
    text = str(Guarantee(Relation.ADD_REMOVE, "row", epsilon=number, delta=1e-6, mu=None))
    assert text.startswith(f"(ε = {spoken},")


def test_relation_is_parsed_and_required() -> None:
    assert (
        Guarantee("zero-out", "row", epsilon=1.0, delta=0.1, mu=None).relation  # type: ignore[arg-type]
        is Relation.ZERO_OUT
    )
    with pytest.raises(SchemaError, match="replace-one"):
        Guarantee("neighbours", "row", epsilon=1.0, delta=0.1, mu=None)  # type: ignore[arg-type]


@pytest.mark.parametrize("unit", ["", "  ", "a\nb", None])
def test_unit_is_a_word(unit: str) -> None:
    with pytest.raises(SchemaError, match="unit"):
        Guarantee(Relation.ZERO_OUT, unit, epsilon=1.0, delta=0.1, mu=None)


@pytest.mark.parametrize(
    ("epsilon", "delta", "mu"),
    [
        (-1.0, 0.1, None),
        (math.nan, 0.1, None),
        (1.0, -0.1, None),
        (1.0, 1.1, None),
        (1.0, math.nan, None),
        (1.0, 0.1, -1.0),
        (1.0, 0.1, math.nan),
        ("1", 0.1, None),
        (1.0, True, None),
        (1.0, None, None),
    ],
)
def test_numbers_outside_their_range_are_refused(epsilon: float, delta: float, mu: float | None) -> None:
    with pytest.raises(BudgetError):
        Guarantee(Relation.ZERO_OUT, "row", epsilon=epsilon, delta=delta, mu=mu)
