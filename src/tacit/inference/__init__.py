"""Standard errors, intervals and tests of a release. Sees no record: all it uses was paid for."""
