"""Blocks of private records, inside the wall: sources, the door, and the store of prepared rows."""
