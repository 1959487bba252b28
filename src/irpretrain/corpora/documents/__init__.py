"""Formats of documents: each has `Options`, `SUFFIXES` and `read(path, options, wanted)`, which yields records."""
