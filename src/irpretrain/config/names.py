"""Faults of names that lead nowhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from irpretrain.corpora.catalogue.read import SECTIONS, read_catalogue
from irpretrain.foundation.errors import instead_of


def unknown_names(where: str, names: Iterable[str], existing: Iterable[str], section: str) -> Iterator[str]:
    """Yield a fault, with the nearest name, for each of `names` that a section does not have.

    The catalogue's names count as near: an entry that the catalogue describes needs no other description.
    """
    existing = list(existing)
    for name in names:
        if name in existing:
            continue
        if runs := _datasets_with_runs(section, name):
            known = f"the catalogue has runs of {name!r} for {', '.join(runs)} alone"
            yield f"{where}: {known}; {section} has {', '.join(existing)}"
        else:
            entries = read_catalogue().values() if section in SECTIONS else ()
            others = {other: "the catalogue" for entry in entries for other in getattr(entry, section)}
            yield f"{where}: {name!r} is not in {section}; {instead_of(name, existing, f'{section} has', others)}"


def _datasets_with_runs(section: str, name: str) -> list[str]:
    """The data sets for which the catalogue has runs of a first stage, which it offers for no other."""
    if section != "first_stages":
        return []
    stages = (entry.first_stages.get(name, {}) for entry in read_catalogue().values())
    return [dataset for stage in stages for dataset in stage.get("runs", {})]
