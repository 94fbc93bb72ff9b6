"""Statements, tables and pictures of what was released. Nothing below this room draws."""
