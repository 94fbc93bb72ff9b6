"""Certificates and stored fits: what a release guarantees, kept so that anyone can check it."""
