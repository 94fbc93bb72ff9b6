"""JSON documents: strict reading, quoting, digests and signatures."""
