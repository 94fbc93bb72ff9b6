"""The atoms of a formula term, such as ``age`` in ``age:C(ward)``, and the factors they stand for.

An atom is a number (a column, a power, a transform) or a partition: functions that are not negative
and sum to 1 (the levels of a factor, the intervals of a cut, a B-spline basis). What would have to
be read off the data is refused. Calls are read as text, and nothing is evaluated.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from tacit.design import factor as factors
from tacit.design.factor import Factor, Numeric
from tacit.errors import FormulaError
from tacit.formula.call import Call, Raised, Text, Value, read_call
from tacit.formula.computed_column import computed_factor
from tacit.formula.expression import CALLS, is_operation
from tacit.formula.natural_spline import natural_basis
from tacit.formula.spelling import refused
from tacit.schema.schema import BinaryColumn, FactorColumn, NumericColumn, Schema

SUMS = frozenset({"Sum", "contr.sum"})
TREATMENTS = frozenset({"Treatment", "contr.treatment"})
BOUNDARIES = ("boundary_knots", "lower_bound", "upper_bound")
"""How R, and patsy and formulaic, name the outer knots, which are the declared bounds here."""
LARGEST_BASIS = 1000
"""Knots or edges beyond it are a slip."""

Key = tuple[Factor, ...]

_READS_DATA: Mapping[str, str] = {
    **dict.fromkeys(
        ("scale", "center", "standardize"),
        "Columns are mapped to [-1, 1] by their declared bounds already: declare tighter bounds in the schema.",
    ),
    **dict.fromkeys(
        ("bs", "ns", "cs", "cr", "cc", "te"),
        "Write bs(x, knots=[…], degree=3) or ns(x, knots=[…]): public knots, over the bounds declared in the schema.",
    ),
    "poly": "Write poly(x, 2, raw=True) for fixed powers; their bounds follow from those declared in the schema.",
    "hashed": 'Declare the column with type = "factor" and its levels.',
    "lag": "A record's row depends on that record alone; add the lagged column to the table and declare its bounds.",
}


@dataclass(frozen=True)
class Atom:
    """How the formula spells an atom, and its factors: one of a number, several of a partition.

    The factors of a partition have labels. With `treatment` these say if the first is left out.
    """

    spelling: str
    factors: tuple[Factor, ...]
    labels: tuple[str, ...] = ()
    treatment: bool = True
    sums: str | None = None
    """The column whose levels are coded as deviations, which needs an intercept."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table that it reads."""
        return factors.columns_of(self.factors[0])

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
            reader = _READERS.get(function)
            if reader is not None:
                return reader(spelling, value, schema)
            if function in CALLS:
                return _computed(spelling, value, schema)
            if function in _READS_DATA:
                raise _reads_data(spelling, function)
            if function in {"offset", "exposure"}:
                alone = "is a term of its own, never in a product"
                raise FormulaError(f"{spelling} is refused here: {function}() {alone}.")
    if is_operation(spelling):
        # In braces, {age + 1}.
        return [Atom(spelling, (computed_factor(spelling, schema),))]
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


def _computed(spelling: str, call: Call, schema: Schema) -> list[Atom]:
    """A power or a function of one numeric column by itself, or any other expression."""
    value = call.only_argument
    if call.function == "I" and isinstance(value, str):
        value = Raised(value, 1)
    if call.function == "I" and isinstance(value, Raised):
        return [_power(spelling, value, schema)]
    if call.function == "I" and isinstance(value, Call) and value.function in CALLS:
        return _computed(spelling, value, schema)
    if call.function in factors.FUNCTIONS and isinstance(value, str):
        name, declared = numeric_argument(spelling, value, schema)
        factor = factors.Transform(name, call.function)
        factors.require_domain(factor, declared.cell)
        return [Atom(spelling, (factor,))]
    return [Atom(spelling, (computed_factor(spelling, schema),))]


def _categorical(spelling: str, call: Call, schema: Schema) -> list[Atom]:
    """``C(x)``, ``factor(x)``, ``C(x, Treatment("b"))``, ``C(x, Sum)`` and ``relevel(x, ref="b")``."""
    name, *others = call.arguments or (None,)
    given = [*others, *call.keywords.values()]
    if isinstance(name, Call) and name.function in {"C", "factor", "as.factor"}:
        name = name.only_argument
    if not isinstance(name, str) or len(given) > 1:
        form = 'C(x), C(x, Treatment("b")), C(x, Sum) or relevel(x, ref="b")'
        raise refused(spelling, f"write it as {form}, where x is a declared column with levels.")
    declared = schema.column(name)
    if isinstance(declared, NumericColumn):
        raise FormulaError(
            f'{spelling} needs levels, and "{name}" is declared numeric. Levels are never read off the data: declare '
            f'the column with type = "factor" and its levels, or cut it at public points: cut({name}, [edges]).'
        )
    atom = column_atom(name, schema, spelling)
    if not given:
        return [atom]
    coding = given[0]
    named = coding.function if isinstance(coding, Call) else coding
    if named in SUMS and not (isinstance(coding, Call) and (coding.arguments or coding.keywords)):
        return _deviations(spelling, name, declared, schema)
    return [_referred(spelling, atom, _reference(spelling, coding, named), declared)]


def _reference(spelling: str, coding: Value, named: object) -> object:
    """The level that a coding names as the reference."""
    value: object = coding
    if isinstance(coding, Call) and named in TREATMENTS:
        own = [*coding.arguments, *coding.keywords.values()]
        value = own[0] if len(own) == 1 else None
    if isinstance(value, Text):
        return value.value
    if isinstance(value, int | float):
        return value
    raise refused(
        spelling,
        'levels are coded against a reference, C(x) or C(x, Treatment("b")) with its name in quotes, or as deviations, '
        "C(x, Sum). Other codings give the same predictions.",
    )


def _referred(spelling: str, atom: Atom, level: object, declared: FactorColumn | BinaryColumn) -> Atom:
    """The partition with another reference level, which comes first."""
    place = declared.index_of(level)
    if place is None:
        raise refused(spelling, f"{level!r} is no declared level; the levels are {declared.declared}.")
    order = [place, *(k for k in range(len(atom.labels)) if k != place)]
    return replace(atom, factors=tuple(atom.factors[k] for k in order), labels=tuple(atom.labels[k] for k in order))


def _deviations(spelling: str, name: str, declared: FactorColumn | BinaryColumn, schema: Schema) -> list[Atom]:
    """Deviations from the mean of all levels: 1 at a level, -1 at the last one, 0 elsewhere."""
    *others, last = map(repr, declared.levels)
    quoted = f"`{name}`"
    return [
        Atom(f"{spelling}[S.{level.strip(chr(39))}]", (factor,), sums=name)
        for level, factor in (
            (level, computed_factor(f"({quoted} == {level}) - ({quoted} == {last})", schema)) for level in others
        )
    ]


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
    given = _arguments(spelling, call, ("x", "knots", "degree", *BOUNDARIES), "bs(x, knots=[…], degree=3)")
    name, declared = numeric_argument(spelling, given["x"], schema)
    _require_boundaries(spelling, given, declared)
    knots = _knots(spelling, given["knots"], declared)
    steps = "cut(x, [edges]) makes steps."
    degree = _degree(spelling, "the degree", given.get("degree", 3), factors.LARGEST_DEGREE, steps)
    whole, count = (declared.lower, *knots, declared.upper), len(knots) + 1 + degree
    basis = tuple(factors.Spline(name, whole, degree, index) for index in range(count))
    return [Atom(spelling, basis, tuple(map(str, range(count))), treatment=False)]


def _natural_spline(spelling: str, call: Call, schema: Schema) -> list[Atom]:
    if len(call.arguments) != 1 or "knots" not in call.keywords:
        raise _reads_data(spelling, "ns")
    given = _arguments(spelling, call, ("x", "knots", *BOUNDARIES), "ns(x, knots=[…])")
    name, declared = numeric_argument(spelling, given["x"], schema)
    _require_boundaries(spelling, given, declared)
    knots = _knots(spelling, given["knots"], declared)
    basis = natural_basis(name, (declared.lower, *knots, declared.upper))
    return [Atom(f"{spelling}[{place}]", (factor,)) for place, factor in enumerate(basis, 1)]


def _require_boundaries(spelling: str, given: Mapping[str, Value], declared: NumericColumn) -> None:
    """Refuse outer knots that are not the declared bounds; without any these are taken."""
    ends = (declared.lower, declared.upper)
    meant = (ends, *ends)
    if any(given.get(key, value) != value for key, value in zip(BOUNDARIES, meant, strict=True)):
        shown = " and ".join(f"{end:.15g}" for end in ends)
        raise refused(
            spelling, f"its outer knots are the declared bounds, {shown}; leave them out, or declare other bounds."
        )


def _steps(spelling: str, call: Call, schema: Schema) -> list[Atom]:
    breaks = {"edges" if key in {"breaks", "bins"} else key: value for key, value in call.keywords.items()}
    given = _arguments(spelling, replace(call, keywords=breaks), ("x", "edges"), "cut(x, [edges])")
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
    "factor": _categorical,
    "as.factor": _categorical,
    "relevel": _categorical,
    "I": _computed,
    "poly": _polynomial,
    "bs": _spline,
    "ns": _natural_spline,
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


def _knots(spelling: str, values: Value, declared: NumericColumn) -> tuple[float, ...]:
    """Inner knots; one may be a number by itself, as in R."""
    alone = isinstance(values, int | float) and not isinstance(values, bool)
    return _points(spelling, "knots", (values,) if alone else values, declared)


def _degree(spelling: str, what: str, value: object, largest: int, hint: str = "") -> int:
    if type(value) is int and 1 <= value <= largest:
        return value
    raise refused(spelling, f"{what} must be a whole number from 1 to {largest}. {hint}".rstrip())


def _reads_data(spelling: str, function: str) -> FormulaError:
    why = f"{function}() would read numbers off the data without paying for them."
    return refused(spelling, f"{why} {_READS_DATA[function]}")


def _not_known(spelling: str) -> FormulaError:
    value, hint = read_call(spelling), ""
    if isinstance(value, Call) and value.function == "Q" and isinstance(value.only_argument, Text):
        hint = f" The name of a column is written in backticks: `{value.only_argument.value}`."
    if isinstance(value, Call) and value.function in {"ifelse", "where"}:
        hint = " Comparisons are numbers: I(x > 50), or I(2 * (x > 50) + (x < 9))."
    return refused(
        spelling,
        f"it is no known function.{hint} Known are I(…) with arithmetic and comparisons, log, log1p, log2, log10, "
        "sqrt, exp, abs, pmin, pmax, clip, poly(x, 2, raw=True), bs and ns(x, knots=[…]), cut(x, [edges]), C(x) and "
        "relevel; for anything else compute the column before and declare the bounds of the result in the schema.",
    )
