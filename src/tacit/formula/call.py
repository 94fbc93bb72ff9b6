"""Calls in a formula, such as ``bs(x, knots=[10, 20])``, read as text: nothing is evaluated."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from tacit.formula.spelling import parsed

Number = int | float


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


@dataclass(frozen=True)
class Text:
    """A text in quotes."""

    value: str


Value = str | Text | Raised | Call | None | bool | Number | tuple[Number, ...]
"""A bare text is the name of a column, and None is anything else."""


def read_call(spelling: str) -> Value:
    """What a piece of a formula says, or None where it says something else."""
    try:
        tree, quoted = parsed(spelling)
        return _value(tree, quoted)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _value(node: ast.expr, quoted: Mapping[str, str]) -> Value:
    match node:
        case ast.Constant(value=bool() | int() | float() | str() as constant):
            return Text(constant) if isinstance(constant, str) else constant
        case ast.UnaryOp(op=ast.USub()):
            return -_number(node.operand, quoted)
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Call(func=ast.Name(id="c"), args=items, keywords=[]):
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
