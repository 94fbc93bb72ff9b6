"""Calls read as text; nothing is evaluated."""

import pytest

from tacit.formula.call import Call, Raised, Text, Value, read_call


@pytest.mark.parametrize(
    ("spelling", "expected"),
    [
        ("age", "age"),
        ("x.y", "x.y"),
        ("`a b`", "a b"),
        ("age ** 2", Raised("age", 2)),
        ("`a b`**-2", Raised("a b", -2)),
        ("np.log(x.y)", Call("log", ("x.y",), {})),
        ("numpy.exp(`quoted0`)", Call("exp", ("quoted0",), {})),
        ("I(age ** 2)", Call("I", (Raised("age", 2),), {})),
        ("bs(age, knots=[-1, 2.5], degree=3)", Call("bs", ("age",), {"knots": (-1, 2.5), "degree": 3})),
        ("cut(age, (1,))", Call("cut", ("age", (1,)), {})),
        ("poly(age, 2, raw=True)", Call("poly", ("age", 2), {"raw": True})),
        ("offset(log(t))", Call("offset", (Call("log", ("t",), {}),), {})),
        ("log(age + 1)", Call("log", (None,), {})),
        ("Q('age')", Call("Q", (Text("age"),), {})),
        ("ns(age, knots=c(1, 2))", Call("ns", ("age",), {"knots": (1, 2)})),
        ("poly(age, 2, raw=TRUE)", Call("poly", ("age", 2), {"raw": True})),
        ("I(age^2)", Call("I", (Raised("age", 2),), {})),
        ('C(ward, Treatment("b^"))', Call("C", ("ward", Call("Treatment", (Text("b^"),), {})), {})),
        ("bs(age, knots=[age])", Call("bs", ("age",), {"knots": None})),
        ("bs(age, knots=[True])", Call("bs", ("age",), {"knots": None})),
    ],
)
def test_what_is_read(spelling: str, expected: Value) -> None:
    assert read_call(spelling) == expected


@pytest.mark.parametrize(
    "spelling", ["", "age[0]", "age + 1", "f()()", "f(**x)", "lambda: 0", "f(", "\0", "(" * 10_000]
)
def test_anything_else_is_none(spelling: str) -> None:
    assert read_call(spelling) is None
