"""Names and types of a table, without its values."""

from __future__ import annotations

from tacit.rows.description import Description, describe

__all__ = ["Description", "describe"]
