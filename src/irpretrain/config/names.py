"""Faults of names: one that leads nowhere, one that stands twice in a list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from irpretrain.config.base import Section
from irpretrain.config.papers import show_term_weights
from irpretrain.config.references import REFERENCES, WEIGHTS_OF_QUERIES, names_under
from irpretrain.config.usage import first_stage_names, index_names, used_entries
from irpretrain.corpora.catalogue.read import SECTIONS, read_catalogue
from irpretrain.errors import instead_of

if TYPE_CHECKING:
    from irpretrain.config.root import Config


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
            others = dict.fromkeys(_in_the_catalogue(section), "the catalogue")
            yield f"{where}: {name!r} is not in {section}; {instead_of(name, existing, f'{section} has', others)}"


def _datasets_with_runs(section: str, name: str) -> list[str]:
    """The data sets for which the catalogue has runs of a first stage, which it offers for no other."""
    if section != "first_stages":
        return []
    stages = (entry.first_stages.get(name, {}) for entry in read_catalogue().values())
    return [dataset for stage in stages for dataset in stage.get("runs", {})]


def listed_twice(where: str, names: Sequence[str]) -> Iterator[str]:
    """Yield a fault for the first of `names` that is listed twice."""
    if twice := [name for name in names if names.count(name) > 1]:
        yield f"{where}: {twice[0]} is listed twice; list each once"


def _in_the_catalogue(section: str) -> list[str]:
    if section not in SECTIONS:
        return []
    return [name for entry in read_catalogue().values() for name in getattr(entry, section)]


def reference_faults(config: Config, only: str | None = None) -> Iterator[str]:
    """Yield the names that lead nowhere, and those that stand twice in one list; of `only` all entries count."""
    used = set(used_entries(config))
    if only is not None or show_term_weights(config.report.papers):
        used |= {("term_weight_pages", name) for name in config.term_weight_pages}
    for section, key, target, if_used, _ in REFERENCES:
        given = getattr(config, section)
        entries: Mapping[str, Any] = {"": given} if isinstance(given, Section) else given
        for entry, described in entries.items() if only in (None, section) else ():
            if not if_used or (section, entry) in used:
                where = ".".join(filter(None, (section, entry, key)))
                names = names_under(described, key)
                if key == "start":  # of a model, also the encoder
                    names = [name for name in names if name != "encoder"]
                yield from unknown_names(where, names, _names_of(config, target), target)
                if key != "tasks.objective":  # a task may be learned twice, with other weights
                    yield from listed_twice(where, names)


def _names_of(config: Config, target: str) -> list[str]:
    if target == "first_stages":
        return first_stage_names(config)
    if target == "indexes":
        return index_names(config)
    if target == WEIGHTS_OF_QUERIES:
        return [name for name, weighting in config.term_weights.items() if weighting.kind == "queries"]
    return list(getattr(config, target))
