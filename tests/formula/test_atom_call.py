"""Calls read as text; nothing is evaluated."""

import pytest

from tacit.formula.atom import Call, Name, Raised, Value, read_call


@pytest.mark.parametrize(
    ("spelling", "expected"),
    [
        ("age", Name("age")),
        ("x.y", Name("x.y")),
        ("`a b`", Name("a b")),
        ("age ** 2", Raised(Name("age"), 2)),
        ("`a b`**-2", Raised(Name("a b"), -2)),
        ("np.log(x.y)", Call("log", (Name("x.y"),), {})),
        ("numpy.exp(`quoted0`)", Call("exp", (Name("quoted0"),), {})),
        ("I(age ** 2)", Call("I", (Raised(Name("age"), 2),), {})),
        ("bs(age, knots=[-1, 2.5], degree=3)", Call("bs", (Name("age"),), {"knots": (-1, 2.5), "degree": 3})),
        ("cut(age, (1,))", Call("cut", (Name("age"), (1,)), {})),
        ("poly(age, 2, raw=True)", Call("poly", (Name("age"), 2), {"raw": True})),
        ("offset(log(t))", Call("offset", (Call("log", (Name("t"),), {}),), {})),
        ("log(age + 1)", Call("log", (None,), {})),
        ("Q('age')", Call("Q", (None,), {})),
        ("bs(age, knots=[age])", Call("bs", (Name("age"),), {"knots": None})),
        ("bs(age, knots=[True])", Call("bs", (Name("age"),), {"knots": None})),
    ],
)
def test_what_is_read(spelling: str, expected: Value) -> None:
    assert read_call(spelling) == expected


@pytest.mark.parametrize(
    "spelling", ["", "age[0]", "age + 1", "f()()", "f(**x)", "lambda: 0", "f(", "'text'", "\0", "(" * 10_000]
)
def test_anything_else_is_none(spelling: str) -> None:
    assert read_call(spelling) is None
