"""Codings: partitions lose their first function where a lower term spans it."""

from tacit.formula.atom import Atom, column_atom, computed_atoms
from tacit.formula.formula import codings
from tacit.schema.schema import FactorColumn, NumericColumn, Schema

SCHEMA = Schema({"x": NumericColumn(0, 9), "v": FactorColumn(("a", "b")), "w": FactorColumn(("a", "b", "c"))})
X, V, W = (column_atom(name, SCHEMA) for name in "xvw")
(S,) = computed_atoms("bs(x, knots=[3])", SCHEMA)


def coded(*terms: tuple[Atom, ...], intercept: bool = True) -> list[list[dict[str, bool]]]:
    names = {part.factors: part.spelling[:2] for part in (X, V, W, S)}
    return [
        [{names[key]: whole for key, whole in coding.items()} for coding in needed]
        for _, needed in codings(terms, intercept=intercept)
    ]


def test_an_intercept_takes_the_first_level() -> None:
    assert coded((W,)) == [[{"w": False}]]
    assert coded((W,), intercept=False) == [[{"w": True}]]
    assert coded((W,), (V,), intercept=False) == [[{"w": True}], [{"v": False}]]


def test_splines_are_coded_like_factors() -> None:
    assert coded((S,)) == [[{"bs": False}]]
    assert coded((S,), intercept=False) == [[{"bs": True}]]
    assert coded((S,), (W,), (S, W)) == [[{"bs": False}], [{"w": False}], [{"bs": False, "w": False}]]


def test_a_product_takes_the_place_of_the_terms_left_out() -> None:
    assert coded((V,), (V, W)) == [[{"v": False}], [{"v": False, "w": False} | {"v": True}]]
    assert coded((X, W)) == [[{"w": True}]]
    assert coded((X,), (X, W)) == [[{}], [{"w": False}]]
