"""Statistical queries in the engine: certificate, ledger, warnings, progress, threads and processes."""

from __future__ import annotations

import multiprocessing
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit.errors import BudgetError, LedgerError, PlanViolation, PrivacyWarning, SettingError

SCHEMA = tacit.Schema.parse("""
[columns.x]
type = "numeric"
lower = 100
upper = 101
[columns.z]
type = "numeric"
lower = -2
upper = 6
""")
RNG = np.random.default_rng(8)
TABLE = pd.DataFrame({"x": 100 + RNG.beta(2, 5, 3001), "z": RNG.normal(1, 1, 3001)})


def test_a_seed_marks_the_certificate() -> None:
    with tacit.statistics(TABLE, SCHEMA, epsilon=1.0, random_state=1) as gate:
        gate.ask(tacit.Mean("x"))
    assert not gate.certificate.private


def test_a_certificate_is_there_after_the_block_also_of_a_program_that_failed() -> None:
    gate = tacit.statistics(TABLE, SCHEMA, epsilon=1.0, queries=2)
    with pytest.raises(SettingError, match="after the block"):
        _ = gate.certificate

    def program() -> None:
        with gate:
            gate.ask(tacit.Mean("x"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        program()
    document = gate.certificate.document
    # The whole plan was charged, however few of its queries were asked.
    assert [entry["times"] for entry in document["events"]] == [2]
    assert gate.certificate.check().statement.startswith("The events add up")
    assert gate.certificate.private


def test_the_ledger_is_charged_before_the_first_answer(tmp_path: Path) -> None:
    with tacit.Ledger(tmp_path / "ledger.db", budget=tacit.Budget(epsilon=1, delta=1e-6)) as ledger:
        with tacit.statistics(TABLE, SCHEMA, epsilon=0.5, delta=1e-6, queries=3) as gate:
            left = ledger.remaining()
            gate.ask(tacit.Mean("x"))
        assert ledger.remaining() == left
        with pytest.raises(BudgetError, match="Nothing was spent"):
            tacit.statistics(TABLE, SCHEMA, epsilon=0.9, delta=1e-6).__enter__()
        assert ledger.remaining() == left
    assert gate.certificate.private


def test_a_key_cannot_stand_for_queries_that_are_not_known_yet(tmp_path: Path) -> None:
    budget = tacit.Budget(epsilon=1, delta=1e-6)
    with tacit.Ledger(tmp_path / "ledger.db", budget=budget) as ledger, ledger.request("monday"):
        before = ledger.remaining()
        with pytest.raises(LedgerError, match="Nothing was spent"):
            tacit.statistics(TABLE, SCHEMA, epsilon=0.5, delta=1e-6).__enter__()
        assert ledger.remaining() == before


def test_invalid_rows_are_silent_inside_a_ledger(tmp_path: Path) -> None:
    frame = TABLE.copy()
    frame.loc[3, "z"] = np.nan
    with tacit.Ledger(tmp_path / "ledger.db", budget=tacit.Budget(epsilon=1, delta=1e-6)):
        with pytest.raises(SettingError, match="refused inside a ledger"):
            tacit.statistics(frame, SCHEMA, epsilon=0.5, delta=1e-6, invalid_rows="error").__enter__()
        with tacit.statistics(frame, SCHEMA, epsilon=0.5, delta=1e-6) as gate:
            assert np.isfinite(gate.ask(tacit.Mean("z")).value)


def test_a_large_epsilon_is_warned_of() -> None:
    with pytest.warns(PrivacyWarning, match="above 10"), tacit.statistics(TABLE, SCHEMA, epsilon=20.0):
        pass


def test_progress_is_told_of_public_steps() -> None:
    told: list[tuple[int, int, str]] = []
    gate = tacit.statistics(TABLE, SCHEMA, epsilon=1.0, queries=2, progress=lambda *it: told.append(it))
    with gate:
        gate.ask(tacit.Mean("x"))
    assert told == [(0, 1, "reading records"), (1, 1, "reading records"), (1, 2, "statistical query")]


def test_threads_share_the_plan() -> None:
    """Eight threads ask for what eight queries were planned for, each a hundred times."""
    answers: list[float] = []
    refused: list[str] = []

    def program(gate: Any) -> None:
        for _ in range(100):
            try:
                answers.append(gate.ask(tacit.Mean("x")).value)
            except PlanViolation as error:
                refused.append(str(error))

    with tacit.statistics(TABLE, SCHEMA, epsilon=1.0, queries=8) as gate:
        threads = [threading.Thread(target=program, args=(gate,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(answers) == len(set(answers)) == 8
    assert len(refused) == 792


def _ask_elsewhere(gate: Any, queue: Any) -> None:
    try:
        gate.ask(tacit.Mean("x"))
    except PlanViolation as error:
        queue.put(str(error))
    else:
        queue.put("answered")


def test_a_forked_process_does_not_spend_the_plan_a_second_time() -> None:
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        with tacit.statistics(TABLE, SCHEMA, epsilon=1.0) as gate:
            child = context.Process(target=_ask_elsewhere, args=(gate, queue))
            child.start()
            told = queue.get()
            child.join()
            gate.ask(tacit.Mean("x"))
    assert "process that opened it" in told
