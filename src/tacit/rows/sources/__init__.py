"""Sources: arrays, data frames, files and sparse matrices, read in batches of records."""
