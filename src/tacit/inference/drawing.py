"""The way to the report room, which draws what this room computes.

It stands above this one, so no import names it: it is found when something is first drawn.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


def drawing() -> Any:
    """Module that draws summaries."""
    return import_module("tacit.report.summaries")
