"""From a formula and a schema to a design. No module here ever sees a row."""
