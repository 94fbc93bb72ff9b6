"""The design of a formula and a schema: terms, products of numbers, factors and splines, are read and not evaluated."""

from __future__ import annotations

import itertools
import keyword
import math
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from tacit.design import factor as factors
from tacit.design.attached_columns import AnyOffset, AttachedColumns, OffsetTerm
from tacit.design.design import Column, Design, numeric_column
from tacit.design.factor import Cell, LabelCell
from tacit.design.response import Binary, Classes, Continuous, Count, Family, Positive, Response, find_family
from tacit.errors import BoundsError, FormulaError, InputError, SettingError
from tacit.formula.atom import Atom, Key, column_atom, computed_atoms
from tacit.formula.limits import require_moderate_formula, require_moderate_width
from tacit.formula.offset import offset_term, summed_offset
from tacit.formula.plain_sum import plain_sum
from tacit.formula.spelling import in_python, refused
from tacit.formula.transformed_response import PLAIN, instead_of
from tacit.schema.schema import BinaryColumn, FactorColumn, NumericColumn, Schema
from tacit.validate import positive

_LONGEST_SHOWN = 200
_SLIPS = (AttributeError, ValueError, RecursionError, MemoryError)

Term = tuple[Atom, ...]
# Which partitions of a term are coded, each with all its functions (True) or all but the first.
Coding = dict[Key, bool]


def design_from_formula(
    formula: str, schema: Schema, *, family: str = "binomial", row_norm: float | None = None
) -> Design:
    """Design of a formula such as ``"readmit ~ age + C(ward) + age:C(ward)"``.

    A term of numbers alone is one column, mapped from the product of their bounds to [-1, 1]; without an intercept,
    which alone can take up a shift, it is scaled and not shifted. A term with factors, cuts or splines has one column
    per combination of their functions, never shifted, so that zeros stay zero; in a record the functions are not
    negative and sum to at most 1. Each term therefore adds at most 1 to the squared norm: feature_norm = √(number of
    such terms), or `row_norm` where that is smaller. (A product of factors whose lower terms are left out counts once
    for each that it replaces.)

    Factors are coded as in R, patsy and formulaic: without their first declared level where a lower
    term already spans it, with all levels otherwise. Splines drop their first function likewise.

    Guarantee: bounds and levels come from the schema; nothing is evaluated and no rows are an argument. A record within
    the declared bounds has features of norm at most √(number of such terms). Prepared and user coefficients predict the
    same, with an intercept or without. The columns span the space of formulaic's matrix on a table with every level.

    The formula is one declared column, ``~``, and terms joined by ``+ - : * / **``. ``.`` stands for all declared
    columns but the response; a name with spaces goes between backticks. A term may be ``I(x**2)``, ``poly(x, 2,
    raw=True)``, ``bs(x, knots=[…], degree=3)``, ``ns(x, knots=[…])``, ``cut(x, [edges])``, an expression such as
    ``I(a * b)``, ``I(a > 50)``, ``log(a + 1)`` or ``pmin(a, 50)``, ``offset(0.5 * x)`` or
    ``exposure(x)``.

    Examples
    --------
    >>> schema = Schema.from_mapping({"columns": {
    ...     "readmit": {"type": "binary"},
    ...     "age": {"type": "numeric", "lower": 0, "upper": 110},
    ...     "ward": {"type": "factor", "levels": ["a", "b", "c"]},
    ... }})
    >>> design_from_formula("readmit ~ age + C(ward)", schema).names
    ('Intercept', 'age', 'C(ward)[T.b]', 'C(ward)[T.c]')
    """
    if row_norm is not None:
        row_norm = positive("row_norm", row_norm, BoundsError)
    model = find_family(family)
    if isinstance(formula, str):
        # Before it is parsed: Python's own ^ binds so weakly that brackets around it would be dropped.
        formula = in_python(formula)
    left, right = _parsed_sides(formula, schema)
    reader = _Reader(Diagnostics(formula), schema, model)
    response = reader.response_name(left)
    intercept, terms, offset = reader.terms(right, response)
    with reader.diagnostics.at(left):
        outcome = _response_of(response, schema, model, centred=intercept)
    if not intercept and not terms:
        raise FormulaError("The formula has neither predictors nor an intercept; add a column after ~.")
    used = {name: schema.column(name) for term in terms for atom in term for name in atom.columns}
    cells = {name: column.cell for name, column in used.items() if column.cell != LabelCell()}
    labelled = {name: column for name, column in used.items() if not isinstance(column, NumericColumn)}
    coded = [(term, coding) for term, needed in codings(terms, intercept=intercept) for coding in needed]
    require_moderate_width(sum(math.prod(map(len, _choices(*each))) for each in coded))
    blocks = [_block_columns(term, coding, cells, shift=intercept) for term, coding in coded]
    norm = math.sqrt(len(blocks))
    design = Design(
        columns=tuple(itertools.chain.from_iterable(blocks)),
        response=outcome,
        feature_norm=norm if row_norm is None else min(row_norm, norm),
        intercept=intercept,
        levels={name: tuple(map(str, column.levels)) for name, column in labelled.items()},
        attached=AttachedColumns(schema.weight, offset, schema.person),
        cells=cells,
        reading=schema.reading((response, *used, *(() if offset is None else offset.columns), *schema.attached)),
    )
    shared = [name for name, count in Counter(design.names).items() if count > 1]
    if shared:
        raise FormulaError(f"Two coefficients would be called {shared[0]}; rename a column of the table.")
    return design


def _parsed_sides(formula: str, schema: Schema) -> tuple[list[Any], list[Any]]:
    if not isinstance(formula, str):
        raise FormulaError(f"A formula is text such as 'y ~ a + b'; got {type(formula).__name__}.")
    require_moderate_formula(formula, len(schema.predictors))
    if (plain := plain_sum(formula, schema.predictors)) is not None:
        return plain
    # Deferred: formulaic loads pandas, which a fit of a plain sum has no use for.
    from formulaic.errors import FormulaicError
    from formulaic.parser import DefaultFormulaParser

    diagnostics = Diagnostics(formula)
    context = {"__formulaic_variables_available__": list(schema.predictors)}
    parser = DefaultFormulaParser(feature_flags={"twosided"})
    try:
        sides = parser.get_terms(formula, context=context)
    except (FormulaicError, SyntaxError, *_SLIPS) as error:
        # The wording of the parser's own slips on unbalanced or endless text helps nobody.
        read = isinstance(error, FormulaicError | SyntaxError)
        reason = str(error).splitlines()[0].rstrip(".") if read else "its brackets, quotes or operators do not match"
        example = "Expected something like 'y ~ a + b + a:b'."
        if "|" in reason:
            reason = "| is for random effects, which no family has"
            example = "A declared factor by itself, 'y ~ a + ward', gives each level an effect."
        if words := [name for name in schema.columns if keyword.iskeyword(name) and name in formula]:
            why = f"{words[0]} is a word of Python"
            example = f"{why}: write the column by itself in backticks, as in 'y ~ `{words[0]}` + b'."
        raise FormulaError(f"The formula {diagnostics.shown} cannot be read: {reason}. {example}") from error
    left, right = getattr(sides, "lhs", None), getattr(sides, "rhs", None)
    if left is None or right is None:
        raise FormulaError(f"The formula {diagnostics.shown} names no response; write it before ~, as in 'y ~ a + b'.")
    return list(left), list(right)


@dataclass(frozen=True)
class Diagnostics:
    """A formula, and the way to mark a place in it with carets."""

    formula: str

    @property
    def shown(self) -> str:
        """The formula as an error quotes it, cut where it is long."""
        whole = self.formula
        return repr(whole if len(whole) <= _LONGEST_SHOWN else whole[:_LONGEST_SHOWN] + "…")

    @contextmanager
    def at(self, terms: Sequence[Any]) -> Iterator[None]:
        """Mark these parsed terms in any error about what was given."""
        try:
            yield
        except InputError as error:
            if len(self.formula) > _LONGEST_SHOWN or not self.formula.isprintable():
                raise
            tokens = [getattr(factor, "token", None) for term in terms for factor in term.factors]
            places = [getattr(token, end, None) for token in tokens for end in ("source_start", "source_end")]
            known = [place for place in places if isinstance(place, int)]
            if not known:
                raise
            marks = " " * min(known) + "^" * (max(known) - min(known) + 1)
            raise type(error)(f"{error}\n  {self.formula}\n  {marks}") from error


@dataclass(frozen=True)
class _Reader:
    """Reads parsed terms with the schema at hand; errors point at the term."""

    diagnostics: Diagnostics
    schema: Schema
    family: Family

    def response_name(self, parsed: Sequence[Any]) -> str:
        """The one declared column on the left side."""
        spellings = [_spelling(term) for term in parsed]
        with self.diagnostics.at(parsed):
            if len(spellings) != 1 or len(parsed[0].factors) != 1 or parsed[0].factors[0].eval_method.value != "lookup":
                got = f"got {' + '.join(spellings) or 'nothing'}"
                advice = instead_of(spellings[0], self.schema) if len(spellings) == 1 else PLAIN
                raise FormulaError(f"The left side must be one declared column; {got}. {advice}")
            self.schema.column(spellings[0])
        return spellings[0]

    def terms(self, parsed: Iterable[Any], response: str) -> tuple[bool, list[Term], AnyOffset | None]:
        """Whether there is an intercept, the other terms by degree, each once, and the sum of the offsets."""
        intercept, offsets = False, list[OffsetTerm]()
        terms: dict[frozenset[Any], Term] = {}
        for item in parsed:
            spelling = _spelling(item)
            if spelling == "1":
                intercept = True
                continue
            with self.diagnostics.at([item]):
                if (found := self._offset(item, response)) is not None:
                    offsets.append(found)
                    summed_offset(offsets)
                    continue
                for term in itertools.product(*map(self._atoms, item.factors)):
                    _refuse_response({name for atom in term for name in atom.columns}, response, spelling)
                    keys = frozenset(atom.factors for atom in term)
                    if keys in terms or len(keys) < len(term):
                        same = "is the same as another term of the formula (C(ward) and ward are the same)"
                        raise FormulaError(f"The term {spelling} {same}; write it once.")
                    _refuse_spanned(term, list(terms.values()), spelling)
                    terms[keys] = term
        _refuse_mixed_codings(terms.values(), intercept=intercept)
        _refuse_deviations_alone(terms)
        # The marks of missing cells that the schema declares come after the terms of one atom.
        names = dict.fromkeys(name for term in terms.values() for atom in term for name in atom.columns)
        marked = [
            (Atom(f"{name}:missing", (factors.Missing(name),)),)
            for name in names
            if getattr(self.schema.column(name), "missing_indicator", False)
        ]
        return intercept, sorted([*terms.values(), *marked], key=len), summed_offset(offsets)

    def _offset(self, item: Any, response: str) -> OffsetTerm | None:
        if len(item.factors) != 1 or item.factors[0].eval_method.value != "python":
            return None
        spelling = _spelling(item)
        offset = offset_term(spelling, self.schema, self.family)
        if offset is not None:
            _refuse_response({offset.column}, response, spelling)
        return offset

    def _atoms(self, factor: Any) -> list[Atom]:
        spelling, method = str(factor.expr), factor.eval_method.value
        if method == "lookup":
            return [column_atom(spelling, self.schema)]
        if method == "literal":
            numbers = "1 and 0 stand for the intercept, alone, and columns are not multiplied by numbers."
            raise refused(f"The number {spelling}", numbers)
        return computed_atoms(spelling, self.schema)


def _response_of(name: str, schema: Schema, family: Family, *, centred: bool) -> Response:
    """The response that a declared column is to a family, or an error that says what to declare."""
    declared, kind = schema.column(name), family.response
    try:
        if issubclass(kind, Binary) and isinstance(declared, BinaryColumn):
            return kind.of(name, declared.levels)
        if kind is Classes and isinstance(declared, FactorColumn):
            if len(declared.levels) == 2:
                advice = 'declare it with type = "binary" and use family = "binomial"'
                raise FormulaError(f'The response "{name}" has two levels: {advice}.')
            return Classes.of(name, declared.levels)
        if kind is Continuous and isinstance(declared, NumericColumn):
            return Continuous.of(name, declared.lower, declared.upper, centred=centred)
        if kind is Count and isinstance(declared, NumericColumn):
            if declared.lower < 0 or declared.upper < 1 or declared.upper % 1:
                largest = "the largest count, a whole number of at least 1 (larger counts are clipped to it)"
                raise FormulaError(f'The response "{name}" counts: declare lower = 0 and upper = {largest}.')
            return Count(name, declared.upper)
        if kind is Positive and isinstance(declared, NumericColumn):
            if declared.lower < 0 or declared.upper <= 0:
                raise FormulaError(
                    f'The response "{name}" of a gamma model is positive: declare lower = 0, or its smallest value, '
                    "and upper above it. Records that are not above 0 are invalid rows."
                )
            return Positive(name, declared.lower, declared.upper)
    except SettingError as error:
        raise FormulaError(f'The response "{name}" is refused: {error}') from error
    wanted = next(words for known, words in _WANTED.items() if issubclass(kind, known))
    raise FormulaError(f'The response "{name}" must be {wanted.format(family=family.name)}.')


_WANTED = {
    Binary: 'a binary column for family = "{family}"; declare it with type = "binary" and its two '
    "levels, the negative one first",
    Classes: 'a factor for family = "multinomial"; declare it with type = "factor" and three or more levels',
    Continuous: 'a numeric column for this family; declare it with type = "numeric", lower and '
    "upper, public bounds of the response",
    Count: 'a numeric column for family = "{family}"; declare it with type = "numeric", lower = 0 '
    "and upper, the largest count",
    Positive: 'a numeric column for family = "{family}"; declare it with type = "numeric", lower = 0 or above '
    "and upper, public bounds of the response",
}


def _spelling(item: Any) -> str:
    return ":".join(str(factor.expr) for factor in item.factors)


def _refuse_response(columns: Iterable[str], response: str, spelling: str) -> None:
    if response in columns:
        raise FormulaError(f'The response "{response}" cannot predict itself: drop {spelling}.')


def _refuse_mixed_codings(terms: Iterable[Term], *, intercept: bool) -> None:
    """Refuse two codings of one column's levels, and deviations without an intercept to deviate from."""
    seen: dict[str, object] = {}
    for atom in (atom for term in terms for atom in term):
        own: object = "sum" if atom.sums else atom.factors[0] if atom.partition and atom.treatment else None
        if own is None or isinstance(own, factors.Between):
            continue
        if atom.sums and not intercept:
            raise refused(atom.spelling, "deviations from a mean need an intercept; leave out - 1, or write C(x).")
        for name in atom.columns:
            if seen.setdefault(name, own) != own:
                raise FormulaError(f'"{name}" is coded in two ways; name the same reference level everywhere.')


def _refuse_deviations_alone(terms: Mapping[frozenset[Any], Term]) -> None:
    """Refuse a product with deviations whose other factors are no term: R would code it with all levels instead."""
    for term in terms.values():
        for atom in term:
            others = [other for other in term if other != atom]
            if atom.sums and others and frozenset(other.factors for other in others) not in terms:
                whole, *rest = (it.spelling.rpartition("[")[0] if it.sums else it.spelling for it in (atom, *others))
                lower = ":".join(rest)
                raise refused(
                    f"{whole}:{lower}",
                    f"deviations in a product need the term of its other factors. Add {lower} to the formula, or write "
                    f"C({atom.sums}):{lower}.",
                )


def _refuse_spanned(term: Term, others: Iterable[Term], spelling: str) -> None:
    """Refuse a power of a column beside a spline of it that contains the power."""
    for other in others:
        for spline, power in ((term, other), (other, term)):
            whole, part = spline[0].factors[0], power[0].factors[0]
            spans = (
                len(spline) == len(power) == 1
                and isinstance(whole, factors.Spline)
                and isinstance(part, factors.Numeric | factors.Power)
                and whole.column == part.column
                and part.exponent <= whole.degree
            )
            if spans:
                held = f"{spline[0].spelling} contains {power[0].spelling} already; drop {power[0].spelling}"
                raise FormulaError(f"{spelling} and {other[0].spelling} overlap: {held}.")


def codings(terms: Iterable[Term], *, intercept: bool) -> Iterator[tuple[Term, list[Coding]]]:
    """For each term, the fewest codings of its partitions that add what no earlier term spans.

    A partition with all its functions, which sum to 1, spans two subspaces, the constant and the
    contrasts, so a term spans one subspace for each subset of its partitions (times its numbers).
    Coded so, as in R, patsy and formulaic, no column is a sum of others.
    """
    spanned: set[tuple[frozenset[Key], frozenset[Key]]] = {(frozenset(), frozenset())} if intercept else set()
    for term in terms:
        numbers = frozenset(atom.factors for atom in term if not atom.partition)
        partitions = [atom.factors for atom in term if atom.partition]
        needed: list[Coding] = []
        for size in range(len(partitions) + 1):
            for subset in itertools.combinations(partitions, size):
                if (numbers, frozenset(subset)) not in spanned:
                    spanned.add((numbers, frozenset(subset)))
                    needed = _merged(needed, dict.fromkeys(subset, False))
        yield term, needed


def _merged(codings: Sequence[Coding], new: Coding) -> list[Coding]:
    """Add a coding; contrasts times something, plus that something, is all levels times it."""
    for index, old in enumerate(codings):
        extra = new.keys() - old.keys()
        if len(extra) == 1 and len(new) == len(old) + 1:
            (key,) = extra
            if not new[key] and all(new[other] == old[other] for other in old):
                return _merged([*codings[:index], *codings[index + 1 :]], {**new, key: True})
    return [*codings, new]


def _choices(term: Term, coding: Coding) -> list[list[tuple[str, factors.Factor]]]:
    """Names and factors of each atom of a term under one coding."""
    coded = [atom for atom in term if not atom.partition or atom.factors in coding]
    return [atom.choices(whole=coding.get(atom.factors, True)) for atom in coded]


def _block_columns(term: Term, coding: Coding, cells: dict[str, Cell], *, shift: bool) -> Iterator[Column]:
    """The columns of one term under one coding; together of norm at most 1 in a record."""
    choices = _choices(term, coding)
    # The first factor's level changes fastest, as in R.
    for reverse in itertools.product(*reversed(choices)):
        labels, chosen = zip(*reverse[::-1], strict=True) if reverse else ((), ())
        name = ":".join(labels)
        lower, upper, partial = factors.product_bounds(chosen, cells)
        # No shift where a record can be outside the support, so that it keeps its exact zero.
        column = replace(numeric_column(name, lower, upper, centred=shift and not partial), factors=chosen)
        usable = lower < upper and sys.float_info.min <= column.scale < math.inf
        if not (usable and math.isfinite(column.center)):
            rescale = "rescale its columns and declare the new bounds"
            raise BoundsError(f"The bounds of {name} leave the range of float64; {rescale}.")
        yield column
