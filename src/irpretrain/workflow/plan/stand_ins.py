"""Empty files in place of data that are not there, so that everything that reads them can be planned."""

from pathlib import Path
from typing import Any

from irpretrain.config.root import Config
from irpretrain.corpora.catalogue.absence import Needed, missing_files
from irpretrain.corpora.catalogue.completion import moved
from irpretrain.corpora.embedded import installed_path, read_manifest
from irpretrain.foundation.resources import resources_directory

# In place of folds that files would give: what is planned depends on their number alone.
FOLDS = 5


def with_stand_ins(config: Config, folder: str | Path) -> Config:
    """Return the configuration with a stand-in in `folder` for each file of the catalogue that is missing.

    What is missing is a matter of `missing_files`; the configuration itself is returned where nothing is.
    """
    missing = missing_files(config)
    locations = {
        missing_file.path: str(Path(folder) / missing_file.path.lstrip("/")) for missing_file in missing
    }
    for missing_file in missing:
        if missing_file.kind != "folds":
            lay(missing_file, Path(locations[missing_file.path]))
    if not missing:
        return config

    def with_any_vocabulary(section: Any) -> Any:
        if section.encoder is None or section.encoder.path not in locations:
            return section
        unknown = section.encoder.model_copy(update={"vocabulary_size": None})  # the stand-in has its own
        return section.model_copy(update={"encoder": unknown})

    sections = {
        name: {key: with_any_vocabulary(entry) for key, entry in getattr(config, name).items()}
        for name in ("models", "term_weights")
    }
    return moved(with_any_vocabulary(config).model_copy(update=sections), locations, FOLDS)


def lay(needed: Needed, location: Path) -> None:
    """Put an empty file at a place; where a folder belongs (its name has no suffix), one with a file that counts; where
    an encoder belongs, the embedded one."""
    location.parent.mkdir(parents=True, exist_ok=True)
    if needed.kind == "encoder":
        encoder = installed_path(read_manifest(resources_directory() / "embedded.yaml").asset("minilm"))
        if encoder is not None and not location.exists():
            location.symlink_to(encoder)
    elif location.suffix or not needed.inside:
        location.touch()
    else:
        inside = location / _fitting(needed.inside[0])
        inside.parent.mkdir(parents=True, exist_ok=True)
        inside.touch()


def _fitting(pattern: str) -> str:
    """A name that fits a pattern or, without wildcards, ends in it."""
    if any(sign in pattern for sign in "*?"):
        return pattern.replace("**/", "").replace("*", "1").replace("?", "1")
    return f"1{pattern}"
