"""Bugs that were invented without a look at the checks or at the other bugs."""

from __future__ import annotations

from tests.bounty.bug import Bug

BUGS: tuple[Bug, ...] = ()
"""Each with the check that found it."""
