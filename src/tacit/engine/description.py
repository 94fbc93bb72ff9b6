"""Names and types of a table, without its values."""

from __future__ import annotations

from tacit.rows.sources.opening import Description, describe

__all__ = ["Description", "describe"]
