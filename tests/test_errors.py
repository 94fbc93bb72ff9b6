"""The exception tree: what derives from what, and that it has no branches elsewhere."""

import ast
import inspect
from pathlib import Path

import pytest

from tacit import errors

SOURCE = Path(__file__).parents[1] / "src" / "tacit"
CLASSES = [found for _, found in inspect.getmembers(errors, inspect.isclass)]


@pytest.mark.parametrize("found", CLASSES)
def test_every_class_has_its_place(found: type) -> None:
    assert found.__module__ == "tacit.errors"
    assert found.__doc__
    assert issubclass(found, errors.TacitError | UserWarning)


def test_wrong_input_is_a_value_error_and_a_violated_plan_is_not() -> None:
    inputs = [found for found in CLASSES if issubclass(found, errors.InputError)]
    assert len(inputs) > 8
    assert all(issubclass(found, ValueError) for found in inputs)
    assert not issubclass(errors.PlanViolation, errors.InputError)
    assert issubclass(errors.PlanViolation, RuntimeError)


def classes_defined(text: str) -> list[str]:
    """Errors that a module defines, by the names of their bases; signals derive from Exception."""
    return [
        node.name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ClassDef)
        for base in node.bases
        if ast.unparse(base).split(".")[-1].endswith(("Error", "Violation")) and not node.name.startswith("_")
    ]


def test_no_other_module_defines_an_error() -> None:
    # Signals inside the numerical core of an accountant never leave it.
    inside = {"errors.py", "pair.py"}
    others = [path for path in SOURCE.rglob("*.py") if path.name not in inside]
    found = {path.name: classes_defined(path.read_text(encoding="utf-8")) for path in others}
    assert {name: names for name, names in found.items() if names} == {}


def test_a_seeded_error_is_found() -> None:
    assert classes_defined("class Odd(ValueError): ...") == ["Odd"]
    assert classes_defined("class Odd(errors.InputError): ...") == ["Odd"]
    assert classes_defined("class Plain: ...") == []
