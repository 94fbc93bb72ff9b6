from types import SimpleNamespace
from typing import Any

import pytest

from tacit.errors import BoundsError, FormulaError
from tacit.formula.formula import Diagnostics, design_from_formula
from tacit.schema.schema import FactorColumn, NumericColumn, Schema


def term(*places: tuple[int | None, int | None]) -> Any:
    tokens = [SimpleNamespace(source_start=start, source_end=stop) for start, stop in places]
    return SimpleNamespace(factors=[SimpleNamespace(token=token) for token in tokens])


def test_an_error_keeps_its_kind_and_gets_a_mark() -> None:
    with (
        pytest.raises(BoundsError, match=r"^too far\n  y ~ a:bb\n      \^\^\^\^$"),
        Diagnostics("y ~ a:bb").at([term((4, 4), (6, 7))]),
    ):
        raise BoundsError("too far")


@pytest.mark.parametrize("formula", ["y ~ " + "a" * 300, "y ~ a\n+ b"])
def test_what_cannot_be_shown_on_a_line_is_not_marked(formula: str) -> None:
    with pytest.raises(FormulaError, match=r"^no$"), Diagnostics(formula).at([term((4, 4))]):
        raise FormulaError("no")


def test_a_term_without_a_place_is_not_marked() -> None:
    with pytest.raises(FormulaError, match=r"^no$"), Diagnostics("y ~ .").at([term((None, None))]):
        raise FormulaError("no")
    with pytest.raises(FormulaError, match=r"^no$"), Diagnostics("y ~ .").at([]):
        raise FormulaError("no")


def test_other_errors_pass() -> None:
    with pytest.raises(KeyError), Diagnostics("y ~ a").at([term((4, 4))]):
        raise KeyError("a")


def test_a_long_formula_is_cut() -> None:
    assert len(Diagnostics("y" * 1000).shown) < 220


def test_a_column_named_by_a_word_of_python_is_written_in_backticks() -> None:
    words = Schema({"class": FactorColumn(("a", "b")), "y": NumericColumn(0, 1)})
    for spelling in ("C(class)", "C(`class`)"):
        with pytest.raises(FormulaError, match="class is a word of Python: write the column by itself in backticks"):
            design_from_formula(f"y ~ {spelling} + 1", words, family="gaussian")
    assert design_from_formula("y ~ `class`", words, family="gaussian").width == 2
