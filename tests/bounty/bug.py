"""A seeded bug: what is replaced in the library, and the check that finds it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class Bug:
    """A privacy bug by its name; `seed` puts it into the library, `caught_by` names a check of `checks.CHECKS`."""

    name: str
    seed: Callable[[pytest.MonkeyPatch], None]
    caught_by: str
