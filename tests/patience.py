"""How long tests wait for what should come at once."""

PATIENCE = 1800.0
"""Seconds; ends only what hangs. A test asserts results, never times: machines are busy."""
