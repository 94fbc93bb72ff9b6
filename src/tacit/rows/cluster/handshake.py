"""The handshake: a worker computes with the same sources and libraries, and gets the same bits on public records.

Nothing here is private: the probe is a public table, and its sums are public.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import platform
import zoneinfo
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.design.design import Design
from tacit.rows.admission.admit_rows import admit
from tacit.rows.cluster.wall import listens_inside, shows_pages
from tacit.rows.sources.opening import open_source

LIBRARIES = ("numpy", "numba", "llvmlite", "pyarrow", "scipy", "distributed")


@dataclass(frozen=True)
class Probe:
    """Public records, their design, and the sums that are asked of them, with a map in between."""

    X: NDArray[np.float64]
    y: NDArray[Any]
    design: Design
    matrix: NDArray[np.float64]
    sums: Sequence[tuple[Callable[..., Any], Any, int]]


@dataclass(frozen=True)
class Fingerprint:
    """What computes: versions, and digests of the package's sources, the probe's sums and the rules of time zones."""

    versions: dict[str, str]
    sources: str
    bits: str
    zones: str = ""
    spills: bool = False
    pages: bool = False
    inside: bool = True

    def differences(self, other: Fingerprint) -> list[str]:
        """Names of what differs, none where two machines compute the same."""
        libraries = [name for name in self.versions if self.versions[name] != other.versions.get(name)]
        named = {
            "Tacit's own sources": self.sources != other.sources,
            "the bits of public sums": self.bits != other.bits,
            "the rules of time zones": self.zones != other.zones,
        }
        return [*libraries, *(name for name, differs in named.items() if differs)]


def fingerprint(probe: Probe) -> Fingerprint:
    """Fingerprint of this process."""
    versions = {name: importlib.metadata.version(name) for name in LIBRARIES}
    versions["python"] = platform.python_version()
    return Fingerprint(versions, package_digest(), _bits(probe), zone_rules(), *_worker_facts())


def package_digest() -> str:
    """SHA-256 of the names and texts of all sources of the package."""
    folder = Path(__file__).parents[2]
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        text = path.read_bytes()
        digest.update(f"{path.relative_to(folder).as_posix()} {len(text)}\n".encode())
        digest.update(text)
    return digest.hexdigest()


def zone_rules() -> str:
    """SHA-256 of the operating system's rules of time zones, which say what day a time with a zone is.

    They are one text of about 100 kB; where a system has none, that says as much.
    """
    digest = hashlib.sha256()
    texts = (Path(folder) / "tzdata.zi" for folder in zoneinfo.TZPATH)
    for text in texts:
        if text.is_file():
            digest.update(text.read_bytes())
            break
    return digest.hexdigest()


def _bits(probe: Probe) -> str:
    """Digest of the sums of the public records, before and after the map."""
    digest = hashlib.sha256()
    for dtype in (np.float32, np.float64):
        with admit(open_source(probe.X, probe.y), probe.design, dtype=dtype) as store:
            for mapped in (False, True):
                own = store.map(probe.matrix) if mapped else store
                for function, query, bound in probe.sums:
                    digest.update(own.total(function, query, bound).tobytes())
                if mapped:
                    own.close()
    return digest.hexdigest()


def _worker_facts() -> tuple[bool, bool, bool]:
    """Whether Dask spills to disk on this worker, shows pages to others, and listens inside the wall alone."""
    from distributed import get_worker

    try:
        worker = get_worker()
    except ValueError:
        return False, False, True
    manager = worker.memory_manager
    fractions = (manager.memory_target_fraction, manager.memory_spill_fraction)
    spills = bool(manager.memory_limit) and any(fraction is not False for fraction in fractions)
    return spills, shows_pages(worker, "distributed.dashboard.worker"), listens_inside(worker)
