"""Admission: encoded records are checked, bounded and prepared into a store."""
