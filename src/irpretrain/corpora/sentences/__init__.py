"""Formats of labelled sentences: each module has `Options` and `read(path, options)`, which yields labelled texts."""
