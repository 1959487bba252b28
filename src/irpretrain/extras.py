"""Packages that `pip install irpretrain` leaves out, by the extra that brings them."""

from collections.abc import Iterator
from contextlib import contextmanager

from irpretrain.errors import SetupError

# Extra → names that are imported of its packages.
EXTRAS = {
    "train": ("accelerate", "safetensors", "torch", "transformers", "xgboost"),
    "tracking": ("tensorboard", "wandb"),
    "ir-datasets": ("ir_datasets",),
    "mwparserfromhell": ("mwparserfromhell",),
    "pyterrier": ("pyterrier",),
}


@contextmanager
def naming_extras() -> Iterator[None]:
    """Raise SetupError, with the command that installs it, for a package of an extra that is missing inside."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        extra = next((extra for extra, packages in EXTRAS.items() if package in packages), None)
        if extra is None:
            raise
        raise SetupError(
            f"This needs the package {package}, which is not installed.\n  In the clone: pip install '.[{extra}]'"
        ) from None
