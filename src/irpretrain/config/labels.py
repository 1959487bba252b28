"""How regimes are called in tables and figures, and faults of names; `Config` has those of models and data sets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING
from unicodedata import normalize

from irpretrain.config.finetuning import shots_of
from irpretrain.config.retrieval import BUILT_IN_FIRST_STAGES

if TYPE_CHECKING:
    from irpretrain.config.root import Config

# Those that every configuration has; `Config.stage_labels` has them all.
BUILT_IN_LABELS = {name: name.upper() for name in BUILT_IN_FIRST_STAGES}
# Candidates that need not be named.
DEFAULT_CANDIDATES = "bm25"
# Of numbers that are significantly better than a baseline's; no marks of a paper, which keep what the paper means.
BM25_MARK, CONTROL_MARK = "ᵇ", "ᶜ"
REGIME_LABELS = {"first-stage": "first stage", "zero-shot": "zero-shot", "full": "fine-tuned"}


def listed(names: Iterable[object], conjunction: str = "and") -> str:
    """Return "4, 8 and 16"."""
    *first_names, last_name = map(str, names)
    return f"{', '.join(first_names)} {conjunction} {last_name}" if first_names else last_name


def marks_text(marks: Iterable[str]) -> str:
    """Return what the marks of numbers in tables mean; an empty string without marks."""
    baselines = {BM25_MARK: "BM25", CONTROL_MARK: "the control (the encoder with a fresh score head)"}
    shown_marks = [mark for mark in baselines if mark in set(marks)]
    return ", ".join(
        f"{mark} {'' if index else 'significantly better '}than {baselines[mark]}"
        for index, mark in enumerate(shown_marks)
    )


def without_bracket(label: str) -> str:
    """Return what stands before a label's bracket: sentences, plots and the terminal show no more."""
    return label.partition(" (")[0]


def quoted(label: str) -> str:
    """Return a label in quotes where it has a comma, which would make it read as two among others."""
    return f"“{label}”" if "," in label else label


def regime_label(regime: str) -> str:
    if shots := shots_of(regime):
        return f"few-shot ({shots} {'query' if shots == 1 else 'queries'})"
    return REGIME_LABELS.get(regime, regime)


# Labels that tell the rows of a table apart.


def label_faults(config: Config) -> Iterator[str]:
    """Yield a fault for each blank label, and for labels that would give two rows, panels or curves one name."""
    for section in ("predictors", "term_weights", "models", "datasets", "first_stages", "downstream_tasks"):
        for name, entry in getattr(config, section).items():
            if not _visible_text(entry.label):
                yield f"{section}.{name}.label: is blank; give a name for tables"
    for name, distribution in config.weight_distributions.items():
        if not _visible_text(distribution.label):
            yield f"weight_distributions.{name}.label: is blank; give the collection's name in the figure"
    if not _visible_text(config.encoder.label):
        yield "encoder.label: is blank; give a name for tables"
    for view_name, labels in _labels_together(config):
        names_by_label = defaultdict(list)
        for name, label in labels.items():
            names_by_label[_visible_text(label)].append(name)
        for names in names_by_label.values():
            if len(names) > 1:
                yield (
                    f"{listed(names)} have one label, {labels[names[0]]!r}, so {view_name} would not tell them apart; "
                    "give each a label of its own"
                )


def _short_labels(config: Config, models: Iterable[str]) -> dict[str, str]:
    return {name: without_bracket(config.model_label(name)) for name in models}


def _visible_text(label: str) -> str:
    """Return what a reader sees of a label: without characters that leave no mark, and with single blanks."""
    return " ".join("".join(c for c in normalize("NFC", label) if c.isprintable() or c.isspace()).split())


def _labels_together(config: Config) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each place where labels stand side by side, with its entries' labels by their names.

    All names that the report uses must lead somewhere.
    """
    for dataset in config.tested_datasets:
        experiments = [entry for entry in config.active_experiments.values() if entry.dataset == dataset]
        models = [name for entry in experiments for name in entry.models]
        yield f"the table of {dataset}", _short_labels(config, [*config.searched_stages(dataset), *models])
    yield (
        "the tables of the data sets",
        {name: config.datasets[name].label for name in config.tested_datasets},
    )
    tasks = {name: config.downstream_tasks[name].label for name in config.used_names("downstream_tasks")}
    yield "the table of downstream tasks", tasks
    answering_models = [name for entry in config.active("downstream").values() for name in entry.models]
    yield "the table of downstream tasks", _short_labels(config, answering_models)
    distributions = config.active("weight_distributions")
    yield "the figure of weights", {name: entry.label for name, entry in distributions.items()}
    weightings = config.index_labels
    for section, entries in (
        ("weight_distributions", distributions),
        ("term_weight_pages", config.term_weight_pages),
    ):
        for name, entry in entries.items():
            labels = {weighting: weightings.get(weighting, weighting) for weighting in entry.weightings}
            yield f"{section}.{name}", labels
