"""Which keys of the configuration name entries of which sections, and names that lead nowhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from irpretrain.config.base import Section
from irpretrain.config.names import listed_twice, unknown_names
from irpretrain.config.papers import show_term_weights
from irpretrain.config.usage import (
    active_diagnoses,
    active_distributions,
    active_downstream,
    active_experiments,
    first_stage_names,
    index_names,
    used_first_stages,
    used_predictors,
    used_weightings,
)

if TYPE_CHECKING:
    from irpretrain.config.root import Config

WEIGHTS_OF_QUERIES = "term_weights of kind queries"


class Reference(NamedTuple):
    """A key whose values are names of entries of a section."""

    section: str  # that has the key, in each of its entries
    key: str  # dotted; empty where the entries themselves are lists of names
    target: str  # section whose entries are named
    entries: Callable[[Config], Iterable[str]] | None = None  # those that are checked; None: all


def _started(config: Config) -> list[str]:
    return [name for name, model in config.models.items() if model.start != "encoder"]


def _shown_pages(config: Config) -> Iterable[str]:
    return config.term_weight_pages if show_term_weights(config.report.papers) else ()


# Entries that nothing uses may name what an overlay has removed; so some are checked only where they are used.
REFERENCES = (
    Reference("collections", "", "corpora"),
    Reference("word_vectors", "files", "collections"),
    Reference("predictors", "collection", "collections", used_predictors),
    Reference("predictors", "dataset", "datasets", used_predictors),
    Reference("objectives", "predictor", "predictors"),
    Reference("models", "start", "models", _started),
    Reference("models", "collection", "collections"),
    Reference("models", "tasks.objective", "objectives"),
    Reference("models", "select_on.dataset", "datasets"),
    Reference("models", "select_on.candidates", "first_stages"),
    Reference("models", "neural.collection", "collections"),
    Reference("datasets", "corpus", "corpora"),
    Reference("datasets", "train_on", "datasets"),
    Reference("term_weights", "same_as", "term_weights"),
    Reference("term_weights", "dataset", "datasets", used_weightings),
    Reference("term_weights", "collection", "collections", used_weightings),
    Reference("first_stages", "runs", "datasets"),
    Reference("first_stages", "training_candidates", "first_stages"),
    Reference("first_stages", "index", "indexes", used_first_stages),
    Reference("first_stages", "candidates", "first_stages", used_first_stages),
    Reference("first_stages", "query_weights", WEIGHTS_OF_QUERIES, used_first_stages),
    Reference("first_stages", "tuned_on", "datasets", used_first_stages),
    Reference("experiments", "dataset", "datasets", active_experiments),
    Reference("experiments", "models", "models", active_experiments),
    Reference("experiments", "candidates", "first_stages", active_experiments),
    Reference("experiments", "first_stages", "first_stages", active_experiments),
    Reference("downstream", "tasks", "downstream_tasks", active_downstream),
    Reference("downstream", "models", "models", active_downstream),
    Reference("diagnoses", "collection", "collections", active_diagnoses),
    Reference("diagnoses", "models", "models", active_diagnoses),
    Reference("attributions", "dataset", "datasets"),
    Reference("attributions", "models", "models"),
    Reference("weight_distributions", "corpora", "corpora", active_distributions),
    Reference("weight_distributions", "weightings", "indexes", active_distributions),
    Reference("term_weight_pages", "dataset", "datasets", _shown_pages),
    Reference("term_weight_pages", "weightings", "indexes", _shown_pages),
    Reference("term_weight_pages", "first_stages", "first_stages", _shown_pages),
)


def reference_faults(config: Config, only: str | None = None) -> Iterator[str]:
    """Yield the names that lead nowhere, and those that stand twice in one list; of `only` all entries count."""
    for section, key, target, chosen in REFERENCES:
        if only not in (None, section):
            continue
        given = getattr(config, section)
        entries: Mapping[str, Any] = {"": given} if isinstance(given, Section) else given
        for entry in entries if only or chosen is None else dict.fromkeys(chosen(config)):
            if entry in entries:
                where = ".".join(filter(None, (section, entry, key)))
                names = _names(entries[entry], key.split(".") if key else [])
                yield from unknown_names(where, names, _names_of(config, target), target)
                if key != "tasks.objective":  # a task may be learned twice, with other weights
                    yield from listed_twice(where, names)


def _names(value: Any, keys: Sequence[str]) -> list[str]:
    if isinstance(value, list):
        return [name for item in value for name in _names(item, keys)]
    if keys and value is not None:
        return _names(getattr(value, keys[0], None), keys[1:])
    return [value] if isinstance(value, str) else list(value or ())


def _names_of(config: Config, target: str) -> list[str]:
    if target == "first_stages":
        return first_stage_names(config)
    if target == "indexes":
        return index_names(config)
    if target == WEIGHTS_OF_QUERIES:
        return [name for name, weighting in config.term_weights.items() if weighting.kind == "queries"]
    return list(getattr(config, target))
