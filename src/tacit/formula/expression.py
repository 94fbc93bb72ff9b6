"""Expressions as text: ``"x * y"``, ``"log(income)"``, ``"age > 65 and ward == 'surgery'"``.

The text is parsed and never evaluated. Each piece gets its interval as it is read, so that one without a finite
interval is refused by name, before a record is read.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise

from tacit.design import expression as expressions
from tacit.design.expression import Statistic
from tacit.design.expression_tree import Apply, Cell, Expression, Interval, Number, Power
from tacit.design.factor import FUNCTIONS
from tacit.errors import BoundsError, FormulaError, SchemaError
from tacit.formula.spelling import parsed, refused
from tacit.schema.schema import BinaryColumn, FactorColumn, NumericColumn, Schema

LONGEST = 10_000
"""Characters of an expression."""
_ARITHMETIC: Mapping[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
# Comparisons, and whether the sides change places: a > b is b < a.
_COMPARED: Mapping[type[ast.cmpop], tuple[str, bool]] = {
    ast.Lt: ("<", False),
    ast.LtE: ("<=", False),
    ast.Gt: ("<", True),
    ast.GtE: ("<=", True),
    ast.Eq: ("==", False),
    ast.NotEq: ("!=", False),
}
_KNOWN = (
    "Known are numbers, declared columns, + - * / and whole powers, comparisons with and, or, not and in, "
    "log, log1p, log2, log10, sqrt, exp, abs, pmin, pmax and clip(x, lower, upper)."
)
_Piece = tuple[Expression, Interval]
_LOGARITHMS: Mapping[str, _Piece] = {
    name: (Number(math.log(base)), Interval(math.log(base), math.log(base)))
    for name, base in (("log2", 2), ("log10", 10))
}
"""What a natural logarithm is divided by."""
CALLS = frozenset({*FUNCTIONS, "abs", "clip", "minimum", "maximum", "pmin", "pmax", "log2", "log10"})
"""Functions that an expression may call."""


def read_statistic(spelling: object, schema: Schema, cells: Mapping[str, Cell]) -> Statistic:
    """Read an expression over the stored `cells` of declared columns, with its interval.

    Guarantee: nothing is evaluated. An expression whose interval is not provably finite, or is a single point, is
    refused, and the error names the piece and the reason.
    """
    if not isinstance(spelling, str) or not spelling.strip() or len(spelling) > LONGEST:
        raise FormulaError(f"An expression is text such as 'x * y', of at most {LONGEST} characters.")
    try:
        body, quoted = parsed(spelling)
        found, interval = _Reader(schema, cells, quoted).piece(body)
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        if isinstance(error, FormulaError | SchemaError):
            raise
        raise refused(spelling, f"it cannot be read. {_KNOWN}") from None
    try:
        expressions.require_spread(interval)
    except BoundsError as error:
        raise refused(spelling, f"{error}.") from None
    return Statistic(spelling.strip(), found, interval)


def is_operation(spelling: str) -> bool:
    """Whether a text is arithmetic or a comparison, as in ``{age + 1}``, rather than a call or a name."""
    try:
        body, _ = parsed(spelling)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return isinstance(body, ast.BinOp | ast.UnaryOp | ast.Compare | ast.BoolOp)


def column_of_levels(name: object, schema: Schema) -> FactorColumn | BinaryColumn:
    """The declared column of that name, which must have levels."""
    if not isinstance(name, str):
        raise FormulaError("by=… takes the name of one declared column with levels.")
    declared = schema.column(name)
    if isinstance(declared, NumericColumn):
        advice = 'declare it with type = "factor", or ask for comparisons such as "x <= 10"'
        raise FormulaError(f'by="{name}" needs levels, and the column is declared numeric: {advice}.')
    return declared


@dataclass(frozen=True)
class _Reader:
    schema: Schema
    cells: Mapping[str, Cell]
    quoted: Mapping[str, str]

    def piece(self, node: ast.expr) -> _Piece:
        """Expression and interval of a node."""
        match node:
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                return self._checked(node, Number(float(value)), Interval(float(value), float(value)))
            case ast.Name() | ast.Attribute():
                return self._column(node)
            case ast.BoolOp() | ast.BinOp(op=ast.BitAnd() | ast.BitOr()):
                return self._joined(node)
            case ast.UnaryOp() | ast.BinOp():
                return self._operation(node)
            case ast.Compare():
                return self._compared(node)
            case ast.Call():
                return self._call(node)
        raise self._unknown(node)

    def _joined(self, node: ast.BoolOp | ast.BinOp) -> _Piece:
        """Truths joined by and, or, & or |."""
        function = "minimum" if isinstance(node.op, ast.And | ast.BitAnd) else "maximum"
        values = node.values if isinstance(node, ast.BoolOp) else [node.left, node.right]
        if isinstance(node, ast.BinOp) and not all(piece[1].truth for piece in map(self.piece, values)):
            why = "& and | come before comparisons; put each comparison in brackets, as in (x > 50) & (z < 30)"
            raise self._refusal(node, why)
        return self._folded(node, function, [self._truth(value) for value in values])

    def _operation(self, node: ast.expr) -> _Piece:
        match node:
            case ast.UnaryOp(op=ast.UAdd(), operand=inner):
                return self.piece(inner)
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return self._applied(node, "-", [(Number(0.0), Interval(0.0, 0.0)), self.piece(inner)])
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                return self._applied(node, "not", [self._truth(inner)])
            case ast.BinOp(left=base, op=ast.Pow(), right=exponent):
                return self._power(node, self.piece(base), exponent)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
                return self._arithmetic(node, _ARITHMETIC[type(op)], self.piece(left), self.piece(right))
        raise self._unknown(node)

    def _column(self, node: ast.expr) -> _Piece:
        name = self._name(node)
        declared = self.schema.column(name)
        if isinstance(declared, FactorColumn):
            level = str(declared.levels[0])
            raise self._refusal(node, f"it has levels and is no number; compare it, for example with == {level!r}")
        cell = self._cell(name)
        if isinstance(declared, NumericColumn):
            return self._checked(node, cell, Interval(declared.lower, declared.upper))
        return cell, Interval(0.0, 1.0, truth=True)

    def _cell(self, name: str) -> Cell:
        if name not in self.cells:
            raise FormulaError(f'Column "{name}" was not opened for these queries: name it in columns=….')
        return self.cells[name]

    def _arithmetic(self, node: ast.expr, function: str, left: _Piece, right: _Piece) -> _Piece:
        if function == "*" and left == right:
            return self._raised(node, left, 2)
        return self._applied(node, function, [left, right])

    def _power(self, node: ast.expr, base: _Piece, exponent: ast.expr) -> _Piece:
        value = exponent.value if isinstance(exponent, ast.Constant) else None
        if type(value) is not int or not 1 <= value <= expressions.LARGEST_POWER:
            raise self._refusal(node, f"a power is a whole number from 1 to {expressions.LARGEST_POWER}")
        return base if value == 1 else self._raised(node, base, value)

    def _raised(self, node: ast.expr, base: _Piece, exponent: int) -> _Piece:
        found, interval = base
        if interval.truth:
            return base
        return self._checked(node, Power(found, exponent), expressions.interval_of_power(interval, exponent))

    def _compared(self, node: ast.Compare) -> _Piece:
        sides = [node.left, *node.comparators]
        compared = [self._comparison(node, op, *pair) for op, pair in zip(node.ops, pairwise(sides), strict=True)]
        return self._folded(node, "minimum", compared)

    def _comparison(self, node: ast.expr, op: ast.cmpop, left: ast.expr, right: ast.expr) -> _Piece:
        if isinstance(op, ast.In | ast.NotIn):
            if not isinstance(right, ast.Tuple | ast.List | ast.Set) or not right.elts:
                raise self._refusal(node, 'write it as column in ("a", "b")')
            found = self._folded(node, "maximum", [self._comparison(node, ast.Eq(), left, it) for it in right.elts])
            return found if isinstance(op, ast.In) else self._applied(node, "not", [found])
        if type(op) not in _COMPARED:
            raise self._unknown(node)
        function, swapped = _COMPARED[type(op)]
        declared, other = self._levels(left), right
        if declared is None:
            declared, other = self._levels(right), left
        # A binary column is a number too, but its levels have names.
        if declared is not None and isinstance(other, ast.Constant) and function in {"==", "!="}:
            name, column = declared
            code = column.index_of(other.value)
            if code is None:
                listed = ", ".join(map(repr, column.levels[:20]))
                raise self._refusal(node, f'the declared levels of "{name}" are {listed}')
            return self._applied(
                node, function, [(self._cell(name), Interval(0, 1)), (Number(float(code)), Interval(0, 1))]
            )
        pair = [self.piece(left), self.piece(right)]
        return self._applied(node, function, pair[::-1] if swapped else pair)

    def _levels(self, node: ast.expr) -> tuple[str, FactorColumn | BinaryColumn] | None:
        """Name and declaration of a column with levels; None for anything else."""
        if not isinstance(node, ast.Name | ast.Attribute):
            return None
        name = self._name(node)
        declared = self.schema.column(name)
        return None if isinstance(declared, NumericColumn) else (name, declared)

    def _call(self, node: ast.Call) -> _Piece:
        function = self._name(node.func).removeprefix("np.").removeprefix("numpy.")
        if node.keywords:
            raise self._refusal(node, "functions take no keywords here")
        operands = [self.piece(argument) for argument in node.args]
        match function, len(operands):
            case "I", 1:
                return operands[0]
            case "clip", 3:
                lower, upper = operands[1][1], operands[2][1]
                if not lower.upper < upper.lower:
                    raise self._refusal(node, "write it as clip(x, lower, upper), the lower end first")
                return self._folded(node, "minimum", [self._applied(node, "maximum", operands[:2]), operands[2]])
            case "minimum" | "maximum" | "pmin" | "pmax", several if several >= 2:
                name = "minimum" if function in {"minimum", "pmin"} else "maximum"
                return self._folded(node, name, operands)
            case "log2" | "log10", 1:
                return self._applied(node, "/", [self._applied(node, "log", operands), _LOGARITHMS[function]])
            case _, 1 if function == "abs" or function in FUNCTIONS:
                return self._applied(node, function, operands)
        raise self._refusal(node, f"this function is not known, or takes another number of arguments. {_KNOWN}")

    def _truth(self, node: ast.expr) -> _Piece:
        found = self.piece(node)
        if not found[1].truth:
            raise self._refusal(node, "and, or and not join comparisons and binary columns")
        return found

    def _folded(self, node: ast.expr, function: str, operands: Sequence[_Piece]) -> _Piece:
        return reduce(lambda left, right: self._applied(node, function, [left, right]), operands)

    def _applied(self, node: ast.expr, function: str, operands: Sequence[_Piece]) -> _Piece:
        inner, intervals = zip(*operands, strict=True)
        try:
            interval = expressions.interval_of(function, intervals)
        except BoundsError as error:
            raise self._refusal(node, str(error)) from None
        return self._checked(node, Apply(function, tuple(inner)), interval)

    def _checked(self, node: ast.expr, found: Expression, interval: Interval) -> _Piece:
        try:
            return found, expressions.require_moderate(interval)
        except BoundsError as error:
            raise self._refusal(node, str(error)) from None

    def _name(self, node: ast.expr) -> str:
        match node:
            case ast.Name(id=name):
                return self.quoted.get(name, name)
            case ast.Attribute(value=inner, attr=attribute):
                return f"{self._name(inner)}.{attribute}"
        raise self._refusal(node, "a name was expected")

    def _unknown(self, node: ast.expr) -> FormulaError:
        return self._refusal(node, f"it is not part of the language. {_KNOWN}")

    def _refusal(self, node: ast.expr, reason: str) -> FormulaError:
        text = ast.unparse(node)
        for stand_in, name in self.quoted.items():
            text = text.replace(stand_in, f"`{name}`")
        return refused(text if len(text) <= 200 else f"{text[:200]}…", f"{reason.removesuffix('.')}.")
