"""Grouped integer rows of private records: a plan in, a release out. Also the margins of new, public rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.contract.channel_map import ChannelMap
from tacit.contract.plan import Plan
from tacit.contract.query import Answer, Gate, Progress, Query, QueryKind
from tacit.contract.release import Release
from tacit.engine.gate import OpenGate, PlannedGate
from tacit.engine.ledger_use import charge, require_price
from tacit.errors import LedgerError, PrivacyWarning, SettingError
from tacit.ledger.current_ledger import active_ledger
from tacit.ledger.repeated_fits import RefitWarning, refit_warning
from tacit.mechanisms.grouped_responder import GroupedResponder
from tacit.rows.storage.grouped_rows import ROW_NORM, GroupedRows, Groups, map_rows

if TYPE_CHECKING:
    from tacit.mechanisms.mapped_network_responder import MappedNetworkResponder

Watch = Callable[[int, Query], None]
"""Sees how many queries were answered before, and the next one: both are public."""


class WatchedGate:
    """Shows every query, which is public, to a watcher before it is answered."""

    def __init__(self, gate: Gate, watch: Watch) -> None:
        self._gate, self._watch, self._asked = gate, watch, 0

    def ask(self, query: Query) -> Answer:
        """Show the query, and ask it."""
        self._watch(self._asked, query)
        self._asked += 1
        return self._gate.ask(query)


class GroupedTable:
    """Admitted rows and labels of private records. Private: what it holds. `source` is what they were made of."""

    def __init__(self, groups: Groups, labels: NDArray[Any], classes: int, source: Any = None) -> None:
        self._rows: GroupedRows | None = GroupedRows.admit(groups, labels, classes)
        self._source = groups[0] if source is None else source
        self.records = self._rows.length

    def run(
        self, plan: Plan, *, seed: int | None, progress: Progress | None = None, watch: Watch | None = None
    ) -> Release:
        """Run a plan over the rows, once.

        Guarantee: the solver sees answers of the reserved plan and nothing else. The release costs `plan.events()`.
        Within a ledger the charge is durable before the first answer is computed. Public facts that refuse the plan
        do so before that.
        """
        if self._rows is None:
            raise SettingError("These records were used; open the table again.")
        private = plan.private and seed is None
        require_price(plan, private=private)
        ledger = active_ledger()
        if ledger is not None and ledger.key is not None:
            raise LedgerError(
                "a fit to images is too large to be kept under a key. Nothing was spent. Fit without a key"
            )
        for text in plan.cautions():
            warnings.warn(text, PrivacyWarning, stacklevel=4)
        charged = charge(plan, private=private)
        warning = refit_warning(self._source, charged=charged is not None) if private else None
        if warning is not None:
            warnings.warn(warning, RefitWarning, stacklevel=4)
        rows, self._rows = self._rows, None
        with _responder(plan, rows, seed) as responder:
            gate: Gate = (PlannedGate if plan.private else OpenGate)(plan, responder, progress)
            found = plan.solver.run(gate if watch is None else WatchedGate(gate, watch), plan)
        release = Release(plan, found.theta, seed is not None, channel_map=found.channel_map)
        if charged is not None:
            charged.settle(release)
        return release


def _responder(plan: Plan, rows: GroupedRows, seed: int | None) -> GroupedResponder | MappedNetworkResponder:
    """What answers the queries of a plan: torch is imported for networks alone."""
    if all(step.kind is not QueryKind.NETWORK_GRADIENT for step in plan.steps):
        return GroupedResponder(rows, private=plan.private, seed=seed)
    if not plan.private:
        raise SettingError("A network is trained with a finite budget here: without noise use torch alone.")
    from tacit.mechanisms.mapped_network_responder import MappedNetworkResponder

    return MappedNetworkResponder(rows, seed=seed)


def mapped_margins(groups: Groups, channel_map: ChannelMap, theta: NDArray[np.float64]) -> NDArray[np.float64]:
    """Linear predictors (record, class) of new rows, which are the caller's own."""
    return MappedPredictor(groups, channel_map).margins(theta)


def mapped_inputs(groups: Groups, channel_map: ChannelMap) -> NDArray[np.float32]:
    """Inputs of a network, made of new rows, which are the caller's own."""
    return np.asarray(map_rows(groups, channel_map) / np.float32(ROW_NORM))


class MappedPredictor:
    """New rows, mapped once, for the margins at many coefficients."""

    def __init__(self, groups: Groups, channel_map: ChannelMap) -> None:
        self._rows = map_rows(groups, channel_map)

    def margins(self, theta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Linear predictors (record, class)."""
        return np.asarray(self._rows @ theta.astype(np.float32) / ROW_NORM, dtype=np.float64)
