"""Storage: prepared records in blocks, as mechanisms read them."""
