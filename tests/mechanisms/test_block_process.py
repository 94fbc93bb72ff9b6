"""Black boxes that fail in every way: the default answer, and no other block notices.

One server for all: what the program does is written in the first cell of its block.
"""

import os
import pickle
import signal
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from tacit.contract.block_query import BlackBox
from tacit.errors import SettingError
from tacit.mechanisms.block_process import BlockProcesses, address_space

FINE, RAISES, EXITS, NAN, SHORT, WORDS, PRINTS, SPINS, SLEEPS, KILLS, REMEMBERS, SLOW, GREEDY = range(13)
DEFAULT = (-1.0, -2.0)


def behave(X: Any, y: Any) -> Any:
    kind = int(X[0, 0])
    if kind == RAISES:
        raise ValueError(f"a secret: {y[0]}")
    if kind == EXITS:
        os._exit(3)
    if kind == PRINTS:
        sys.stdout.write("a secret")
        sys.stdout.flush()
        sys.stderr.write("another")
        os.write(1, b"and a third")
    if kind == SPINS:
        while True:
            pass
    if kind in {SLEEPS, SLOW}:
        time.sleep(3600 if kind == SLEEPS else 0.6)
    if kind == GREEDY:
        # Three gigabytes, of which hardly any is touched.
        np.empty(3 << 27)
    if kind == KILLS:
        os.kill(os.getppid(), signal.SIGKILL)
    if kind == REMEMBERS:
        seen = vars(sys).setdefault("seen_by_blocks", [])
        seen.append(kind)
        return [len(seen), len(X)]
    return {NAN: [np.nan, 1.0], SHORT: [1.0], WORDS: "no numbers"}.get(kind, [X.sum(), y.sum()])


def block(kind: int) -> tuple[np.ndarray, np.ndarray]:
    X = np.zeros((4, 2))
    X[0, 0] = kind
    return X, np.arange(4.0)


@pytest.fixture(scope="module")
def processes() -> Iterator[BlockProcesses]:
    cloudpickle = import_module("cloudpickle")
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    function = BlackBox(cloudpickle.dumps(behave), DEFAULT, (), (), seconds=0.2)
    with BlockProcesses(function) as opened:
        yield opened


def test_numbers_come_back(processes: BlockProcesses) -> None:
    assert processes.answer(*block(FINE)).tolist() == [0.0, 6.0]


@pytest.mark.parametrize("kind", [RAISES, EXITS, NAN, SHORT, WORDS, GREEDY])
def test_failures_give_the_default(processes: BlockProcesses, kind: int) -> None:
    assert tuple(processes.answer(*block(kind))) == DEFAULT


def test_t41_what_a_block_prints_is_discarded(processes: BlockProcesses, capfd: pytest.CaptureFixture[str]) -> None:
    assert processes.answer(*block(PRINTS)).tolist() == [float(PRINTS), 6.0]
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("kind", [SPINS, SLEEPS])
def test_hangs_give_the_default(processes: BlockProcesses, kind: int) -> None:
    start = time.perf_counter()
    assert tuple(processes.answer(*block(kind))) == DEFAULT
    assert time.perf_counter() - start < 15


def test_every_block_has_a_fresh_process(processes: BlockProcesses) -> None:
    assert [processes.answer(*block(REMEMBERS)).tolist() for _ in range(3)] == [[1.0, 4.0]] * 3


def test_a_server_that_died_is_started_again(processes: BlockProcesses) -> None:
    processes.answer(*block(KILLS))
    assert processes.answer(*block(FINE)).tolist() == [0.0, 6.0]


def test_blocks_that_run_while_the_server_dies_are_run_again(processes: BlockProcesses) -> None:
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(processes.answer, *block(SLOW))
        time.sleep(0.2)
        processes.answer(*block(KILLS))
        assert processes.answer(*block(FINE)).tolist() == [0.0, 6.0]
        assert slow.result().tolist() == [float(SLOW), 6.0]


def test_a_server_that_cannot_be_started_again_gives_the_default(
    processes: BlockProcesses, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: BlockProcesses) -> None:
        raise SettingError("no server")

    processes.answer(*block(KILLS))
    with monkeypatch.context() as patch:
        patch.setattr(BlockProcesses, "_start", refuse)
        assert processes.answer(*block(FINE)).tolist() == list(DEFAULT)
    assert processes.answer(*block(FINE)).tolist() == [0.0, 6.0]


def test_memory_is_limited_for_each_block_alone(processes: BlockProcesses) -> None:
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda kind: processes.answer(*block(kind)).tolist(), [GREEDY, FINE, GREEDY, FINE]))
    assert found == [list(DEFAULT), [0.0, 6.0]] * 2
    assert (address_space() or 0) > 0


def test_rows_beyond_the_memory_give_the_default() -> None:
    function = BlackBox(pickle.dumps(len), (7.0,), (), (), memory=1 << 20)
    with BlockProcesses(function) as small:
        assert small.answer(np.zeros((1 << 18, 2)), np.zeros(1 << 18)).tolist() == [7.0]


def test_a_program_that_cannot_be_loaded_is_refused() -> None:
    with pytest.raises(SettingError, match="cannot be loaded"), BlockProcesses(BlackBox(b"no pickle", (0.0,), (), ())):
        pass


def test_a_system_without_fork_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "fork")
    with pytest.raises(SettingError, match="fork"):
        BlockProcesses(BlackBox(pickle.dumps(len), (0.0,), (), ()))
