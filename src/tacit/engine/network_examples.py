"""Private examples of a network: a plan in, a release out. Needs torch (`tacit[neural]`)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.contract.network_query import Network
from tacit.contract.plan import Plan
from tacit.contract.query import Progress
from tacit.contract.release import Release
from tacit.engine.gate import PlannedGate
from tacit.engine.ledger_use import Charged, charge, require_price
from tacit.errors import LedgerError, PrivacyWarning, SettingError
from tacit.ledger.current_ledger import active_ledger
from tacit.ledger.repeated_fits import RefitWarning, refit_warning
from tacit.mechanisms.example_gradients import parameters_of
from tacit.mechanisms.network_gradient import load_vector
from tacit.mechanisms.network_rehearsal import rehearsed
from tacit.mechanisms.network_responder import NetworkResponder
from tacit.mechanisms.process_group import is_joined, records_of_all
from tacit.rows.storage.example_rows import ExampleRows


def rehearse(network: Network, shape: tuple[Any, ...], labels: tuple[Any, ...], chunk: int) -> Network:
    """Try a network on made-up inputs; refuse one that mixes examples. No record is read."""
    return rehearsed(network, shape, labels, chunk)


class NetworkExamples:
    """Admitted examples. Private: what it holds. `source` is what they were made of."""

    def __init__(
        self, inputs: NDArray[Any], labels: NDArray[Any], valid: NDArray[np.bool_], source: Any = None
    ) -> None:
        self._rows: ExampleRows | None = ExampleRows.admit(inputs, labels, valid)
        self._source = inputs if source is None else source
        self.records = self._rows.length

    def run(
        self,
        plan: Plan,
        *,
        seed: int | None,
        progress: Progress | None = None,
        warn: bool = True,
        together: bool = False,
    ) -> Release:
        """Run a plan over the examples, once.

        Guarantee: the solver sees answers of the reserved plan and nothing else. The release costs `plan.events()`.
        Within a ledger the charge is durable before the first answer is computed. With `together` the records are those
        of all processes of a group.
        """
        if self._rows is None:
            raise SettingError("These records were used; open the table again.")
        if not plan.private:
            raise SettingError("A network is trained with a finite budget here: without noise use torch alone.")
        charged = self._charged(plan, private=seed is None, warn=warn)
        rows, self._rows = self._rows, None
        with NetworkResponder(rows, seed=seed, together=together) as responder:
            found = plan.solver.run(PlannedGate(plan, responder, progress), plan)
        release = Release(plan, found.theta, seed is not None)
        if charged is not None:
            charged.settle(release)
        return release

    def _charged(self, plan: Plan, *, private: bool, warn: bool) -> Charged | None:
        require_price(plan, private=private)
        ledger = active_ledger()
        if ledger is not None and ledger.key is not None:
            raise LedgerError("a network is too large to be kept under a key. Nothing was spent. Fit without a key")
        for text in plan.cautions():
            warnings.warn(text, PrivacyWarning, stacklevel=5)
        charged = charge(plan, private=private)
        warning = refit_warning(self._source, charged=charged is not None) if private and warn else None
        if warning is not None:
            warnings.warn(warning, RefitWarning, stacklevel=5)
        return charged


def records_together(count: int) -> int:
    """Number of records of all processes of a group; refused where this process belongs to none."""
    if not is_joined():
        raise SettingError("DistributedDataParallel needs a process group of at least two processes.")
    return records_of_all(count)


def parameter_vector(module: Any) -> NDArray[np.float64]:
    """The trained parameters of a module as one vector."""
    values = parameters_of(module).values()
    parts = [value.detach().cpu().numpy().astype(np.float64).ravel() for value in values]
    return np.concatenate(parts) if parts else np.empty(0)


def load_parameters(module: Any, theta: NDArray[np.float64]) -> None:
    """Set the trained parameters of a module from their vector."""
    load_vector(module, theta)
