"""Versions of what a fit was made with."""

from __future__ import annotations

import functools
import platform
from importlib import metadata


@functools.cache
def version_of(name: str) -> str:
    """Version of Python or of an installed package; looked up once, since that takes milliseconds.

    Examples
    --------
    >>> version_of("no such package")
    'unknown'
    """
    if name == "python":
        return platform.python_version()
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "unknown"
