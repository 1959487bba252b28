"""Formats of reading tasks: each module has `Options` and `read(path, options)`, which yields questions with spans."""
