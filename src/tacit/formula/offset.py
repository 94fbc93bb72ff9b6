"""Offsets of a formula: ``offset(x)``, ``offset(0.5 * x)``, ``offset(log(t))``, ``exposure(t)``, and their sum."""

from __future__ import annotations

import ast
import math
import sys
from collections.abc import Mapping, Sequence

from tacit.design.attached_columns import AnyOffset, Offset, OffsetSum, OffsetTerm
from tacit.design.response import Classes, Family
from tacit.errors import SettingError
from tacit.formula.atom import numeric_argument
from tacit.formula.call import Call, Value, read_call
from tacit.formula.spelling import parsed, refused
from tacit.schema.schema import NumericColumn, Schema


def offset_term(spelling: str, schema: Schema, family: Family) -> OffsetTerm | None:
    """The offset that a call in a formula stands for; None where it is something else.

    ``offset(c * x)`` adds c·x to the linear predictor, ``exposure(t)`` and ``offset(log(t))`` add log t.
    """
    call = read_call(spelling)
    if not isinstance(call, Call) or call.function not in {"offset", "exposure"}:
        return None
    if not family.takes_offset:
        if family.response is Classes:
            raise refused(spelling, "added to every class alike, an offset changes nothing.")
        before = "subtract it from the response before, and declare the bounds of the result."
        raise refused(spelling, f'with family = "{family.name}" {before}')
    exposure = call.function == "exposure"
    if exposure and family.link != "log":
        link = (
            'an exposure goes with the log link, family = "poisson", "negative-binomial" or "gamma". '
            "offset(x) adds a column as it is."
        )
        raise refused(spelling, link)
    weight, argument = 1.0, call.only_argument
    if not isinstance(argument, str) and not exposure:
        weight, argument = _weighted(spelling)
    if not exposure and isinstance(argument, Call) and argument.function == "log":
        exposure, argument = True, argument.only_argument
    name, declared = _column(spelling, argument, schema)
    lower, upper = declared.lower, declared.upper
    if exposure:
        if lower <= 0:
            raise refused(spelling, f'the logarithm of "{name}" needs lower > 0, and lower is declared as {lower:g}.')
        lower, upper = math.log(lower), math.log(upper)
    try:
        return OffsetTerm(name, weight, lower, upper, exposure)
    except SettingError as error:
        raise refused(spelling, str(error)) from error


def _column(spelling: str, argument: Value, schema: Schema) -> tuple[str, NumericColumn]:
    """Name and declaration of the column of an offset."""
    if isinstance(argument, str):
        return numeric_argument(spelling, argument, schema)
    form = "offset(x), offset(0.5 * x), offset(x / 10), offset(log(t)) or, with the log link, exposure(t)"
    advice = "Several are summed; for anything else compute the column before and declare its bounds."
    raise refused(spelling, f"its argument must be one declared numeric column, as in {form}. {advice}")


def _weighted(spelling: str) -> tuple[float, Value]:
    """Number and column of ``offset(0.5 * x)``, ``offset(-x / 2)``, ``offset(I(2 * x / 10))`` and the like."""
    tree, quoted = parsed(spelling)
    if not isinstance(tree, ast.Call) or len(tree.args) != 1 or tree.keywords:
        return 1.0, None
    weight, inner = _factored(tree.args[0])
    return weight, _read(inner, quoted)


def _factored(node: ast.expr) -> tuple[float, ast.expr]:
    """The product of all numbers by which something is multiplied or divided, and what it is."""
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            weight, inner = _factored(operand)
            return -weight, inner
        case ast.Call(func=ast.Name(id="I"), args=[argument], keywords=[]):
            return _factored(argument)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            for number, other in ((_number(left), right), (_number(right), left)):
                if number is not None:
                    weight, inner = _factored(other)
                    return number * weight, inner
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            if number := _number(right):
                weight, inner = _factored(left)
                return weight / number, inner
    return 1.0, node


def _read(node: ast.expr, quoted: Mapping[str, str]) -> Value:
    text = ast.unparse(node)
    for stand_in, name in quoted.items():
        text = text.replace(stand_in, f"`{name}`")
    return read_call(text)


def _number(node: ast.expr) -> float | None:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            # A whole number beyond float64 is refused as infinite.
            return float(value) if value <= sys.float_info.max else math.inf
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            number = _number(operand)
            return None if number is None else -number
    return None


def summed_offset(terms: Sequence[OffsetTerm]) -> AnyOffset | None:
    """All offsets of a formula together; None where there is none."""
    if not terms:
        return None
    try:
        if len(terms) == 1 and terms[0].weight == 1.0:
            return Offset(terms[0].column, terms[0].lower, terms[0].upper, terms[0].exposure)
        return OffsetSum(tuple(terms))
    except SettingError as error:
        raise refused("The sum of the offsets", str(error)) from error
