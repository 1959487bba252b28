"""Formats of relevance judgements: each module has `Options` and `read(path, options)`, which yields judgements."""
