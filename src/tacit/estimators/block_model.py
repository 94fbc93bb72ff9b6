"""What estimators on disjoint blocks share: rows as the user has them, a rehearsal, one session, a release."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.contract.block_query import BLACK_BOX, BlackBox
from tacit.contract.plan import Plan, PublicFact
from tacit.contract.query import Gate
from tacit.contract.release import Release
from tacit.design.design import Column, Design, matrix_design
from tacit.design.expression import exact_column
from tacit.design.factor import Numeric
from tacit.design.response import Absent, Binary, Classes, Continuous, Response
from tacit.engine.black_box_rehearsal import rehearse
from tacit.engine.ledger_use import Refusals
from tacit.engine.table import Table
from tacit.errors import SettingError
from tacit.estimators.base import Model
from tacit.estimators.regressors import response_ends
from tacit.losses.loss import Loss
from tacit.validate import positive, whole

LARGEST_NORM = 1e15
"""Of a row whose columns have no declared bounds: a longer one is shrunk to it."""
STAND_INS = ("a label", "another label", "a third label")
HONEST = "a block's result and its time depend on the rows of that block alone"
"""Assumed of a black box: it reads its rows, and leaves nothing behind for another block."""
REHEARSED = 64
"""Invented rows that a black box is tried on, at most."""
Floats = NDArray[np.float64]


class BlockModel(Model):
    """An estimator whose answers are about disjoint blocks of the records.

    Guarantee
    ---------
    - Each unit is in one block, drawn in secret, whatever the order of the table is. Refusals go by public numbers
      alone: a block that turns out small, or whose function fails, gives a fixed answer, and is charged the same.
    """

    y_bounds: ArrayLike | None = None
    classes: Sequence[Any] | None = None
    progress: Any = None
    _reads_files: ClassVar[bool] = False

    def _is_classifier(self) -> bool:
        return True

    def _response(self, name: str, table: Table | None) -> Response:
        if not self._is_classifier():
            ends = -LARGEST_NORM, LARGEST_NORM
            lower, upper = ends if self.y_bounds is None else response_ends(self.y_bounds)
            # A power of two, so that responses are stored without rounding.
            scale = math.ldexp(1.0, math.frexp(max(abs(lower), abs(upper)))[1])
            return Continuous(name, lower, upper, 0.0, scale)
        labels: Sequence[Any] = STAND_INS if self.classes is None else self.classes
        if self.classes is None and table is not None:
            labels = table.classes(name)
        return Classes.of(name, labels) if len(labels) > 2 else Binary.of(name, labels)

    def _stand_ins(self) -> list[Response]:
        if not self._is_classifier() or self.classes is not None:
            return []
        return [Binary("y", (STAND_INS[0], STAND_INS[1])), Classes("y", STAND_INS)]

    def _loss(self, _response: Response) -> Loss:
        return BLACK_BOX

    def _facts(self, response: Response) -> list[PublicFact]:
        if response.classes:
            return [PublicFact("classes", list(response.classes), "assumed" if self.classes is None else "declared")]
        if self.y_bounds is None or not isinstance(response, Continuous):
            return []
        return [PublicFact("y_bounds", [response.lower, response.upper], "declared")]

    def _design(self, names: Sequence[str], response: Response, *, columns: Mapping[str, str], sparse: bool) -> Design:
        """Columns on the user's scale: clipped to declared bounds, or as they are."""
        del sparse
        if self.solver != "auto" or self.row_norm is not None or isinstance(self.bounds, str):
            raise SettingError(f"{type(self).__name__} takes declared bounds or none, and neither solver nor row_norm.")
        if self.bounds is None:
            made = tuple(Column(name, (Numeric(name),), -math.inf, math.inf, 0.0, 1.0) for name in names)
            norm = LARGEST_NORM
        else:
            plain = matrix_design(names, response, bounds=self.bounds, row_norm=None, intercept=True)
            made = tuple(exact_column(c.name, Numeric(c.name), c.lower, c.upper) for c in plain.columns)
            norm = plain.feature_norm
        return Design(made, response, norm, True, attached=self._declared().attached(columns, None))

    def _fitter(self, table: Table) -> Callable[..., Release]:
        return partial(self._run, table)

    def _run(
        self,
        table: Table,
        design: Design,
        plan_for: Callable[[int | None], Plan],
        *,
        refusals: Refusals,
        seed: int | None,
        warned: Sequence[str],
    ) -> Release:
        del warned
        first = plan_for(table.known_records(design))
        function = getattr(first.solver, "function", None)
        if isinstance(function, BlackBox):
            rehearse(function, *invented_rows(design, first.records // first.solver.blocks))  # type: ignore[attr-defined]
        with table.planned_session(design, plan_for, refusals=refusals, seed=seed, stacklevel=6) as session:
            session.release = self._released(session.gate, session.plan, seeded=seed is not None)
        return session.release

    def _released(self, gate: Gate, plan: Plan, *, seeded: bool) -> Release:
        """Ask, and return what is released."""
        return Release(plan, plan.solver.run(gate, plan).theta, seeded)

    def _black_box(self, program: Any, default: Floats, design: Design, groups: int = 0) -> BlackBox:
        """Pickle a program, with what takes stored rows to the user's."""
        seconds = positive("seconds", getattr(self, "seconds", 60.0))
        scales = (*(column.scale for column in design.columns), getattr(design.response, "scale", 1.0))
        centres = (*(column.center for column in design.columns), getattr(design.response, "center", 0.0))
        memory = math.ceil(positive("memory", getattr(self, "memory", 2.0)) * 2**30)
        code = pickled(program)
        return BlackBox(code, tuple(default.tolist()), scales, centres, seconds, 1, groups, memory)

    def _number_of_blocks(self, name: str) -> int | None:
        given = getattr(self, name)
        return None if given is None else whole(name, given, 2)


def pickled(program: Any) -> bytes:
    """The program's code and settings; with cloudpickle, if it is installed, also what a script or notebook defines."""
    library: Any = pickle
    with suppress(ImportError):
        library = import_module("cloudpickle")
    try:
        return bytes(library.dumps(program))
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise SettingError(f"The estimator cannot be sent to another process: {error}") from error


def invented_rows(design: Design, count: int) -> tuple[Floats, Floats]:
    """Rows of no record, within the bounds where these are declared, with every class among the responses."""
    count = max(2 * len(design.response.classes), min(count, REHEARSED), 2)
    # Waves of frequencies that no column shares with another: of full rank, and the same in every fit.
    draws = np.sin(np.outer(np.arange(1, count + 1), np.arange(1, len(design.columns) + 2) ** 1.5))
    X = draws[:, :-1]
    if design.columns and math.isfinite(design.columns[0].upper):
        lower, upper = (np.array([getattr(c, end) for c in design.columns]) for end in ("lower", "upper"))
        X = (lower + upper) / 2 + (upper - lower) / 2 * X
    if design.response.classes:
        return X, (np.arange(count) % len(design.response.classes)).astype(np.float64)
    return X, np.asarray(X[:, 0] + draws[:, -1])


def output_design(names: Sequence[str], lower: Sequence[float], upper: Sequence[float]) -> Design:
    """A design whose columns are the released numbers, each between its bounds."""
    ends = zip(names, lower, upper, strict=True)
    columns = tuple(Column(name, (), low, high, (low + high) / 2, (high - low) / 2) for name, low, high in ends)
    return Design(columns, Absent(), math.sqrt(max(len(columns), 1)), intercept=False)


def with_design(plan: Plan, design: Design) -> Plan:
    """The plan of a release whose columns are numbers of its own."""
    return replace(plan, design=design)
