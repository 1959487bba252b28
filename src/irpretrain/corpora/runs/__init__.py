"""Formats of runs of others: each module has `Options` and `read(path, options)`, which yields what they retrieved."""
