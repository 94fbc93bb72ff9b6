"""Certificates and fit files: what a release guarantees, in a form that anyone can check."""
