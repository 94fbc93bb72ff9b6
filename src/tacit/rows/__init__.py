"""Private records, inside the wall: sources, encoding, admission and storage."""
