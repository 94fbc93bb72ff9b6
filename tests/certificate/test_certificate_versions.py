"""Versions of what a fit was made with."""

import platform
from importlib import metadata

from tacit.certificate.certificate import version_of


def test_python_and_packages_tell_their_versions() -> None:
    assert version_of("python") == platform.python_version()
    assert version_of("numpy") == metadata.version("numpy")
    assert version_of("no such package") == "unknown"
