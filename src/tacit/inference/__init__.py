"""Standard errors and intervals of a release. Sees no record: all it uses was asked and paid."""
