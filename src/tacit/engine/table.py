"""An opened table of private records: public questions in, releases out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from tacit.contract.cluster import Cluster
from tacit.contract.plan import Plan
from tacit.contract.query import Gate, Progress
from tacit.contract.release import Release
from tacit.design.design import Design
from tacit.design.reading import Reading
from tacit.engine.gate import OpenGate, PlannedGate
from tacit.engine.interruptible_run import InterruptibleRun, completed
from tacit.engine.ledger_use import Charged, Refusals, charge, require_declared, require_no_key, require_price
from tacit.errors import ClusterLost, PrivacyWarning, SettingError
from tacit.ledger.repeated_fits import RefitWarning, file_names, refit_warning
from tacit.mechanisms.query_responder import Responder, exchange_key, subsample_draw
from tacit.rows.admission.admit_rows import admit
from tacit.rows.encoding.cells import require_no_text
from tacit.rows.encoding.encode_rows import RecordEncoder
from tacit.rows.encoding.outcome import read_classes
from tacit.rows.sources.dask_frame import is_dask_frame
from tacit.rows.sources.opening import open_source
from tacit.rows.sources.source import FOOTER, attached_names, column_types
from tacit.rows.storage.store import Store
from tacit.solvers.choice import plan_warnings


@dataclass
class Session:
    """A gate to admitted records, the plan it follows, and at last what was released through it."""

    gate: Gate
    plan: Plan
    release: Release | None = None


class Table:
    """Opened records: their names and number, and the way to a run. Private: what it holds.

    `response` are labels, or the name of a column; None where the design names it. `attached` are weights, exposures
    and units by the caller's name for them. Fewer than `fewest` records, or units where records are `grouped` by them,
    are refused; it is 0 where n is private. `reading` is what is declared of how the table is written. On a `cluster`
    workers read and keep the records of files.
    """

    def __init__(
        self,
        data: Any,
        response: Any = None,
        progress: Progress | None = None,
        *,
        attached: Mapping[str, Any] | None = None,
        fewest: int = 2,
        grouped: bool = False,
        reading: Reading | None = None,
        cluster: Any = None,
    ) -> None:
        self._data, self._fewest, self._progress = data, fewest, progress
        self._cluster = Cluster.of(cluster)
        self._fewest_records = 0 if grouped else fewest
        self._source = open_source(
            data, response, attached=attached, fewest=fewest, counted=not grouped, reading=reading
        )
        self.names: tuple[str, ...] = self._source.names
        self.response: str | None = self._source.response
        self.attached: Mapping[str, str] = attached_names(self._source)
        self.column_types: Mapping[str, str] = column_types(self._source)
        self.reading = reading or Reading()
        self._store: Store | None = None

    @property
    def records(self) -> int:
        """Number of admitted records: public where the relation says so, and private elsewhere."""
        return self._admitted().length

    def _admitted(self) -> Store:
        if self._store is None:
            raise SettingError("No records have been admitted yet.")
        return self._store

    def known_records(self, design: Design) -> int | None:
        """Number of records or units, if known before one is read; private like `records`."""
        return self._source.length if design.attached.unit is None else None

    def classes(self, column: str) -> list[Any]:
        """Labels found in the response, which are not protected; refused inside a ledger."""
        require_declared("the classes of the response", "classes=[…]")
        return read_classes(self._source, column, fewest=self._fewest_records)

    def fit(
        self,
        design: Design,
        plan_for: Callable[[int | None], Plan],
        *,
        refusals: Refusals,
        seed: int | None,
        warned: Sequence[str] = (),
        on_plan: Callable[[Plan], None] | None = None,
    ) -> Release:
        """Plan, admit the records, warn (also of what is in `warned`), and run the plan.

        `plan_for` makes the plan for a number of records, None where they are not counted yet.

        Guarantee: what public facts can refuse is refused before the first record is read. Warnings are of public facts
        alone, and come before anything is spent.
        """
        plan = self.admit_by(design, plan_for, refusals=refusals, seed=seed)
        cautions, warned = plan.cautions(), [*warned, *plan_warnings(plan)]
        if plan.design.width > plan.records:
            many = "many fit equally well, and this is one of them. Use fewer columns, or l2=…"
            warned.append(f"There are more coefficients ({plan.design.width}) than records: {many}")
        for text in warned:
            warnings.warn(text, UserWarning, stacklevel=4)
        for text in cautions:
            warnings.warn(text, PrivacyWarning, stacklevel=4)
        if on_plan is not None:
            on_plan(plan)
        return self.run(plan, seed=seed)

    def admit_by(
        self,
        design: Design,
        plan_for: Callable[[int | None], Plan],
        *,
        refusals: Refusals,
        seed: int | None,
        exact: bool | None = None,
    ) -> Plan:
        """Plan, admit the records, and plan again where only reading them could tell their number.

        `exact` says whether rows are kept in float64 and none are sampled; None: where there is no noise.
        """
        plan = plan_for(known := self.known_records(design))
        require_price(plan, private=plan.private and seed is None)
        if self._cluster is not None:
            # Loaded where it is used: probing workers needs kernels that other fits do not.
            from tacit.engine.cluster_use import require_supported

            require_supported(plan, self._source)
        with refusals.logged():
            whole, invalid = not plan.private if exact is None else exact, refusals.invalid_rows
            self.admit(design, invalid_rows=invalid, exact=whole, seed=seed, subsampled=not plan.draws_batches)
        return plan_for(self.records) if known is None else plan

    def admit(
        self, design: Design, *, invalid_rows: str | None, exact: bool, seed: int | None = None, subsampled: bool = True
    ) -> None:
        """Read and prepare the records by the design. Nothing is spent if they are refused.

        Without a subsample records stay in the order of the table, by which batches are drawn.

        Guarantee: inside a ledger that its curator did not open for it, none is refused for its content.
        """
        self.close()
        settled, dtype = (
            Refusals.settle(invalid_rows, beside=[self._data]).invalid_rows,
            np.float64 if exact else np.float32,
        )
        if settled == "error" or self._source.typed_by == FOOTER:
            # Elsewhere one word of one record may have made the type: such a column is read cell by cell.
            require_no_text(self._source.text_among(RecordEncoder.of(design, strict=False).numbers))
        if self._cluster is not None:
            from tacit.engine.cluster_use import public_probe
            from tacit.rows.cluster.admission import admit_on_cluster

            self._store = admit_on_cluster(
                self._source,
                design,
                self._cluster,
                public_probe(),
                exchange_key(seed),
                invalid_rows=settled,
                dtype=dtype,
                progress=self._progress,
                fewest=self._fewest,
            )
            return
        self._store = admit(
            self._source,
            design,
            invalid_rows=settled,
            dtype=dtype,
            progress=self._progress,
            fewest=self._fewest,
            draw=subsample_draw(seed) if subsampled and not exact else None,
        )

    def run(self, plan: Plan, *, seed: int | None) -> Release:
        """Run a plan over the admitted records.

        Guarantee: the solver sees answers of the reserved plan and nothing else. The release costs `plan.events()`,
        whatever the records are. Within a ledger, the charge is durable before the first answer is computed. The same
        request under the same key of a ledger is answered from it, at no charge.
        """
        store = self._admitted()
        # Before anything is charged: a wide sparse table cannot be mapped.
        if plan.solver.maps_rows:
            store.require_mappable()
        charged = charge(plan, private=plan.private and seed is None, data=self._data)
        stored = None if charged is None else charged.stored_release(plan)
        if stored is not None:
            self.close()
            return stored
        self.warn_of_refits(private=plan.private and seed is None, charged=charged is not None)
        # A table is run once: a second run is refused before it is charged.
        self._store = None
        run = InterruptibleRun(store, plan, seed, self._progress)
        try:
            release = run.release()
        except ClusterLost as lost:
            raise lost.returning(partial(_settled, charged)) from None
        if charged is not None:
            charged.settle(release)
        return release

    @contextmanager
    def session(self, plan: Plan, *, seed: int | None) -> Iterator[Session]:
        """Open a plan over the admitted records, for queries that a program asks one after the other.

        Guarantee: as for `run`. The whole plan is charged before the first answer, however few are asked for. With a
        ledger's key it is refused: what a program will ask cannot be told before.
        """
        store = self._admitted()
        require_no_key()
        charged = charge(plan, private=plan.private and seed is None, data=self._data)
        self.warn_of_refits(private=plan.private and seed is None, charged=charged is not None)
        self._store = None
        with self._opened(store, plan, seed) as (gate, found_plan):
            session = Session(gate, found_plan)
            try:
                yield session
            except ClusterLost as lost:
                stays = "What was charged stays charged. Answers that were given stay good, others are not to be had."
                raise ClusterLost(f"{lost} {stays}") from None
            finally:
                if charged is not None and session.release is not None:
                    charged.settle(session.release)

    @contextmanager
    def planned_session(
        self,
        design: Design,
        plan_for: Callable[[int | None], Plan],
        *,
        refusals: Refusals,
        seed: int | None,
        stacklevel: int = 4,
    ) -> Iterator[Session]:
        """Plan, admit the records in float64, warn, and open the plan: for what asks queries and has no solver.

        Guarantee: as for `fit`, what public facts can refuse is refused before the first record is read; then as for
        `session`.
        """
        plan = self.admit_by(design, plan_for, refusals=refusals, seed=seed, exact=True)
        for text in plan.cautions():
            warnings.warn(text, PrivacyWarning, stacklevel=stacklevel)
        with self.session(plan, seed=seed) as session:
            yield session

    def taken(self) -> Store:
        """Hand the admitted records over, once; whoever takes them closes them."""
        store, self._store = self._admitted(), None
        return store

    def warn_of_refits(self, *, private: bool, charged: bool) -> None:
        """Warn where the same data were asked before, outside of a ledger."""
        warning = refit_warning(self._data, charged=charged) if private else None
        if warning is not None:
            warnings.warn(warning, RefitWarning, stacklevel=6)

    @contextmanager
    def _opened(self, store: Store, plan: Plan, seed: int | None) -> Iterator[tuple[Gate, Plan]]:
        """Yield a gate to the records, and the plan with what had to be found first."""
        with Responder(store, private=plan.private, seed=seed, progress=self._progress) as responder:
            gate: Gate
            if plan.private:
                gate = PlannedGate(plan, responder, self._progress)
            else:
                # The lattice must hold all records, however few of them were declared.
                actual = replace(plan, records=max(plan.records, store.length))
                gate = OpenGate(actual, responder, self._progress)
            yield gate, completed(plan, gate, responder.prepare_with)

    def close(self) -> None:
        """Forget the records."""
        if self._store is not None:
            self._store.close()
            self._store = None

    def __enter__(self) -> Table:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()


def is_stored(data: Any, response: Any) -> bool:
    """Whether data names files, or is a Dask dataframe with its response: what stands beside records is its own."""
    files = bool(file_names(data)) or type(data).__module__.startswith("pyarrow._dataset")
    return files or (is_dask_frame(data) and isinstance(response, str))


def _settled(charged: Charged | None, release: Release) -> Release:
    if charged is not None:
        charged.settle(release)
    return release
