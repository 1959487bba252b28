"""Formats of external runs: each module has `Options` and `read(path, options)`, which yields what they retrieved."""
