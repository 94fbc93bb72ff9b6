"""A ledger of version 0.1 goes on in a new file, with the chain and the budget it had."""

import shutil
from pathlib import Path

import pytest

from tacit.errors import BudgetError, FileError, LedgerError
from tacit.ledger.ledger import Ledger
from tacit.ledger.storage import read_entries
from tacit.privacy.event import Gaussian

OLD = Path(__file__).parents[1] / "fixtures" / "ledger-0.1.db"


def test_every_entry_keeps_its_hash_and_the_chain_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "new.ledger"
    ledger, old = Ledger.upgrade(OLD, path), Ledger(OLD)
    assert (ledger.terms, ledger.charges()) == (old.terms, old.charges())
    assert ledger.verify() == old.verify()
    assert ledger.remaining() == old.remaining()
    ledger.reserve([Gaussian(1, 50)], relation="replace-one", unit="patient", label="next")
    with pytest.raises(BudgetError):
        ledger.reserve([Gaussian(1, 1)], relation="replace-one", unit="patient")
    with ledger._storage.session(alone=False) as session:
        entries = session.entries()
    assert entries[:-1] == read_entries(OLD)
    assert Ledger(path).verify().charges == 4


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(FileError, match="exists"):
        Ledger.upgrade(OLD, path)
    assert path.read_text(encoding="utf-8") == "mine"
    copy = Path(shutil.copy(OLD, tmp_path / "old.db"))
    with pytest.raises(FileError, match="exists"):
        Ledger.upgrade(copy, copy)
    assert copy.read_bytes() == OLD.read_bytes()


def test_only_old_and_whole_ledgers_are_upgraded(tmp_path: Path) -> None:
    new = Ledger.upgrade(OLD, tmp_path / "new.ledger")
    assert new.path is not None
    with pytest.raises(LedgerError, match="nothing to upgrade"):
        Ledger.upgrade(new.path, tmp_path / "copy.ledger")
    with pytest.raises(FileError, match="no such file"):
        Ledger.upgrade(tmp_path / "none", tmp_path / "copy.ledger")
    damaged = bytearray(OLD.read_bytes())
    damaged[-100] ^= 1
    (tmp_path / "damaged.db").write_bytes(damaged)
    with pytest.raises(LedgerError):
        Ledger.upgrade(tmp_path / "damaged.db", tmp_path / "copy.ledger")
    assert not (tmp_path / "copy.ledger").exists()


def test_a_file_of_two_names_is_not_upgraded(tmp_path: Path) -> None:
    (tmp_path / "old.db").write_bytes(OLD.read_bytes())
    (tmp_path / "link.db").hardlink_to(tmp_path / "old.db")
    with pytest.raises(LedgerError, match="second name"):
        Ledger.upgrade(tmp_path / "link.db", tmp_path / "new.ledger")
    assert not (tmp_path / "new.ledger").exists()
