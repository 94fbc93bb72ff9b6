"""The atoms of a formula term, such as ``age`` in ``age:C(ward)``, and the factors they stand for.

An atom is a number (a column, a power, a transform) or a partition: functions that are not negative
and sum to 1 (the levels of a factor, the intervals of a cut, a B-spline basis). What would have to
be read off the data is refused. Calls are read as text, and nothing is evaluated.
"""

from __future__ import annotations

import ast
import itertools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tacit.design import factor as factors
from tacit.design.factor import Factor, Numeric
from tacit.errors import FormulaError
from tacit.schema.schema import NumericColumn, Schema

_QUOTED = re.compile(r"`([^`]+)`")
LARGEST_BASIS = 1000
"""Knots or edges beyond it are a slip."""

Key = tuple[Factor, ...]
Number = int | float

_READS_DATA: Mapping[str, str] = {
    **dict.fromkeys(
        ("scale", "center", "standardize"),
        "Columns are mapped to [-1, 1] by their declared bounds already: declare tighter bounds in "
        'the schema, or have part of the budget find them (bounds="private").',
    ),
    **dict.fromkeys(
        ("bs", "ns", "cs", "cr", "cc", "te"),
        "Write bs(x, knots=[…], degree=3): public knots, over the bounds declared in the schema or "
        'found with part of the budget (bounds="private").',
    ),
    "poly": "Write poly(x, 2, raw=True) for fixed powers; their bounds follow from those declared "
    'in the schema, or found with part of the budget (bounds="private").',
    "hashed": 'Declare the column with type = "factor" and its levels.',
    "lag": "A record's row depends on that record alone; add the lagged column to the table and declare its bounds.",
}


@dataclass(frozen=True)
class Raised:
    """A column raised to a number."""

    name: str
    exponent: Number


@dataclass(frozen=True)
class Call:
    """A function of some arguments; numpy's functions are called by their plain names."""

    function: str
    arguments: tuple[Value, ...]
    keywords: Mapping[str, Value] = field(hash=False)

    @property
    def only_argument(self) -> Value:
        """The argument where there is one and no keyword."""
        return self.arguments[0] if len(self.arguments) == 1 and not self.keywords else None


Value = str | Raised | Call | None | bool | Number | tuple[Number, ...]
"""A text is the name of a column, and None is anything else."""


@dataclass(frozen=True)
class Atom:
    """How the formula spells an atom, and its factors: one of a number, several of a partition.

    The factors of a partition have labels. With `treatment` these say if the first is left out.
    """

    spelling: str
    factors: tuple[Factor, ...]
    labels: tuple[str, ...] = ()
    treatment: bool = True

    @property
    def column(self) -> str:
        """The column of the table."""
        return self.factors[0].column

    @property
    def partition(self) -> bool:
        """Whether its functions sum to 1."""
        return bool(self.labels)

    def choices(self, *, whole: bool) -> list[tuple[str, Factor]]:
        """Names and factors: of all functions (`whole`), or of all but the first."""
        if not self.partition:
            return [(self.spelling, self.factors[0])]
        mark = "T." if self.treatment and not whole else ""
        pairs = zip(self.labels, self.factors, strict=True)
        named = [(f"{self.spelling}[{mark}{label}]", factor) for label, factor in pairs]
        return named if whole else named[1:]


def column_atom(name: str, schema: Schema, spelling: str | None = None) -> Atom:
    """The atom that is a column by itself: a number, or a factor with its declared levels."""
    declared = schema.column(name)
    spelling = spelling or name
    if isinstance(declared, NumericColumn):
        return Atom(spelling, (Numeric(name),))
    texts = tuple(map(str, declared.levels))
    return Atom(spelling, tuple(factors.Indicator(name, text) for text in texts), texts)


def computed_atoms(spelling: str, schema: Schema) -> list[Atom]:
    """The atoms that a call in a formula stands for; several are the terms of a sum."""
    value = read_call(spelling)
    match value:
        case str():
            return [column_atom(value, schema)]
        case Raised():
            return [_power(spelling, value, schema)]
        case Call(function=function):
            reader = _READERS.get("transform" if function in factors.FUNCTIONS else function)
            if reader is not None:
                return reader(spelling, value, schema)
            if function in _READS_DATA:
                raise _reads_data(spelling, function)
            if function in {"offset", "exposure"}:
                alone = "is a term of its own, never in a product"
                raise FormulaError(f"{spelling} is refused here: {function}() {alone}.")
    raise _not_known(spelling)


def numeric_argument(spelling: str, value: Value, schema: Schema) -> tuple[str, NumericColumn]:
    """Name and declaration of an argument that must be one numeric column."""
    if not isinstance(value, str):
        held = "since the declared bounds hold for columns as they stand"
        advice = "Compute the column before and declare the bounds of the result in the schema."
        raise refused(spelling, f"its argument must be one declared numeric column, {held}. {advice}")
    declared = schema.column(value)
    if not isinstance(declared, NumericColumn):
        advice = 'Declare it with type = "numeric", lower and upper, or use the factor as it is.'
        raise FormulaError(f'{spelling} needs numbers, and "{value}" is declared with levels. {advice}')
    return value, declared


def _power(spelling: str, value: Raised, schema: Schema) -> Atom:
    name, _ = numeric_argument(spelling, value.name, schema)
    hint = "There are also log, log1p, sqrt and exp."
    return Atom(spelling, (_raised(name, _degree(spelling, "a power", value.exponent, factors.LARGEST_POWER, hint)),))


def _raised(column: str, exponent: int) -> Factor:
    return Numeric(column) if exponent == 1 else factors.Power(column, exponent)


def _identity(spelling: str, call: Call, schema: Schema) -> list[Atom]:
    value = call.only_argument
    if isinstance(value, str):
        value = Raised(value, 1)
    if not isinstance(value, Raised):
        raise _not_known(spelling)
    return [_power(spelling, value, schema)]


def _categorical(spelling: str, call: Call, schema: Schema) -> list[Atom]:
    name = call.only_argument
    if not isinstance(name, str):
        first = "The first declared level is the reference; reorder the levels in the schema to change it."
        raise refused(spelling, f"C() takes one declared column and no other argument. {first}")
    if isinstance(schema.column(name), NumericColumn):
        raise FormulaError(
            f'{spelling} needs levels, and "{name}" is declared numeric. Levels are never read off the data: declare '
            f'the column with type = "factor" and its levels, or cut it at public points: cut({name}, [edges]).'
        )
    return [column_atom(name, schema, spelling)]


def _transform(spelling: str, call: Call, schema: Schema) -> list[Atom]:
    name, declared = numeric_argument(spelling, call.only_argument, schema)
    factor = factors.Transform(name, call.function)
    factors.require_domain(factor, declared.cell)
    return [Atom(spelling, (factor,))]


def _polynomial(spelling: str, call: Call, schema: Schema) -> list[Atom]:
    given = _arguments(spelling, call, ("x", "degree", "raw"), "poly(x, 2, raw=True)")
    if given.get("raw") is not True:
        raise _reads_data(spelling, "poly")
    name, _ = numeric_argument(spelling, given.get("x"), schema)
    degree = _degree(spelling, "the degree", given.get("degree"), factors.LARGEST_POWER)
    return [Atom(f"{spelling}[{k}]", (_raised(name, k),)) for k in range(1, degree + 1)]


def _spline(spelling: str, call: Call, schema: Schema) -> list[Atom]:
    if len(call.arguments) != 1 or "knots" not in call.keywords:
        raise _reads_data(spelling, "bs")
    given = _arguments(spelling, call, ("x", "knots", "degree"), "bs(x, knots=[…], degree=3)")
    name, declared = numeric_argument(spelling, given["x"], schema)
    knots = _points(spelling, "knots", given["knots"], declared)
    steps = "cut(x, [edges]) makes steps."
    degree = _degree(spelling, "the degree", given.get("degree", 3), factors.LARGEST_DEGREE, steps)
    whole, count = (declared.lower, *knots, declared.upper), len(knots) + 1 + degree
    basis = tuple(factors.Spline(name, whole, degree, index) for index in range(count))
    return [Atom(spelling, basis, tuple(map(str, range(count))), treatment=False)]


def _steps(spelling: str, call: Call, schema: Schema) -> list[Atom]:
    given = _arguments(spelling, call, ("x", "edges"), "cut(x, [edges])")
    name, declared = numeric_argument(spelling, given.get("x"), schema)
    points = given.get("edges", ())
    # The bounds themselves may be written as the outer edges, as for pandas and R.
    if isinstance(points, tuple):
        points = tuple(p for p in points if p not in {declared.lower, declared.upper})
    edges = _points(spelling, "edges", points, declared)
    if not edges:
        raise refused(spelling, "name at least one edge within the bounds.")
    ends = (-math.inf, *edges, math.inf)
    shown = (declared.lower, *edges, declared.upper)
    steps = tuple(factors.Between(name, *pair) for pair in itertools.pairwise(ends))
    first, *others = (f"{low:.15g}, {high:.15g}]" for low, high in itertools.pairwise(shown))
    return [Atom(spelling, steps, (f"[{first}", *(f"({other}" for other in others)))]


_READERS: Mapping[str, Callable[[str, Call, Schema], list[Atom]]] = {
    "C": _categorical,
    "I": _identity,
    "transform": _transform,
    "poly": _polynomial,
    "bs": _spline,
    "cut": _steps,
}


def _arguments(spelling: str, call: Call, names: Sequence[str], form: str) -> dict[str, Value]:
    given = dict(zip(names, call.arguments, strict=False))
    extra = [key for key in call.keywords if key not in names or key in given]
    if len(call.arguments) > len(names) or extra:
        raise refused(spelling, f"write it as {form}, with nothing else.")
    return {**given, **call.keywords}


def _points(spelling: str, what: str, values: object, declared: NumericColumn) -> tuple[float, ...]:
    """Increasing numbers strictly within the declared bounds."""
    if not isinstance(values, tuple):
        raise refused(spelling, f"{what} must be a list of numbers, [10, 20].")
    try:
        points = tuple(float(value) for value in values)
    except OverflowError:
        points = (math.inf,)
    if any(a >= b for a, b in itertools.pairwise((declared.lower, *points, declared.upper))):
        ends = f"{declared.lower:g} and {declared.upper:g}"
        raise refused(spelling, f"{what} must increase within the declared bounds, {ends}.")
    if len(points) > LARGEST_BASIS:
        raise refused(spelling, f"at most {LARGEST_BASIS} {what} are taken.")
    return points


def _degree(spelling: str, what: str, value: object, largest: int, hint: str = "") -> int:
    if type(value) is int and 1 <= value <= largest:
        return value
    raise refused(spelling, f"{what} must be a whole number from 1 to {largest}. {hint}".rstrip())


def refused(spelling: str, reason: str) -> FormulaError:
    """The error that names a piece of a formula and says why it is refused."""
    return FormulaError(f"{spelling} is refused: {reason}")


def _reads_data(spelling: str, function: str) -> FormulaError:
    why = f"{function}() would read numbers off the data without paying for them."
    return refused(spelling, f"{why} {_READS_DATA[function]}")


def _not_known(spelling: str) -> FormulaError:
    return refused(
        spelling,
        "the declared bounds hold for columns as they stand. Known are I(x**2), poly(x, 2, raw=True), log, log1p, "
        "sqrt and exp of a column, bs(x, knots=[…]) and cut(x, [edges]); for anything else compute the column before "
        "and declare the bounds of the result in the schema.",
    )


def read_call(spelling: str) -> Value:
    """What a piece of a formula says, or None where it says something else."""
    text, quoted = without_quoted_names(spelling)
    try:
        return _value(ast.parse(text, mode="eval").body, quoted)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def without_quoted_names(spelling: str) -> tuple[str, dict[str, str]]:
    """Replace names in backquotes by plain ones; return the text and what each stands for."""
    stand_in = "quoted"
    while stand_in in spelling:
        stand_in += "_"
    quoted: dict[str, str] = {}

    def hide(match: re.Match[str]) -> str:
        quoted[f"{stand_in}{len(quoted)}_"] = match[1]
        return next(reversed(quoted))

    return _QUOTED.sub(hide, spelling).strip(), quoted


def _value(node: ast.expr, quoted: Mapping[str, str]) -> Value:
    match node:
        case ast.Constant(value=bool() | int() | float() as constant):
            return constant
        case ast.UnaryOp(op=ast.USub()):
            return -_number(node.operand, quoted)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return tuple(_number(item, quoted) for item in items)
        case ast.BinOp(left=ast.Name() | ast.Attribute(), op=ast.Pow()):
            return Raised(_dotted(node.left, quoted), _number(node.right, quoted))
        case ast.Call():
            if any(keyword.arg is None for keyword in node.keywords):
                raise ValueError("a call takes its keywords by name")
            function = _dotted(node.func, {}).removeprefix("np.").removeprefix("numpy.")
            arguments = tuple(_argument(item, quoted) for item in node.args)
            keywords = {str(it.arg): _argument(it.value, quoted) for it in node.keywords}
            return Call(function, arguments, keywords)
        case _:
            return _dotted(node, quoted)


def _argument(node: ast.expr, quoted: Mapping[str, str]) -> Value:
    try:
        return _value(node, quoted)
    except ValueError:
        return None


def _number(node: ast.expr, quoted: Mapping[str, str]) -> Number:
    value = _value(node, quoted)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("a number was expected")  # noqa: TRY004 (caught where it is read)
    return value


def _dotted(node: ast.expr, quoted: Mapping[str, str]) -> str:
    match node:
        case ast.Name(id=name):
            return quoted.get(name, name)
        case ast.Attribute(value=ast.Name() | ast.Attribute() as inner, attr=attribute):
            return f"{_dotted(inner, quoted)}.{attribute}"
    raise ValueError("a name was expected")
