"""What a run shows: how far it is, the newest table, and at the end the result or what stopped it."""
