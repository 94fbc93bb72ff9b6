"""Fits whose every answer is recorded, and fits on another table that get the answers of the first.

What a private fit lets out must be a function of public facts and of its noised answers. So a fit on another table with
the same public facts, given the same answers, must ask the same and let out the same, to the bit.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from types import FunctionType
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from tacit.contract.query import Answer, BatchGradientSum, NoisyMinimum, PerturbedMinimum, Query
from tacit.contract.sensitivity import AnyPrice, LaplacePrice
from tacit.engine.gate import PlannedGate
from tacit.mechanisms.grouped_responder import GroupedResponder
from tacit.mechanisms.query_responder import Responder

NO_SUM = (BatchGradientSum, NoisyMinimum, PerturbedMinimum)
"""Queries whose answers are no fixed sum with noise."""
ADDRESS = re.compile(r"0x[0-9a-f]+")
DEEPEST = 12


class Diverged(AssertionError):
    """A fit asked something else although it got the same answers."""


@dataclass(frozen=True)
class Asked:
    """A query as it was asked, its price, its answer, and the sum without noise where it is one."""

    query: Query
    price: AnyPrice
    answer: Answer
    exact: NDArray[np.float64] | None


@dataclass(frozen=True)
class Run:
    """One fit: what it asked its gate, all that it let out, what it warned of, and how often the gate was passed by."""

    asked: tuple[Asked, ...]
    left: Any
    warned: tuple[str, ...]
    beside: int


Fit = Callable[[Any], Any]
"""A fit of a table; it returns all that leaves it."""


def recorded(fit: Fit, table: Any) -> Run:
    """Fit a table, and keep all answers."""
    return _run(fit, table, None)


def answered_as(fit: Fit, table: Any, then: Run) -> Run:
    """Fit another table with the answers of an earlier fit; the sums without noise are those of this table."""
    return _run(fit, table, then)


def _run(fit: Fit, table: Any, then: Run | None) -> Run:
    """Fit with a gate that keeps all answers, or gives those of another fit."""
    asked: list[Asked] = []
    calls: list[AnyPrice] = []
    pass_on = PlannedGate.ask
    respond: dict[type, Any] = {kind: kind.answer for kind in (Responder, GroupedResponder)}

    def answer(self: Any, query: Query, price: AnyPrice) -> Answer:
        calls.append(price)
        found: Answer = respond[type(self)](self, query, price)
        return found

    def ask(self: PlannedGate, query: Query) -> Answer:
        responder = self._responder
        if then is None:
            found = pass_on(self, query)
            price = calls[-1]
        else:
            if len(asked) == len(then.asked):
                raise Diverged("more is asked of one table than of the other")
            before = then.asked[len(asked)]
            found, price = before.answer, before.price
            if plainly(query) != plainly(before.query):
                raise Diverged("given the same answers, another query is asked of the other table")
            calls.append(price)
        asked.append(Asked(query, price, found, exact_sum(respond[type(responder)], responder, query, price)))
        return found

    with (
        patch.object(Responder, "answer", answer),
        patch.object(GroupedResponder, "answer", answer),
        patch.object(PlannedGate, "ask", ask),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        left = plainly(fit(table))
    # That data were fitted before depends on what was fitted before, and on no record.
    said = (str(note.message) for note in caught)
    warned = tuple(text for text in said if not text.startswith("The same data were fitted"))
    return Run(tuple(asked), left, warned, len(calls) - len(asked))


def realised(first: Run, second: Run) -> tuple[float, float]:
    """What answers showed of the difference of two tables, as μ², and as ε where the noise is Laplace's."""
    square = epsilon = 0.0
    for one, other in zip(first.asked, second.asked, strict=True):
        if one.exact is None or other.exact is None:
            continue
        moved = (other.exact - one.exact).ravel() / one.answer.noise_scale
        if isinstance(one.price, LaplacePrice):
            epsilon += float(np.sum(np.abs(moved))) * np.sqrt(2.0)
        else:
            square += float(moved @ moved)
    return square, epsilon


def exact_sum(respond: Any, responder: Any, query: Query, price: AnyPrice) -> NDArray[np.float64] | None:
    """The sum that an answer would be without noise."""
    if isinstance(query, NO_SUM):
        return None
    entropy, responder._entropy = responder._entropy, None
    try:
        return np.array(respond(responder, query, price).value)
    finally:
        responder._entropy = entropy


def plainly(value: Any, depth: int = 0) -> Any:
    """A value as nested tuples that can be compared to the bit; whatever it is made of."""
    if depth > DEEPEST:
        return type(value).__name__
    below = depth + 1
    if isinstance(value, np.ndarray):
        found: Any = (value.shape, value.dtype.str, value.tolist() if value.dtype == object else value.tobytes())
    elif isinstance(value, float):
        found = "nan" if math.isnan(value) else value.hex()
    elif isinstance(value, str | int | bytes | type(None) | type):
        found = value if not isinstance(value, str) else ADDRESS.sub("", value)
    elif is_dataclass(value):
        # An estimator is one, and its fitted attributes are no fields.
        state = {it.name: getattr(value, it.name) for it in fields(value)} | getattr(value, "__dict__", {})
        found = type(value).__name__, *((name, plainly(each, below)) for name, each in state.items())
    elif isinstance(value, Mapping):
        found = tuple(sorted((str(name), repr(plainly(each, below))) for name, each in value.items()))
    elif isinstance(value, list | tuple | set | frozenset):
        found = type(value).__name__, *(plainly(each, below) for each in value)
    elif isinstance(value, FunctionType):
        found = value.__qualname__
    else:
        state = {name: each for name, each in getattr(value, "__dict__", {}).items() if not name.startswith("__")}
        found = type(value).__name__, ADDRESS.sub("", repr(value)), plainly(state, below)
    return found


@contextmanager
def quiet() -> Iterator[None]:
    """Say nothing of small tables, large budgets and repeated fits."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
