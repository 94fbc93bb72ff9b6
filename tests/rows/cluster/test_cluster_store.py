"""Sums of a cluster are those of one machine, to the bit, whatever is lost on the way."""

import copy
import pickle
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.errors import ClusterError, ClusterLost, DataError, PlanViolation, SettingError
from tacit.rows.cluster.cluster_store import ClusterStore
from tests.rows.cluster.clusters import (
    COLUMNS,
    FORMULA,
    SCHEMA,
    UNIT,
    coefficients,
    schema,
    table,
    where,
    workers,
    write,
)

CASES: list[tuple[str, dict[str, Any], bool, str | None, str]] = [
    ("auto", {}, False, None, "parquet"),
    ("auto", {}, True, None, "csv"),
    ("auto", {"inference": False}, False, "zero-out", "csv"),
    ("newton", {"solver": "newton"}, True, "zero-out", "parquet"),
    ("gradient", {"solver": "gradient"}, False, None, "csv"),
    ("whitened", {"solver": "whitened-gradient"}, True, None, "parquet"),
    ("stochastic", {"solver": "stochastic"}, False, None, "csv"),
    ("stochastic", {"solver": "stochastic"}, False, "add-remove", "parquet"),
    ("objective", {"solver": "objective-perturbation"}, False, None, "parquet"),
    ("output", {"solver": "output-perturbation"}, False, None, "csv"),
    ("poisson", {"family": "poisson", "formula": "k ~ x0 + x1"}, True, None, "csv"),
    ("multinomial", {"family": "multinomial", "formula": "c ~ x0 + x1"}, False, None, "parquet"),
    ("gaussian", {"family": "gaussian", "formula": "k ~ x0 + C(c)"}, True, "add-remove", "parquet"),
    ("huber", {"family": "huber", "formula": "k ~ x0 + x1"}, False, None, "csv"),
]


@pytest.mark.parametrize("place", range(len(CASES)), ids=[f"{k}-{case[0]}" for k, case in enumerate(CASES)])
def test_a_seeded_fit_has_the_bits_of_one_machine(cluster: Any, tmp_path: Path, place: int) -> None:
    _, settings, unit, relation, kind = CASES[place]
    rows = table(1500, place)
    cuts = sorted(np.random.default_rng(place).integers(0, 1500, 4).tolist())
    folder = write(tmp_path / "parts", rows, [*cuts, cuts[-1]], kind)
    private = {"n_at_least": 500} if relation == "add-remove" else {}
    given = {"formula": FORMULA, "epsilon": 2.0, "random_state": place, **settings}
    declared = schema(unit=unit, relation=relation, **private)
    local = tacit.glm(data=folder, schema=declared, **given)
    spread = tacit.glm(data=folder, schema=declared, cluster=where(cluster), **given)
    assert coefficients(local) == coefficients(spread)
    assert local.certificate.digest == spread.certificate.digest


@pytest.mark.parametrize("unit", [False, True])
def test_workers_read_files_as_they_are_declared(cluster: Any, tmp_path: Path, *, unit: bool) -> None:
    folder, rows = tmp_path / "parts", table(900)
    folder.mkdir()
    for part in range(3):
        own = rows.slice(300 * part, 300)
        lines = [";".join(own.column_names), "-99" + ";1,5" * 2 + ";1;7;2;0"]
        lines += [";".join(str(cell).replace(".", ",") for cell in row.values()) for row in own.to_pylist()]
        (folder / f"part{part}.csv").write_text("\n".join(lines) + "\n", encoding="cp1252")
    written = 'missing_codes = [-99]\n[file]\ndelimiter = ";"\ndecimal = ","\nencoding = "cp1252"\n'
    declared = tacit.Schema.parse(written + (UNIT if unit else "") + SCHEMA)
    given: dict[str, Any] = {"epsilon": 2.0, "random_state": 1, "invalid_rows": "zero", "statistics": ["deviance"]}
    local = tacit.glm(FORMULA, folder, declared, **given)
    spread = tacit.glm(FORMULA, folder, declared, cluster=where(cluster), **given)
    assert coefficients(local) == coefficients(spread)
    assert local.certificate.digest == spread.certificate.digest


@pytest.mark.parametrize("unit", [False, True])
def test_a_worker_lost_in_any_round_changes_nothing(tmp_path: Path, *, unit: bool) -> None:
    folder = write(tmp_path / "parts", table(1500), [300, 900], "parquet")
    given: dict[str, Any] = {"epsilon": 2.0, "random_state": 5, "schema": schema(unit=unit), "solver": "newton"}
    labels: list[str] = []
    local = tacit.glm(FORMULA, folder, progress=lambda done, total, label: labels.append(label), **given)
    for lost_at in (0, 3, len(labels) - 2):
        with workers(3) as cluster:
            calls = 0

            def lose(done: int, total: int, label: str, at: int = lost_at, where: Any = cluster) -> None:
                nonlocal calls
                if calls == at:
                    where.sync(where.workers[at % 3].close)
                calls += 1

            spread = tacit.glm(FORMULA, folder, cluster=where(cluster), progress=lose, **given)
        assert coefficients(local) == coefficients(spread)


def test_two_workers_may_be_lost_and_a_third_join(tmp_path: Path) -> None:
    folder = write(tmp_path / "parts", table(1200), [300, 900], "csv")
    given: dict[str, Any] = {"epsilon": 2.0, "random_state": 5, "schema": schema(), "solver": "newton"}
    local = tacit.glm(FORMULA, folder, **given)
    with workers(2) as cluster:
        calls = 0

        def lose(done: int, total: int, label: str) -> None:
            nonlocal calls
            calls += 1
            if calls == 2:
                cluster.scale(4)
                cluster.sync(cluster._correct_state)
                for worker in list(cluster.workers.values())[:2]:
                    cluster.sync(worker.close)

        spread = tacit.glm(FORMULA, folder, cluster=where(cluster), progress=lose, **given)
    assert coefficients(local) == coefficients(spread)


def test_a_lost_cluster_keeps_its_charge_and_goes_on_under_it(cluster: Any, tmp_path: Path) -> None:
    folder = write(tmp_path / "parts", table(1500), [300, 900], "parquet")
    ledger = tacit.Ledger(tmp_path / "ledger.db", budget=tacit.Budget(epsilon=3.0, delta=1e-6))
    with workers(2) as mortal:
        calls = 0

        def lose(done: int, total: int, label: str) -> None:
            nonlocal calls
            calls += 1
            if calls == 4:
                for worker in list(mortal.workers.values()):
                    mortal.sync(worker.close)

        with ledger, pytest.raises(ClusterLost, match="stays charged") as lost:
            tacit.glm(FORMULA, folder, schema(), epsilon=1.0, cluster=where(mortal, patience=0.5), progress=lose)
    assert len(ledger.charges()) == 1
    assert lost.value.run_again is not None
    fit = lost.value.run_again(where(cluster))
    assert fit.certificate.private
    assert len(ledger.charges()) == 1
    with pytest.raises(PlanViolation, match="paid for once"):
        lost.value.run_again(where(cluster))


def test_a_store_on_a_cluster_is_neither_pickled_nor_copied_nor_fetched() -> None:
    store = ClusterStore.__new__(ClusterStore)
    for leave in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(DataError, match="neither pickled nor copied"):
            leave(store)
    with pytest.raises(SettingError, match="never fetched"):
        store.block(0)


def test_every_partition_has_one_holder(cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write(tmp_path / "parts", table(900), [300, 300, 600], "parquet")
    seen: list[list[tuple[int, ...]]] = []
    total = ClusterStore.total

    def watched(self: ClusterStore, *given: Any) -> Any:
        seen.append([each.parts for each in self._assignments.values()])
        return total(self, *given)

    monkeypatch.setattr(ClusterStore, "total", watched)
    tacit.glm(FORMULA, folder, schema(), epsilon=1.0, random_state=1, cluster=where(cluster))
    for parts in seen:
        # Three full files and an empty one, which has one partition of no records.
        assert sorted(part for own in parts for part in own) == [0, 1, 2, 3]
        assert all(a < b for own in parts for a, b in pairwise(own))
    assert seen


def test_a_cluster_that_dies_before_the_charge_costs_nothing(tmp_path: Path) -> None:
    folder = write(tmp_path / "parts", table(900), [300], "parquet")
    ledger = tacit.Ledger(tmp_path / "ledger.db", budget=tacit.Budget(epsilon=3.0, delta=1e-6))
    with workers(1) as mortal:

        def lose(done: int, total: int, label: str) -> None:
            for worker in list(mortal.workers.values()):
                mortal.sync(worker.close)

        with ledger, pytest.raises(ClusterError):
            tacit.glm(FORMULA, folder, schema(), epsilon=1.0, cluster=where(mortal, patience=0.5), progress=lose)
    assert ledger.charges() == ()


@pytest.mark.parametrize("true", [True, False])
def test_that_units_stand_together_is_checked_and_not_believed(cluster: Any, tmp_path: Path, *, true: bool) -> None:
    rows = table(900)
    ordered = rows.take(np.argsort(rows["who"].to_numpy(), kind="stable"))
    who = ordered["who"].to_numpy()
    cuts = [int(np.searchsorted(who, 100)), int(np.searchsorted(who, 180))]
    folder = write(tmp_path / "parts", ordered if true else rows, cuts, "csv")
    given: dict[str, Any] = {"epsilon": 4.0, "random_state": 5, "schema": schema(unit=True)}
    local = tacit.glm(FORMULA, folder, **given)
    spread = tacit.glm(FORMULA, folder, cluster=where(cluster, units_together=True), **given)
    assert coefficients(local) == coefficients(spread)


def test_means_have_the_bits_of_one_machine(cluster: Any, tmp_path: Path) -> None:
    folder = write(tmp_path / "parts", table(900), [100], "parquet")
    declared = tacit.Schema.parse(COLUMNS)
    answers = []
    for at in (None, where(cluster)):
        with tacit.statistics(folder, declared, epsilon=1.0, queries=2, random_state=3, cluster=at) as gate:
            mean = gate.ask(tacit.Mean("x0"))
            answers.append((mean.value, gate.ask(tacit.Mean(f"(x1 - {mean.value}) ** 2")).value))
    assert answers[0] == answers[1]
