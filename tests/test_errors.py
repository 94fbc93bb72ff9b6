"""The one exception tree: what a person can get wrong is a ValueError."""

import inspect

import pytest

from tacit import errors
from tacit.errors import InputError, PlanViolation, PrivacyWarning, TacitError

RAISED = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, Exception) and not issubclass(kind, Warning)
]


@pytest.mark.parametrize("kind", RAISED)
def test_every_error_is_of_the_one_tree(kind: type[Exception]) -> None:
    assert issubclass(kind, TacitError)
    assert issubclass(kind, ValueError) == issubclass(kind, InputError)
    assert kind.__doc__


def test_a_broken_plan_is_no_fault_of_the_input() -> None:
    assert not issubclass(PlanViolation, InputError)
    assert issubclass(PlanViolation, RuntimeError)
    assert issubclass(PrivacyWarning, UserWarning)
    assert set(RAISED) - {TacitError, PlanViolation} == {
        kind for kind in RAISED if issubclass(kind, InputError)
    }
