"""Assets inside installed packages: found without importing the package, verified, copied.

`resources/embedded.yaml` is the manifest: package, version, files with their SHA-256, licence.
"""

import shutil
from importlib import metadata
from pathlib import Path
from typing import Literal

import yaml
from pydantic import ValidationError

from irpretrain.config.base import Section, listed_faults, option
from irpretrain.foundation.atomic import atomic_directory, atomic_file
from irpretrain.foundation.errors import ConfigError, IntegrityError, SetupError, instead_of, one_line
from irpretrain.foundation.provenance import sha256
from irpretrain.foundation.resources import parse_yaml

PREFIX, IR_DATASETS = "embedded:", "ir_datasets:"


class Asset(Section):
    """A file, or a folder of files, inside one installed package."""

    package: str = option(..., "Name of the distribution, as pip knows it.", min_length=1)
    version: str = option(..., "The only version that is accepted.", min_length=1)
    directory: str | None = option(None, "The folder that `files` lie in; null for an asset of one file.")
    files: dict[str, str] = option(..., "SHA-256, in hexadecimal, of each file.", min_length=1)
    licence: str = option(..., "Licence of the data.", min_length=1)
    hub: str | None = option(None, "Its name on the Hugging Face Hub.")
    language: str | None = option(None, "Of an encoder: what it was trained on, ISO 639-1.")
    remark: str = option(..., "What it is.")
    caveat: str | None = option(None, "What a reader of any number made with it must know.")


class Manifest(Section):
    assets: dict[str, Asset] = option(..., "Assets by name.", min_length=1)

    def asset(self, name: str) -> Asset:
        if name not in self.assets:
            raise ConfigError(
                f"{PREFIX}{name}: there is no such embedded asset; {instead_of(name, sorted(self.assets))}"
            )
        return self.assets[name]


def read_manifest(path: str | Path) -> Manifest:
    """Read and check the manifest at `path`; every fault is in one ConfigError."""
    try:
        return Manifest.model_validate(parse_yaml(Path(path).read_text(encoding="utf-8")))
    except (OSError, yaml.YAMLError, UnicodeDecodeError, ValidationError) as error:
        fault = listed_faults(error) if isinstance(error, ValidationError) else one_line(error)
        raise ConfigError(f"{path}: this manifest of embedded data cannot be read: {fault}") from None


def resolve(path: str) -> tuple[Literal["embedded", "ir_datasets", "file"], str]:
    """Split a configured path: `embedded:<asset>`, `ir_datasets:<id>`, else a file or a folder."""
    if path.startswith(PREFIX):
        return "embedded", path.removeprefix(PREFIX)
    if path.startswith(IR_DATASETS):
        return "ir_datasets", path.removeprefix(IR_DATASETS)
    return "file", path


def materialise(asset_name: str, manifest: str | Path, output: str | Path) -> dict[str, int]:
    """Copy the embedded `asset_name` to `output` after checking version and every SHA-256; return numbers of files and
    bytes.

    Raises:
        SetupError: the package is missing or has another version.
        IntegrityError: a file is missing or differs from the manifest.
    """
    asset = read_manifest(manifest).asset(asset_name)
    distribution, total_bytes = _installed(asset), 0
    with (atomic_directory if asset.directory else atomic_file)(output) as target:
        for file_name, expected in asset.files.items():
            copy = target / file_name if asset.directory else target
            copy.parent.mkdir(parents=True, exist_ok=True)
            source = Path(str(distribution.locate_file(Path(asset.directory or "", file_name))))
            if not source.is_file():
                raise IntegrityError(
                    source,
                    f"the file is missing from the package {asset.package}",
                    remedy=_install_remedy(asset),
                )
            shutil.copyfile(source, copy)
            checksum = sha256(copy)  # of the copy, so that faults of the disk are seen too
            if checksum != expected:
                raise IntegrityError(
                    source,
                    f"this is not the file that {manifest} describes: its SHA-256 is {checksum}, not {expected}",
                    remedy=f"{_install_remedy(asset)} If you changed the data on purpose, change the manifest too.",
                )
            total_bytes += copy.stat().st_size
    return {"files": len(asset.files), "bytes": total_bytes}


def installed_path(asset: Asset) -> Path | None:
    """Where an asset lies inside its package, unverified; None if the package is not installed."""
    try:
        distribution = metadata.distribution(asset.package)
    except metadata.PackageNotFoundError:
        return None
    return Path(str(distribution.locate_file(asset.directory or next(iter(asset.files)))))


def _installed(asset: Asset) -> metadata.Distribution:
    try:
        distribution = metadata.distribution(asset.package)
    except metadata.PackageNotFoundError:
        raise SetupError(
            f"The package {asset.package}, which holds embedded data, is not installed.\n  {_install_remedy(asset)}"
        ) from None
    if distribution.version != asset.version:
        raise SetupError(
            f"The package {asset.package} has version {distribution.version}, but the embedded data is described for "
            f"{asset.version}.\n  {_install_remedy(asset)}"
        )
    return distribution


def _install_remedy(asset: Asset) -> str:
    return (
        "Install it again: python -m pip install --no-deps --force-reinstall "
        f"{asset.package}=={asset.version} (the set-up of `make` does the same)."
    )
