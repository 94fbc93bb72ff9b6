"""Expressions as text: what is read, which interval it has, and why the rest is refused."""

import pytest

from tacit.design.expression_tree import Apply, Cell, Number, Power
from tacit.errors import FormulaError, SchemaError
from tacit.formula.expression import column_of_levels, read_statistic
from tacit.schema.schema import Schema

SCHEMA = Schema.parse("""
[columns.x]
type = "numeric"
lower = -1
upper = 2
[columns."days at risk"]
type = "numeric"
lower = 1
upper = 5
[columns.ward]
type = "factor"
levels = ["a", "b", "c"]
[columns.sick]
type = "binary"
levels = ["no", "yes"]
[columns.grade]
type = "factor"
levels = [1, 2, 3]
[columns."a.b"]
type = "numeric"
lower = 0
upper = 1
""")
CELLS = {name: Cell(name, place, 1.0) for place, name in enumerate(SCHEMA.columns)}


@pytest.mark.parametrize(
    ("text", "lower", "upper"),
    [
        ("x", -1, 2),
        ("-x", -2, 1),
        ("+x", -1, 2),
        ("x * x", 0, 4),
        ("x**3", -1, 8),
        ("x**1", -1, 2),
        ("I(x**2)", 0, 4),
        ("x * `days at risk`", -5, 10),
        ("x / `days at risk`", -1, 2),
        ("1 / `days at risk`", 0.2, 1),
        ("(x - 0.5)**2", 0, 2.25),
        ("x + 2 * x - 1", -4, 5),
        ("abs(x)", 0, 2),
        ("minimum(x, 1)", -1, 1),
        ("clip(x, 0, 1)", 0, 1),
        ("sqrt(x + 1)", 0, 3**0.5),
        ("np.log1p(abs(x))", 0, 1.0986122886681098),
        ("a.b", 0, 1),
        ("x > 0", 0, 1),
        ("0 < x <= 1", 0, 1),
        ("x > 0 and not sick or ward == 'b'", 0, 1),
        ("ward in ('a', 'c')", 0, 1),
        ("ward not in ['a']", 0, 1),
        ("grade == 2", 0, 1),
        ("grade != '2'", 0, 1),
        ("sick == 'yes'", 0, 1),
        ("'yes' == sick", 0, 1),
        ("sick", 0, 1),
        ("sick * x", -1, 2),
    ],
)
def test_intervals_follow_from_the_declared_bounds(text: str, lower: float, upper: float) -> None:
    found = read_statistic(text, SCHEMA, CELLS)
    assert (found.interval.lower, found.interval.upper) == pytest.approx((lower, upper))
    assert found.spelling == text


def test_an_expression_is_a_tree_of_public_numbers() -> None:
    found = read_statistic("`days at risk`**2 / 4 <= 1", SCHEMA, CELLS)
    square = Power(CELLS["days at risk"], 2)
    assert found.expression == Apply("<=", (Apply("/", (square, Number(4.0))), Number(1.0)))
    assert read_statistic("1 >= x", SCHEMA, CELLS).expression == Apply("<=", (CELLS["x"], Number(1.0)))
    assert read_statistic("ward == 'c'", SCHEMA, CELLS).expression == Apply("==", (CELLS["ward"], Number(2.0)))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1 / x", r"1 / x is refused: the divisor lies in \[-1, 2\], which holds 0"),
        ("log(x)", r"log\(x\) is refused: log needs lower > 0, and its argument lies in \[-1, 2\]"),
        ("2 + sqrt(x)", r"sqrt\(x\) is refused"),
        ("exp(exp(exp(x)))", "exp needs upper <= 700"),
        ("1e95 * x**20", "as large as"),
        ("1e200", "as large as"),
        ("3", "same number for every record"),
        ("x * 0", "same number for every record"),
        ("ward", "no number; compare it"),
        ("ward + 1", "no number; compare it"),
        ("ward < 'b'", "no number; compare it"),
        ("ward == 'd'", "declared levels"),
        ("ward in 'ab'", r'column in \("a", "b"\)'),
        ("x**2.5", "whole number from 1 to 20"),
        ("x**sick", "whole number from 1 to 20"),
        ("x and sick", "x is refused: and, or and not join comparisons"),
        ("clip(x, 1, 0)", "the lower end first"),
        ("mean(x)", "not known"),
        ("log(x, 2)", "not known"),
        ("log(x=1)", "no keywords"),
        ("x if sick else 1", "not part of the language"),
        ("x @ x", "not part of the language"),
        ("x is 1", "not part of the language"),
        ("True", "not part of the language"),
        ("'a'", "not part of the language"),
        ("(lambda: 1)()", "a name was expected"),
        ("__import__('os').system('true')", "refused"),
        ("x +", "cannot be read"),
        ("x; x", "cannot be read"),
        ("(" * 500 + "x" + ")" * 500, "cannot be read"),
        ("-" * 5000 + "x", "cannot be read"),
        ("", "text such as"),
        (7, "text such as"),
        ("x" * 10_001, "text such as"),
    ],
)
def test_what_has_no_finite_interval_is_refused_with_the_reason(text: object, reason: str) -> None:
    with pytest.raises(FormulaError, match=reason):
        read_statistic(text, SCHEMA, CELLS)


def test_an_undeclared_column_is_refused_with_those_that_are() -> None:
    with pytest.raises(SchemaError, match=r'Did you mean "ward".*Declared'):
        read_statistic("wart == 'a'", SCHEMA, CELLS)


def test_a_declared_column_that_was_not_opened_is_refused() -> None:
    with pytest.raises(FormulaError, match="columns="):
        read_statistic("x + sick", SCHEMA, {"x": CELLS["x"]})


def test_the_name_of_a_refused_column_is_the_users() -> None:
    with pytest.raises(FormulaError, match=r"^log\(`days at risk` - 1\) is refused"):
        read_statistic("x + log(`days at risk` - 1)", SCHEMA, CELLS)


def test_groups_need_a_column_with_levels() -> None:
    assert column_of_levels("grade", SCHEMA).levels == (1, 2, 3)
    with pytest.raises(FormulaError, match="declared numeric"):
        column_of_levels("x", SCHEMA)
    with pytest.raises(FormulaError, match="name of one declared column"):
        column_of_levels(["ward"], SCHEMA)
