"""The response and the offset of a formula, by the family and the schema."""

from __future__ import annotations

import math

from tacit.design.attached_columns import Offset
from tacit.design.response import Binary, Classes, Continuous, Count, Family, Response
from tacit.errors import FormulaError, SettingError
from tacit.formula.atom import Call, numeric_argument, read_call
from tacit.schema.schema import BinaryColumn, FactorColumn, NumericColumn, Schema


def response_of(name: str, schema: Schema, family: Family, *, centred: bool) -> Response:
    """The response that a declared column is to a family, or an error that says what to declare.

    | family | declared as | response |
    |---|---|---|
    | binomial | binary | its two levels |
    | gaussian, huber, quantile | numeric | a number within lower and upper |
    | poisson | numeric, lower >= 0 | a count of at most upper |
    | multinomial | factor of three or more levels | its levels |
    """
    declared, kind = schema.column(name), family.response
    try:
        if kind is Binary and isinstance(declared, BinaryColumn):
            return Binary.of(name, declared.levels)
        if kind is Classes and isinstance(declared, FactorColumn):
            if len(declared.levels) == 2:
                advice = 'declare it with type = "binary" and use family = "binomial"'
                raise FormulaError(f'The response "{name}" has two levels: {advice}.')
            return Classes.of(name, declared.levels)
        if kind is Continuous and isinstance(declared, NumericColumn):
            return Continuous.of(name, declared.lower, declared.upper, centred=centred)
        if kind is Count and isinstance(declared, NumericColumn):
            if declared.lower < 0 or declared.upper < 1 or declared.upper % 1:
                raise FormulaError(
                    f'The response "{name}" counts: declare lower = 0 and upper = the largest '
                    "count, a whole number of at least 1 (larger counts are clipped to it)."
                )
            return Count(name, declared.upper)
    except SettingError as error:
        raise FormulaError(f'The response "{name}" is refused: {error}') from error
    raise FormulaError(f'The response "{name}" must be {_WANTED[kind]}.')


_WANTED = {
    Binary: 'a binary column for family = "binomial"; declare it with type = "binary" and its two '
    "levels, the negative one first",
    Classes: 'a factor for family = "multinomial"; declare it with type = "factor" and three or more levels',
    Continuous: 'a numeric column for this family; declare it with type = "numeric", lower and '
    "upper, public bounds of the response",
    Count: 'a numeric column for family = "poisson"; declare it with type = "numeric", lower = 0 '
    "and upper, the largest count",
}


def offset_of(spelling: str, schema: Schema, family: Family) -> Offset | None:
    """The offset that a call in a formula stands for; None where it is something else.

    ``offset(x)`` adds x to the linear predictor, ``exposure(t)`` and ``offset(log(t))`` add log t.
    """
    call = read_call(spelling)
    if not isinstance(call, Call) or call.function not in {"offset", "exposure"}:
        return None
    if not family.takes_offset:
        reason = f'with family = "{family.name}" subtract it from the response before, and declare '
        reason += "the bounds of the result."
        if family.response is Classes:
            reason = "added to every class alike, an offset changes nothing."
        raise FormulaError(f"{spelling} is refused: {reason}")
    argument, logarithm = call.only_argument, call.function == "exposure"
    if logarithm and family.link != "log":
        raise FormulaError(
            f'{spelling} is refused: an exposure goes with the log link, family = "poisson". '
            "offset(x) adds a column as it is."
        )
    if call.function == "offset" and isinstance(argument, Call) and argument.function == "log":
        logarithm = True
        argument = argument.arguments[0] if len(argument.arguments) == 1 else None
    name, declared = numeric_argument(spelling, argument, schema)
    lower, upper = declared.lower, declared.upper
    if logarithm:
        if lower <= 0:
            raise FormulaError(
                f'{spelling} is refused: the logarithm of "{name}" needs lower > 0, and lower is declared as {lower:g}.'
            )
        lower, upper = math.log(lower), math.log(upper)
    try:
        return Offset(name, lower, upper, logarithm)
    except SettingError as error:
        raise FormulaError(f"{spelling} is refused: {error}") from error
