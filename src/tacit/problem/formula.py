"""From a formula and a schema to a design, in public facts only.

The formula is parsed into terms and never evaluated. A term is a product of numeric columns and of
factors; the schema says how far it reaches and which levels it has. What would have to be read off
the data (means, knots, levels) or would make a declared bound untrue (a transformed column) is
refused.
"""

from __future__ import annotations

import itertools
import math
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tacit.errors import BoundsError, FormulaError
from tacit.problem.design import Column, Design, Factor, Indicator, Numeric, numeric_column
from tacit.problem.response import Binary
from tacit.problem.schema import BinaryColumn, DeclaredColumn, NumericColumn, Schema

_CATEGORICAL = re.compile(r"C\(\s*(?:`(?P<quoted>[^`]+)`|(?P<bare>[^\W\d][\w.]*))\s*\)")
_CALL = re.compile(r"(?P<name>[^\W\d][\w.]*)\(")
_LONGEST_SHOWN = 200
_READS_DATA = frozenset(
    {"scale", "center", "standardize", "poly", "bs", "cs", "cr", "cc", "te", "hashed", "lag"}
)


@dataclass(frozen=True)
class _Part:
    """One factor of a term: a column and how the formula spells it."""

    column: str
    spelling: str
    numeric: bool


_Term = tuple[_Part, ...]
# Which categorical parts of a term are coded, each with all its levels (True) or all but the first.
_Coding = dict[str, bool]


def design_from_formula(formula: str, schema: Schema, *, row_norm: float | None = None) -> Design:
    """Design of a formula such as ``"readmit ~ age + C(ward) + age:C(ward)"``.

    A term of numeric columns alone is one column, mapped from the product of their bounds to
    [-1, 1]; without an intercept, which alone can take up a shift, it is scaled and not shifted.
    A term with factors has one column per combination of levels, never shifted, so that zeros stay
    zero; at most one of them is non-zero in a record. Each term therefore adds at most 1 to the
    squared norm: feature_norm = √(number of such terms), or `row_norm` where that is smaller.
    (A product of factors whose lower terms are left out counts once for each that it replaces.)

    Factors are coded as in R, patsy and formulaic: without their first declared level where a lower
    term already spans it, with all levels otherwise.

    Guarantee
    ---------
    - Bounds and levels come from the schema; nothing is evaluated and no rows are an argument.
    - A record within the declared bounds has features of norm at most √(number of such terms).
    - Prepared and user coefficients predict the same, with an intercept or without.
    - The columns span the same space as formulaic's matrix on a table that has every level.

    Parameters
    ----------
    formula
        One declared binary column, ``~``, and terms joined by ``+ - : * / **``. ``.`` stands for
        all declared columns but the response; a name with spaces goes between backticks.
    schema
        The public facts about the table.
    row_norm
        Public bound on the norm of the mapped features, if it is known to be smaller.

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
    if row_norm is not None and not (math.isfinite(row_norm) and row_norm > 0):
        raise BoundsError(f"row_norm must be a positive finite number; got {row_norm!r}.")
    left, right = _parsed_sides(formula, schema)
    response = _response(left, schema)
    intercept, terms = _terms(right, schema, response.column)
    if not intercept and not terms:
        raise FormulaError(
            "The formula has neither predictors nor an intercept; add a column after ~."
        )
    blocks = [
        _block_columns(term, coding, schema, shift=intercept)
        for term, codings in _codings(terms, intercept=intercept)
        for coding in codings
    ]
    norm = math.sqrt(len(blocks))
    design = Design(
        columns=tuple(itertools.chain.from_iterable(blocks)),
        response=response,
        feature_norm=norm if row_norm is None else min(row_norm, norm),
        intercept=intercept,
        levels=_used_levels(terms, schema),
    )
    _refuse_shared_names(design.names)
    return design


def _used_levels(terms: Sequence[_Term], schema: Schema) -> dict[str, tuple[str, ...]]:
    used: dict[str, tuple[str, ...]] = {}
    for part in itertools.chain.from_iterable(terms):
        column = schema.column(part.column)
        if not part.numeric and not isinstance(column, NumericColumn):
            used[part.column] = tuple(map(str, column.levels))
    return used


def _parsed_sides(formula: str, schema: Schema) -> tuple[list[Any], list[Any]]:
    # Deferred: formulaic loads pandas, which a fit from a matrix has no use for.
    from formulaic.errors import FormulaicError
    from formulaic.parser import DefaultFormulaParser

    if not isinstance(formula, str):
        raise FormulaError(f"A formula is text such as 'y ~ a + b'; got {type(formula).__name__}.")
    context = {"__formulaic_variables_available__": list(schema.columns)}
    parser = DefaultFormulaParser(feature_flags={"twosided"})
    try:
        sides = parser.get_terms(formula, context=context)
    except (FormulaicError, SyntaxError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise FormulaError(_unreadable(formula, reason)) from error
    except (AttributeError, ValueError, RecursionError, MemoryError) as error:
        # The parser's own slips on unbalanced or endless text; their wording helps nobody.
        reason = "its brackets, quotes or operators do not match"
        raise FormulaError(_unreadable(formula, reason)) from error
    left, right = getattr(sides, "lhs", None), getattr(sides, "rhs", None)
    if left is None or right is None:
        raise FormulaError(
            f"The formula {_shown(formula)} names no response; write it before ~, as in "
            "'y ~ a + b'."
        )
    return list(left), list(right)


def _unreadable(formula: str, reason: str) -> str:
    return (
        f"The formula {_shown(formula)} cannot be read: {reason}. "
        "Expected something like 'y ~ a + b + a:b'."
    )


def _shown(formula: str) -> str:
    return repr(formula if len(formula) <= _LONGEST_SHOWN else formula[:_LONGEST_SHOWN] + "…")


def _response(terms: Sequence[Any], schema: Schema) -> Binary:
    spellings = [":".join(str(factor.expr) for factor in term.factors) for term in terms]
    if (
        len(spellings) != 1
        or len(terms[0].factors) != 1
        or terms[0].factors[0].eval_method.value != "lookup"
    ):
        raise FormulaError(
            f"The left side must be one binary column; got {' + '.join(spellings) or 'nothing'}. "
            "Transform the response before, and declare it in the schema."
        )
    (name,) = spellings
    column = schema.column(name)
    if not isinstance(column, BinaryColumn):
        raise FormulaError(
            f'The response "{name}" must be a binary column; declare it with type = "binary" and '
            "its two levels, the negative one first."
        )
    first, second = column.levels
    return Binary(name, (first, second))


def _terms(parsed: Iterable[Any], schema: Schema, response: str) -> tuple[bool, list[_Term]]:
    """Whether there is an intercept, and the other terms by degree, each once."""
    intercept = False
    terms: dict[frozenset[str], _Term] = {}
    for item in parsed:
        spelling = ":".join(str(factor.expr) for factor in item.factors)
        if spelling == "1":
            intercept = True
            continue
        term = tuple(_part(factor, schema) for factor in item.factors)
        columns = frozenset(part.column for part in term)
        if response in columns:
            raise FormulaError(f'The response "{response}" cannot predict itself: drop {spelling}.')
        if columns in terms or len(columns) < len(term):
            raise FormulaError(
                f"The term {spelling} names the same columns as another part of the formula "
                "(C(ward) and ward are the same); write it once."
            )
        terms[columns] = term
    return intercept, sorted(terms.values(), key=len)


def _part(factor: Any, schema: Schema) -> _Part:
    spelling, method = str(factor.expr), factor.eval_method.value
    if method == "lookup":
        return _Part(spelling, spelling, isinstance(schema.column(spelling), NumericColumn))
    match = _CATEGORICAL.fullmatch(spelling)
    if method == "literal":
        raise FormulaError(
            f"The number {spelling} is refused: 1 and 0 stand for the intercept, alone, and "
            "columns are not multiplied by numbers."
        )
    if match is None:
        raise FormulaError(_refusal(spelling))
    name = match["quoted"] or match["bare"]
    if isinstance(schema.column(name), NumericColumn):
        raise FormulaError(
            f'{spelling} needs levels, and "{name}" is declared numeric. Levels are never read off '
            'the data: declare the column with type = "factor" and its levels.'
        )
    return _Part(name, spelling, numeric=False)


def _refusal(spelling: str) -> str:
    call = _CALL.match(spelling)
    name = call["name"] if call else ""
    if name == "C":
        return (
            f"{spelling} is refused: C() takes one declared column and no other argument. The "
            "first declared level is the reference; reorder the levels in the schema to change it."
        )
    if name in _READS_DATA:
        return (
            f"{spelling} is refused: {name}() would read numbers off the data without paying for "
            "them. Columns are mapped to [-1, 1] by their declared bounds already; for anything "
            "else, transform the column before and declare the bounds of the result."
        )
    return (
        f"{spelling} is refused: the declared bounds hold for columns as they stand, not for what "
        "is computed from them. Transform the column before and declare the bounds of the result "
        "in the schema."
    )


def _codings(terms: Iterable[_Term], *, intercept: bool) -> Iterator[tuple[_Term, list[_Coding]]]:
    """For each term, the fewest codings of its factors that add what no earlier term spans.

    A factor with all its levels spans two subspaces, the constant and the contrasts, so a term
    spans one subspace for each subset of its factors (times its numeric columns).
    """
    spanned: set[tuple[frozenset[str], frozenset[str]]] = set()
    if intercept:
        spanned.add((frozenset(), frozenset()))
    for term in terms:
        numeric = frozenset(part.column for part in term if part.numeric)
        factors = [part.column for part in term if not part.numeric]
        codings: list[_Coding] = []
        for size in range(len(factors) + 1):
            for subset in itertools.combinations(factors, size):
                if (numeric, frozenset(subset)) not in spanned:
                    spanned.add((numeric, frozenset(subset)))
                    codings = _merged(codings, dict.fromkeys(subset, False))
        yield term, codings


def _merged(codings: Sequence[_Coding], new: _Coding) -> list[_Coding]:
    """Add a coding; contrasts times something, plus that something, is all levels times it."""
    for index, old in enumerate(codings):
        extra = new.keys() - old.keys()
        if len(extra) == 1 and len(new) == len(old) + 1:
            (name,) = extra
            if not new[name] and all(new[key] == old[key] for key in old):
                return _merged([*codings[:index], *codings[index + 1 :]], {**new, name: True})
    return [*codings, new]


def _block_columns(term: _Term, coding: _Coding, schema: Schema, *, shift: bool) -> list[Column]:
    """The columns of one term under one coding; at most one is non-zero where it has factors."""
    parts = [part for part in term if part.numeric or part.column in coding]
    choices = [_choices(part, schema.column(part.column), coding) for part in parts]
    columns = []
    # The first factor's level changes fastest, as in R.
    for reverse in itertools.product(*reversed(choices)):
        chosen = reverse[::-1]
        name = ":".join(label for label, _ in chosen)
        factors = tuple(factor for _, factor in chosen)
        columns.append(_product_column(name, factors, schema, shift=shift))
    return columns


def _choices(part: _Part, declared: DeclaredColumn, coding: _Coding) -> list[tuple[str, Factor]]:
    if isinstance(declared, NumericColumn):
        return [(part.spelling, Numeric(part.column))]
    texts = [str(level) for level in declared.levels]
    if coding[part.column]:
        return [(f"{part.spelling}[{text}]", Indicator(part.column, text)) for text in texts]
    return [(f"{part.spelling}[T.{text}]", Indicator(part.column, text)) for text in texts[1:]]


def _product_column(
    name: str, factors: tuple[Factor, ...], schema: Schema, *, shift: bool
) -> Column:
    lower, upper = 1.0, 1.0
    for factor in factors:
        declared = schema.column(factor.column)
        if isinstance(declared, NumericColumn):
            corners = [a * b for a in (lower, upper) for b in (declared.lower, declared.upper)]
            lower, upper = min(corners), max(corners)
    if any(isinstance(factor, Indicator) for factor in factors):
        # No shift, so that a record of another level keeps its exact zero.
        lower, upper, shift = min(lower, 0.0), max(upper, 0.0), False
    if shift:
        mapped = numeric_column(name, lower, upper)
        center, scale = mapped.center, mapped.scale
    else:
        center, scale = 0.0, max(-lower, upper)
    if not (math.isfinite(center) and sys.float_info.min <= scale < math.inf):
        raise BoundsError(
            f"The bounds of {name} leave the range of float64; rescale its columns and declare "
            "the new bounds."
        )
    return Column(name, factors, lower, upper, center, scale)


def _refuse_shared_names(names: Sequence[str]) -> None:
    shared = [name for name, count in Counter(names).items() if count > 1]
    if shared:
        raise FormulaError(
            f"Two coefficients would be called {shared[0]}; rename a column of the table."
        )
