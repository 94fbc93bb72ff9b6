"""Compiled kernels, whose stored machine code is never older than any of its sources.

numba checks only the file of a kernel before it loads stored machine code, but a kernel contains
functions and constants of other files too. Without this module, a corrected loss would not reach
machine code that an older version has stored, and a guarantee would rest on the old code.
"""

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

PACKAGES = ("losses", "mechanisms", "noise", "rows")
"""Packages with kernels and with everything that kernels contain."""

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def compiled(function: Kernel) -> Kernel:
    """Compile a kernel when it is first called, and keep its machine code for later processes.

    Guarantee: machine code that was stored before any source of `PACKAGES` changed is not used. Floating point is that
    of the source: no fast-math, no reordering; division by zero does not raise.
    """
    kernel: Any = numba.njit(nogil=True, cache=True, error_model="numpy")(function)
    if kernel is not function:  # as it is where compilation is switched off
        stored = kernel._cache._cache_file  # noqa: SLF001 - numba has no public way to a stamp
        # The version is compared before anything is unpickled: an index of an older release may
        # name modules that have moved since.
        stored._version = f"{stored._version} {sources_digest()}"  # noqa: SLF001
        # numba writes the index before the machine code, so an index as new as the sources may for
        # a moment name an old file: each version of the sources has file names of its own.
        pattern = stored._data_name_pattern.removesuffix("{number:d}.nbc")  # noqa: SLF001
        stored._data_name_pattern = f"{pattern}{sources_digest()[:16]}.{{number:d}}.nbc"  # noqa: SLF001
    return cast("Kernel", kernel)


@cache
def sources_digest() -> str:
    """SHA-256 of the sources of `PACKAGES` and of this file; read once a process."""
    return digest_of(Path(__file__).parent)


def digest_of(package: Path) -> str:
    """SHA-256 of the names and texts of a package's sources."""
    digest = hashlib.sha256()
    sources = [path for folder in PACKAGES for path in (package / folder).rglob("*.py")]
    for path in sorted([*sources, *package.glob("kernel_compilation.py")]):
        text = path.read_bytes()
        digest.update(f"{path.relative_to(package).as_posix()} {len(text)}\n".encode())
        digest.update(text)
    return digest.hexdigest()
