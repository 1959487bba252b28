"""The jobs of a configuration: which there are, what they cost, how a run shows them, and which runs are alive."""
