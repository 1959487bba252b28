"""Which keys of the configuration name entries of which sections, what an entry needs by them, and names that lead
nowhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from irpretrain.corpora.catalogue.read import SECTIONS, read_catalogue
from irpretrain.foundation.errors import instead_of

if TYPE_CHECKING:
    from irpretrain.config.root import Config

# Section and name of an entry, such as ("datasets", "robust04").
EntryName = tuple[str, str]

WEIGHTS_OF_QUERIES = "term_weights of kind queries"


class Reference(NamedTuple):
    """A key whose values are names of entries of a section."""

    section: str  # that has the key, in each of its entries
    key: str  # dotted; empty where the entries themselves are lists of names
    target: str  # section whose entries are named
    # Whether names are checked only in entries that are used: others may name what an overlay has removed.
    if_used: bool = False
    # Whether whatever needs the entry needs what the key names; `names_needed_by` has the conditions of other keys.
    always: bool = True
    # What queries of its data sets do, and tested ones must not. Judgements by answers cannot: they follow from what
    # experiments retrieve, so they come after what they would decide, and another first stage would change them.
    decides: str = ""
    # Keys that make a model another one than those that are pre-trained here, so that it cannot be named.
    refused_keys: tuple[str, ...] = ()


# Why a model with such a key cannot be named.
NOT_PRETRAINED = {
    "cross_encoder": "is a re-ranker given by its path, which nothing here trains",
    "neural": "is a ranker without pre-training, which ranks at random until it is fine-tuned",
}

REFERENCES = (
    Reference("collections", "", "corpora"),
    Reference("word_vectors", "files", "collections"),
    Reference("predictors", "collection", "collections", if_used=True),
    Reference("predictors", "dataset", "datasets", if_used=True, decides="teach a predictor"),
    Reference("objectives", "predictor", "predictors"),
    Reference("models", "start", "models", refused_keys=("cross_encoder", "neural")),
    Reference("models", "collection", "collections", always=False),
    Reference("models", "tasks.objective", "objectives"),
    Reference("models", "select_on.dataset", "datasets", decides="choose a model"),
    Reference("models", "select_on.candidates", "first_stages"),
    Reference("models", "neural.collection", "collections"),
    Reference("datasets", "corpus", "corpora"),
    Reference("datasets", "train_on", "datasets", always=False),
    Reference("term_weights", "same_as", "term_weights"),
    Reference("term_weights", "dataset", "datasets", if_used=True, always=False, decides="teach weights"),
    Reference("term_weights", "collection", "collections", if_used=True, always=False),
    Reference("first_stages", "runs", "datasets", always=False),
    Reference("first_stages", "training_candidates", "first_stages", always=False),
    Reference("first_stages", "index", "indexes", if_used=True),
    Reference("first_stages", "candidates", "first_stages", if_used=True),
    Reference("first_stages", "query_weights", WEIGHTS_OF_QUERIES, if_used=True),
    Reference("first_stages", "tuned_on", "datasets", if_used=True, decides="choose parameters"),
    Reference("experiments", "models", "models", if_used=True),
    Reference("experiments", "dataset", "datasets", if_used=True),
    Reference("experiments", "candidates", "first_stages", if_used=True),
    Reference("experiments", "first_stages", "first_stages", if_used=True),
    Reference("downstream", "tasks", "downstream_tasks", if_used=True),
    Reference("downstream", "models", "models", if_used=True, refused_keys=("cross_encoder", "neural")),
    Reference("diagnoses", "collection", "collections", if_used=True),
    Reference("diagnoses", "models", "models", if_used=True, refused_keys=("neural",)),
    Reference("attributions", "dataset", "datasets"),
    Reference("attributions", "models", "models", refused_keys=("neural",)),
    Reference("weight_distributions", "corpora", "corpora", if_used=True),
    Reference("weight_distributions", "weightings", "indexes", if_used=True),
    Reference("term_weight_pages", "dataset", "datasets", if_used=True),
    Reference("term_weight_pages", "weightings", "indexes", if_used=True),
    Reference("term_weight_pages", "first_stages", "first_stages", if_used=True),
)

# Sections that hold the entries of a target which is more, or less, than a section.
TARGET_SECTIONS = {"indexes": ("indexes", "term_weights"), WEIGHTS_OF_QUERIES: ("term_weights",)}


def sections_of(target: str) -> tuple[str, ...]:
    return TARGET_SECTIONS.get(target, (target,))


def names_under(entry: Any, key: str) -> list[str]:
    """Return the names under a key of an entry; none where the key leads nowhere."""
    return _names(entry, key.split(".") if key else [])


def _names(value: Any, keys: Sequence[str]) -> list[str]:
    if isinstance(value, list):
        return [name for item in value for name in _names(item, keys)]
    if keys and value is not None:
        return _names(getattr(value, keys[0], None), keys[1:])
    return [value] if isinstance(value, str) else list(value or ())


def names_needed_by(config: Config, section: str, entry: Any) -> Iterator[EntryName]:
    """Yield target and name of what an entry of a section needs."""
    for reference in REFERENCES:
        if reference.section == section and reference.always:
            yield from ((reference.target, name) for name in names_under(entry, reference.key))
    if section == "experiments" and entry.dataset in config.datasets and entry.is_finetuned:
        yield "datasets", config.trained_on(entry.dataset)
        yield "first_stages", config.training_candidates(entry.dataset, entry.candidates)
    elif section == "models" and entry.tasks:
        yield "collections", entry.collection
    elif section == "term_weights" and entry.same_as is None:
        yield "datasets", entry.dataset
        yield "collections", entry.collection


# Faults of names that lead nowhere.


def unknown_names(key_path: str, names: Iterable[str], known: Iterable[str], section: str) -> Iterator[str]:
    """Yield a fault, with the nearest name, for each of `names` that a section does not have.

    The catalogue's names count as near: an entry that the catalogue describes needs no other description.
    """
    known = list(known)
    for name in names:
        if name in known:
            continue
        if datasets_with_runs := _datasets_with_runs(section, name):
            runs_note = f"the catalogue has runs of {name!r} for {', '.join(datasets_with_runs)} alone"
            yield f"{key_path}: {runs_note}; {section} has {', '.join(known)}"
        else:
            entries = read_catalogue().values() if section in SECTIONS else ()
            catalogue_names = (key for entry in entries for key in getattr(entry, section))
            catalogued = dict.fromkeys(catalogue_names, "the catalogue")
            remedy = instead_of(name, known, f"{section} has", catalogued)
            yield f"{key_path}: {name!r} is not in {section}; {remedy}"


def _datasets_with_runs(section: str, name: str) -> list[str]:
    """The data sets for which the catalogue has runs of a first stage, which it offers for no other."""
    if section != "first_stages":
        return []
    stages = (entry.first_stages.get(name, {}) for entry in read_catalogue().values())
    return [dataset for stage in stages for dataset in stage.get("runs", {})]
