"""Formats of documents: each has `Options`, `SUFFIXES` and `read(path, options, share)`, which yields records."""
