"""Calls in a formula, read as text: names, numbers and lists, and nothing that is evaluated."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_QUOTED = re.compile(r"`([^`]+)`")
_NUMPY = ("np.", "numpy.")

Number = int | float


@dataclass(frozen=True)
class Name:
    """The name of a column."""

    text: str


@dataclass(frozen=True)
class Raised:
    """A column raised to a number."""

    name: Name
    exponent: Number


@dataclass(frozen=True)
class Call:
    """A function of some arguments; numpy's functions are called by their plain names."""

    function: str
    arguments: tuple[Value, ...]
    keywords: Mapping[str, Value] = field(hash=False)


Value = Name | Raised | Call | None | bool | Number | tuple[Number, ...]
"""None is anything else."""


def read_call(spelling: str) -> Value:
    """What a piece of a formula says, or None where it says something else."""
    stand_in = "quoted"
    while stand_in in spelling:
        stand_in += "_"
    quoted: dict[str, str] = {}

    def hide(match: re.Match[str]) -> str:
        quoted[f"{stand_in}{len(quoted)}"] = match[1]
        return next(reversed(quoted))

    try:
        tree = ast.parse(_QUOTED.sub(hide, spelling).strip(), mode="eval")
        return _value(tree.body, quoted)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _value(node: ast.expr, quoted: Mapping[str, str]) -> Value:
    match node:
        case ast.Constant(value=bool() | int() | float() as constant):
            return constant
        case ast.UnaryOp(op=ast.USub()):
            return -_number(node.operand, quoted)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return tuple(_number(item, quoted) for item in items)
        case ast.BinOp(left=ast.Name() | ast.Attribute(), op=ast.Pow()):
            return Raised(Name(_dotted(node.left, quoted)), _number(node.right, quoted))
        case ast.Call():
            return _call(node, quoted)
        case _:
            return Name(_dotted(node, quoted))


def _call(node: ast.Call, quoted: Mapping[str, str]) -> Call:
    function = _dotted(node.func, {})
    for prefix in _NUMPY:
        function = function.removeprefix(prefix)
    keywords: dict[str, Value] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise ValueError("a call takes its keywords by name")
        keywords[keyword.arg] = _argument(keyword.value, quoted)
    return Call(function, tuple(_argument(item, quoted) for item in node.args), keywords)


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
