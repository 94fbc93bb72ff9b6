"""Limits of a formula: its length, the number of its terms, and the width of its design."""

from __future__ import annotations

import ast
import re

from tacit.errors import FormulaError
from tacit.formula.spelling import in_python, without_quoted_names

LONGEST = 10_000
"""Characters of a formula."""
LARGEST_EXPONENT = 20
"""Of a power of terms, (a + b)**2."""
MOST_TERMS = 2_000
LARGEST_WIDTH = 20_000
"""Columns of a design that a formula makes; a matrix may be wider."""
_DOT = re.compile(r"(?<![\w.)\]])\.(?![\w.])")


def require_moderate_formula(formula: str, columns: int) -> None:
    """Refuse a formula that would take long to expand, before it is.

    `columns` is what ``.`` stands for. The number of terms is bounded from above: (s)(t) ≤ s·t, a*b ≤ s + t + s·t,
    and s**k ≤ (s + 1)^k.
    """
    if len(formula) > LONGEST:
        raise FormulaError(f"A formula has at most {LONGEST:,} characters; got {len(formula):,}.")
    text, _ = without_quoted_names(formula.rpartition("~")[2])
    # Python has no operator ":" and no name ".", and reads the others as a formula does.
    plain = _DOT.sub("dot_", in_python(text)).replace(":", "@").replace("%in%", "@")
    try:
        tree = ast.parse(plain.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        # What is no formula either is refused by its parser, which takes long for powers alone.
        exponents = re.findall(r"\*\*\s*(\d{1,20})", plain)
        if any(int(exponent) > LARGEST_EXPONENT for exponent in exponents):
            raise _too_high() from None
        return
    count = _terms(tree, columns)
    if count > MOST_TERMS:
        raise FormulaError(
            f"The formula may have more than {MOST_TERMS:,} terms; write fewer products, or a lower power of terms."
        )


def _terms(node: ast.expr, columns: int) -> float:
    match node:
        case ast.Name(id="dot_"):
            return columns
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int() as exponent)):
            if exponent > LARGEST_EXPONENT:
                raise _too_high()
            base = _terms(left, columns)
            # A term by itself is its own power.
            return base if base <= 1 else float(base + 1) ** max(exponent, 1)
        case ast.BinOp(left=left, op=op, right=right):
            first, second = _terms(left, columns), _terms(right, columns)
            if isinstance(op, ast.Add | ast.Sub):
                return first + second
            product = first * second
            return product if isinstance(op, ast.MatMult) else first + second + product
        case ast.UnaryOp(operand=operand):
            return _terms(operand, columns)
    return 1


def _too_high() -> FormulaError:
    return FormulaError(
        f"A power of terms is at most {LARGEST_EXPONENT}: a**2 is a, and (a + b)**2 is a + b + a:b. The square of a "
        "column is I(a**2)."
    )


def require_moderate_width(width: int) -> None:
    """Refuse a design that is too wide, before its columns are made."""
    if width > LARGEST_WIDTH:
        raise FormulaError(
            f"The formula would have more than {LARGEST_WIDTH:,} columns; leave out products of factors with many "
            "levels, or merge levels."
        )
