"""The schema: what is publicly known of a table and its columns."""
