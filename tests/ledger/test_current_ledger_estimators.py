"""Estimators take along where they belong: to threads, to workers and into files."""

import copy
import multiprocessing
import pickle
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sklearn.base import clone

from tacit.errors import LedgerError
from tacit.estimators.regressors import GaussianMean
from tacit.ledger import Ledger, active_ledger, current_ledger, uncharged
from tacit.ledger import with_blocks as blocks
from tacit.privacy.budget import Budget


def new(path: Path | None = None) -> Ledger:
    return Ledger(path, budget=Budget(epsilon=9, delta=1e-6))


def belongs(estimator: object) -> Ledger | None:
    with current_ledger.charged_for(estimator):
        return active_ledger()


def place(estimator: object) -> str:
    """Where a fit of the estimator is charged, in words."""
    try:
        ledger = belongs(estimator)
    except LedgerError as error:
        return f"refused: {error}"
    return "none" if ledger is None else str(ledger.path and ledger.path.name)


def place_of_words(words: bytes) -> str:
    return place(pickle.loads(words))


def in_thread(question: Callable[..., Any], *given: Any) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(question, *given).result()


def in_worker(question: Callable[..., Any], *given: Any) -> Any:
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return pool.apply(question, given)


def enter_and_leave(ledger: Ledger) -> None:
    with ledger:
        pass


# --- created within a block ---------------------------------------------------------------------


def test_an_estimator_created_in_a_block_belongs_to_it_in_any_thread() -> None:
    enter_and_leave(new())
    outside = GaussianMean(epsilon=1)
    with new() as ledger:
        inside = GaussianMean(epsilon=1)
        for estimator in (inside, clone(inside), clone(outside), copy.deepcopy(outside)):
            assert in_thread(belongs, estimator) is ledger
        assert in_thread(lambda: belongs(clone(inside))) is ledger
        assert belongs(outside) is ledger
        with pytest.raises(LedgerError, match="several ledgers"):
            in_thread(belongs, outside)


def test_it_is_refused_when_it_could_have_been_submitted_elsewhere() -> None:
    with new() as first:
        estimator = GaussianMean(epsilon=1)
        in_thread(enter_and_leave, new())
        # Another ledger was open meanwhile.
        with pytest.raises(LedgerError, match="several ledgers"):
            in_thread(belongs, estimator)
        assert belongs(estimator) is first
    for ledger in (first, new()):
        with ledger:
            assert belongs(estimator) is ledger
            with pytest.raises(LedgerError, match="several ledgers"):
                in_thread(belongs, estimator)
    assert belongs(estimator) is None


def test_what_is_created_uncharged_is_free_only_while_no_ledger_is_open() -> None:
    enter_and_leave(new())
    with uncharged("simulated records"):
        estimator = GaussianMean(epsilon=1)
        assert in_thread(belongs, estimator) is None
        with pytest.raises(LedgerError, match="has ended"):
            in_thread(active_ledger)
        in_thread(enter_and_leave, new())
        with pytest.raises(LedgerError, match="several ledgers"):
            in_thread(belongs, estimator)
    with pytest.raises(LedgerError, match="several ledgers"):
        in_thread(belongs, estimator)


# --- pickled ------------------------------------------------------------------------------------


def test_pickles_are_plain_where_no_ledger_was_ever_entered() -> None:
    estimator = GaussianMean(epsilon=1)
    assert current_ledger.MARK not in estimator.__getstate__()
    assert in_worker(place, estimator) == "none"
    with uncharged("simulated records"):
        for twin in (estimator, GaussianMean(epsilon=1)):
            assert current_ledger.MARK not in twin.__getstate__()
            assert in_worker(place, twin) == "none"


def test_a_copy_in_a_worker_charges_the_ledger_of_its_block(tmp_path: Path) -> None:
    estimator = GaussianMean(epsilon=1)
    words = {"never": pickle.dumps(estimator)}
    found = {}
    with multiprocessing.get_context("fork").Pool(1) as pool:

        def ask(key: str) -> None:
            words[key] = pickle.dumps(estimator)
            found[key] = pool.apply(place_of_words, (words[key],))

        for name in ("a.db", "b.db"):
            with new(tmp_path / name):
                ask(name)
            ask(f"after {name}")
            words["thread"] = in_thread(pickle.dumps, estimator)
        with uncharged("a trial"):
            ask("uncharged")
        with new(None):
            ask("memory")
        late = {origin: pool.apply(place_of_words, (text,)) for origin, text in words.items()}
    assert "in the memory of another process" in found.pop("memory")
    assert found == {"a.db": "a.db", "after a.db": "none", "b.db": "b.db", "after b.db": "none", "uncharged": "none"}
    # Those without a mark are refused as a new estimator would be.
    assert all("several ledgers" in late.pop(name) for name in ("never", "thread"))
    assert all("was pickled" in text for text in late.values())


def place_in_file(file: Path) -> str:
    return place_of_words(file.read_bytes())


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_file_made_elsewhere_does_not_say_where_a_fit_was_submitted(tmp_path: Path, method: str) -> None:
    estimator, file = GaussianMean(epsilon=1), tmp_path / "estimator.pickle"
    first, second = new(tmp_path / "a.db"), new(tmp_path / "b.db")
    with multiprocessing.get_context(method).Pool(1) as pool:
        enter_and_leave(first)
        file.write_bytes(pickle.dumps(estimator))
        with first:
            assert "was pickled" in pool.apply(place_in_file, (file,))
            file.write_bytes(pickle.dumps(estimator))
            assert pool.apply(place_in_file, (file,)) == "a.db"
        with second:
            assert "was pickled" in pool.apply(place_in_file, (file,))
        with uncharged("a trial"):
            file.write_bytes(pickle.dumps(estimator))
        with first:
            delayed = pool.apply_async(place_in_file, (file,))
        assert "was pickled" in delayed.get()


def clone_in_worker(words: bytes) -> tuple[str, bytes]:
    twin = clone(pickle.loads(words))
    return place(twin), pickle.dumps(twin)


def place_in_block(words: bytes, path: str) -> str:
    estimator = pickle.loads(words)
    with Ledger(path):
        return place(estimator)


def test_clones_in_workers_belong_where_the_original_does_and_come_back_without(tmp_path: Path) -> None:
    other = new(tmp_path / "b.db")
    enter_and_leave(other)
    with new(tmp_path / "a.db"):
        words = pickle.dumps(GaussianMean(epsilon=1))
        found, again = in_worker(clone_in_worker, words)
        assert found == "a.db"
        # The same in a further worker; in the process it came from, the place decides.
        assert in_worker(place_of_words, again) == "a.db"
    for text in (words, again):
        returned = pickle.loads(text)
        assert belongs(returned) is None
        with other:
            assert belongs(returned) is other
    # A block entered in the worker comes first.
    assert in_worker(place_in_block, words, str(other.path)) == "b.db"


def test_a_copy_from_a_program_started_in_a_block_is_not_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(blocks.VARIABLE, "of the program that started this one")
    estimator = GaussianMean(epsilon=1)
    with uncharged("a trial"):
        free = GaussianMean(epsilon=1)
        assert belongs(free) is None
    for twin in (estimator, free):
        assert "was started" in place(twin)
        assert "was started" in in_thread(place, twin)
        assert "was started" in in_worker(place, twin)
    with new(tmp_path / "a.db"):
        pool = multiprocessing.get_context("spawn").Pool(1)
        assert pool.apply(place, (GaussianMean(epsilon=1),)) == "a.db"
    with pool:
        # Started in the block of this program, it does not know of the one outside.
        for twin in (estimator, free):
            assert "refused" in pool.apply(place, (twin,))


def test_pickling_never_fails_and_leaves_the_refusal_to_the_fit() -> None:
    enter_and_leave(new())
    words = in_thread(pickle.dumps, GaussianMean(epsilon=1))
    assert "has ended" in in_worker(place_of_words, words)


STRANGER = """
import pickle, sys
sys.path[:0] = {path!r}
from tacit.errors import LedgerError
from tacit.estimators.regressors import GaussianMean
from tacit.ledger import Ledger, active_ledger, uncharged
from tacit.ledger import current_ledger
from tacit.ledger import with_blocks as blocks
found = []
def ask(estimator):
    try:
        with current_ledger.charged_for(estimator):
            ledger = active_ledger()
        found.append("none" if ledger is None else ledger.path.name)
    except LedgerError as error:
        found.append(str(error))
inside, outside = (pickle.loads(words) for words in {words!r})
ask(outside)
ask(inside)
with Ledger({ledger!r}):
    ask(inside)
with uncharged("a trial"):
    ask(inside)
print(found)
"""


def test_a_pickle_read_much_later_is_not_charged_unexpectedly(tmp_path: Path) -> None:
    estimator = GaussianMean(epsilon=1)
    with new(tmp_path / "a.db") as ledger:
        inside = pickle.dumps(estimator)
    program = STRANGER.format(path=sys.path, words=(inside, pickle.dumps(estimator)), ledger=str(ledger.path))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    none, refused, entered, opted_out = eval(done.stdout)
    assert (none, entered, opted_out) == ("none", "a.db", "none")
    assert "in another program" in refused


@pytest.mark.parametrize("words", ["1234:/clinic.db", "{}", "[]", '{"ledger": 3}', '{"ledger": "", "other": ""}', 7])
def test_marks_that_cannot_be_read_are_refused(words: object) -> None:
    estimator = GaussianMean(epsilon=1)
    estimator.__setstate__({**estimator.__getstate__(), current_ledger.MARK: words})
    for found in (place(estimator), in_worker(place, pickle.loads(pickle.dumps(estimator)))):
        assert "cannot be told" in found
    with new() as ledger:
        assert belongs(estimator) is ledger


def test_a_mark_is_text_of_public_facts(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    Ledger(path, budget=Budget(mu=1.0), dataset="clinic")
    with Ledger(path, dataset="clinic", analyst="Ada", project="first") as ledger:
        epoch, _, name = GaussianMean(epsilon=1).__getstate__()[current_ledger.MARK].partition(" ")
        assert epoch == blocks.epoch()
    assert name == ledger.handle()
