"""Stored machine code goes by every source that it was made from, not the kernel's alone."""

import importlib.util
import pickle
import re
import sys
from pathlib import Path
from types import ModuleType

import numba
import pytest

from tacit import kernel_compilation
from tacit.kernel_compilation import PACKAGES, compiled, digest_of, sources_digest

SOURCE = Path(kernel_compilation.__file__).parent
CALLER = """
from tacit.kernel_compilation import compiled
from inner import inner

@compiled
def outer(x):
    return inner(x)
"""
CALLED = "import numba\n@numba.njit\ndef inner(x):\n    return x + {}\n"


def package(root: Path) -> Path:
    for room in PACKAGES:
        (root / room).mkdir(parents=True)
        (root / room / "module.py").write_text("one = 1\n", encoding="utf-8")
    return root


def load(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("room", PACKAGES)
def test_the_digest_follows_every_room(tmp_path: Path, room: str) -> None:
    before = digest_of(package(tmp_path))
    (tmp_path / room / "module.py").write_text("one = 2\n", encoding="utf-8")
    assert digest_of(tmp_path) != before


def test_the_digest_follows_names_and_new_files(tmp_path: Path) -> None:
    before = digest_of(package(tmp_path))
    (tmp_path / "rows" / "deep").mkdir()
    (tmp_path / "rows" / "deep" / "more.py").write_text("", encoding="utf-8")
    assert digest_of(tmp_path) != before


def test_the_digest_is_that_of_the_package() -> None:
    assert sources_digest() == digest_of(SOURCE)


def test_an_edited_imported_module_is_compiled_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "outer.py").write_text(CALLER, encoding="utf-8")

    def answer(added: int, digest: str) -> int:
        # In a new process the sources would be read anew; here the digest is told.
        monkeypatch.setattr(kernel_compilation, "sources_digest", lambda: digest)
        (tmp_path / "inner.py").write_text(CALLED.format(added), encoding="utf-8")
        load("inner", tmp_path, monkeypatch)
        return int(load("outer", tmp_path, monkeypatch).outer(1))

    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr("numba.config.CACHE_DIR", "")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert answer(1, "before") == 2
    assert list(tmp_path.rglob("*.nbc"))
    # numba alone would not notice: with an old digest the old machine code answers.
    assert answer(2, "before") == 2
    assert answer(2, "after") == 3
    # What was stored under the new digest serves the next process.
    assert load("outer", tmp_path, monkeypatch).outer.stats.cache_hits == {}
    again = load("outer", tmp_path, monkeypatch)
    assert again.outer(1) == 3
    assert sum(again.outer.stats.cache_hits.values()) == 1


def test_kernels_divide_as_numpy_does() -> None:
    def over(x: float) -> float:
        return 1.0 / x

    assert compiled(over)(0.0) == float("inf")


def test_every_kernel_that_is_stored_is_stamped() -> None:
    unstamped = [
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if re.search(r"\bcache\s*=\s*True", path.read_text(encoding="utf-8"))
    ]
    assert unstamped == ["kernel_compilation.py"]


def test_kernels_live_in_the_rooms_that_are_read() -> None:
    homes = {
        path.relative_to(SOURCE).parts[0]
        for path in SOURCE.rglob("*.py")
        if re.search(r"^(import numba|from numba)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert homes <= {*PACKAGES, "kernel_compilation.py"}


def test_an_index_that_names_a_module_of_an_older_release_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "outer.py").write_text(CALLER, encoding="utf-8")
    (tmp_path / "inner.py").write_text(CALLED.format(1), encoding="utf-8")
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr("numba.config.CACHE_DIR", "")

    def answer(digest: str) -> int:
        monkeypatch.setattr(kernel_compilation, "sources_digest", lambda: digest)
        load("inner", tmp_path, monkeypatch)
        return int(load("outer", tmp_path, monkeypatch).outer(1))

    assert answer("before") == 2
    (index,) = tmp_path.rglob("outer.*.nbi")
    # What follows the version cannot be unpickled, as where a class has moved.
    broken = pickle.dumps(numba.__version__, protocol=-1) + b"cno_such_module\nKernel\n."
    index.write_bytes(broken)
    assert answer("after") == 2


def test_machine_code_that_an_older_release_stores_meanwhile_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "outer.py").write_text(CALLER, encoding="utf-8")
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr("numba.config.CACHE_DIR", "")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def answer(added: int, digest: str) -> int:
        monkeypatch.setattr(kernel_compilation, "sources_digest", lambda: digest)
        (tmp_path / "inner.py").write_text(CALLED.format(added), encoding="utf-8")
        load("inner", tmp_path, monkeypatch)
        return int(load("outer", tmp_path, monkeypatch).outer(1))

    assert answer(1, "before") == 2
    (old,) = tmp_path.rglob("outer.*.nbc")
    stored = old.read_bytes()
    assert answer(2, "after") == 3
    old.write_bytes(stored)
    assert answer(2, "after") == 3


def test_the_digest_follows_the_flags_of_the_compiler(tmp_path: Path) -> None:
    (package(tmp_path) / "kernel_compilation.py").write_text("flags = 1\n", encoding="utf-8")
    before = digest_of(tmp_path)
    (tmp_path / "kernel_compilation.py").write_text("flags = 2\n", encoding="utf-8")
    assert digest_of(tmp_path) != before
