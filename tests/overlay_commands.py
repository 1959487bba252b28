"""The commands that the files in configs/ give in their first lines."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OVERLAYS = sorted((ROOT / "configs").glob("*.yaml"))


def header_arguments(overlay: Path) -> list[str]:
    """The arguments of the command in an overlay's own header."""
    [words] = re.findall(
        r'^#   (?:make run .*ARGS="(.*)"|snakemake (.*))$', overlay.read_text(encoding="utf-8"), re.MULTILINE
    )
    return "".join(words).split()


def targets(overlay: Path) -> list[str]:
    """What the overlay's command makes; nothing where it makes all."""
    return [word for word in header_arguments(overlay) if word.startswith("results/") or word == "downstream"]


def layers(overlay: Path) -> list[Path]:
    """The files that the overlay's command lays over config.yaml, in their order."""
    return [ROOT / word for word in header_arguments(overlay) if word.startswith("configs/")]
