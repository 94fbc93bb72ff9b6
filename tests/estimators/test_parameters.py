"""Parameters written once: fields become keywords, and docstrings are put together."""

import inspect
from dataclasses import dataclass

import pytest

from tacit.estimators.parameters import CommonParameters, RegressionParameters, estimator


@dataclass(eq=False, repr=False, kw_only=True)
class Base:
    """A base.

    Guarantee:

    - It holds.

    Parameters
    ----------
    first
        Of the base.

    Examples
    --------
    Not taken over.
    """

    first: int = 1


@estimator
class Derived(Base):
    """A class of its own.

    Some formula.

    Parameters
    ----------
    second
        Of the class.

    Examples
    --------
    >>> Derived().first
    1
    """

    second: int = 2


EXPECTED = """\
A class of its own.

Some formula.

Guarantee:

- It holds.

Parameters
----------
second
    Of the class.
first
    Of the base.

Examples
--------
>>> Derived().first
1"""


def test_the_docstring_has_the_sections_of_the_bases() -> None:
    assert inspect.getdoc(Derived) == EXPECTED


def test_fields_are_keywords_and_nothing_else_is_taken_from_dataclasses() -> None:
    assert list(inspect.signature(Derived).parameters) == ["first", "second"]
    with pytest.raises(TypeError):
        Derived(3)  # type: ignore[call-arg]
    model = Derived(second=5)
    assert (model.first, model.second) == (1, 5)
    assert model != Derived(second=5)
    assert {model: 0}[model] == 0
    assert repr(model).startswith("<")


def test_a_subclass_may_change_a_default() -> None:
    @estimator
    class Other(Base):
        """Another."""

        first: int = 7

    assert Other().first == 7
    assert Derived().first == 1


def test_no_parameter_is_shared_twice() -> None:
    common = set(CommonParameters.__dataclass_fields__)
    assert common.isdisjoint(RegressionParameters.__dataclass_fields__)
