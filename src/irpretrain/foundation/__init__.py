"""What every job needs: outputs that appear whole, sidecars, progress, random streams, arrays on disk, resources."""

__version__ = "0.1.0"
