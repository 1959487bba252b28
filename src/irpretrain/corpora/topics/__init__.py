"""Formats of topics: each module has `Options` and `read(path, options)`, which yields queries."""
