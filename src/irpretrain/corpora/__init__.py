"""Readers of document collections, topics and judgements, and the checks on them."""
