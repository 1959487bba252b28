"""Models by their names on Hugging Face's hub, from the cache on the disk; nothing is downloaded."""

from __future__ import annotations


def hub_command(name: str) -> str:
    """Return the command that downloads what is read of a model."""
    files = " ".join(f"--include '{pattern}'" for pattern in ("*.json", "*.safetensors", "*.txt"))
    return f"hf download {name} {files}"
