"""Statements, tables and pictures of what was released."""
