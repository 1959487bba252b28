"""The ledger of comparisons: what each compared run is scored on, and what its model has read.

A table compares runs that should differ in the experiment alone. The ledger holds the facts of each run. Most facts
follow from the configuration, so a plan can be checked before anything runs; the rest is counted by the jobs.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from itertools import combinations, starmap
from typing import TYPE_CHECKING, Any

from irpretrain.config.depths import reranked, scored
from irpretrain.config.retrieval import BUILT_IN_FIRST_STAGES, MODEL_PARAMETERS, FirstStageConfig
from irpretrain.config.term_weights import ENCODED, EPOCHS
from irpretrain.config.usage import (
    active_experiments,
    first_stages_of,
    index_words,
    trained_on,
    training_candidates,
    with_starts,
)
from irpretrain.corpora.embedded import resolve
from irpretrain.corpora.file_lists import document_files
from irpretrain.corpora.ir_datasets_library import corpus_identifier
from irpretrain.corpora.registry import format_of
from irpretrain.errors import InputError
from irpretrain.evaluation.evaluate import FIRST_STAGE
from irpretrain.evaluation.measures import cutoff
from irpretrain.evaluation.runs import ListSizes
from irpretrain.retrieval.analysis import IndriOptions

if TYPE_CHECKING:
    from irpretrain.config import Config
    from irpretrain.config.base import Section
    from irpretrain.config.text import EncoderConfig

# Option of a corpus that reads a range of its files.
RANGE = "articles"
# Options that cut the same text into other documents.
FORM = ("unit",)
# Options that change no result, or only set others.
NOT_COMPARED = {"log_every", "accumulation", "recipe", "keep_models", "batch_tokens", "type"}
# Options of pre-training that are facts of their own.
LENGTH = {"steps", "epochs", "epochs_of", "snapshots"}
# Options of pre-training that each task may override.
OF_TASKS = {"max_length", "query_length", "loss", "masking"}
# Between the values of an option in several stages or tasks.
BETWEEN_VALUES = " / "


@dataclass(frozen=True, order=True)
class PretrainingText:
    """A text of pre-training: equal to another one that is the same part of the same files, however it is spelled.

    Attributes:
        files: what it is read from, as `_files_of` returns it.
        options: of its format, where they are not the defaults, without `FORM`.
        path: as the configuration spells it, with its patterns of files.
    """

    files: tuple[str, ...]
    options: tuple[tuple[str, str], ...] = ()
    path: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"{self.path} {self.part}".rstrip()

    @property
    def part(self) -> str:
        """Which part of the files is read: "articles 0 to 200"; empty for all of them."""
        return " ".join(map(" ".join, self.options))


@dataclass(frozen=True)
class Facts:
    """What one run is scored on and made of; empty where it does not apply or is not counted yet.

    Attributes:
        dataset, candidates, model, regime: name of the run.
        seeds: of training.
        queries: their number and a hash of their identifiers.
        lists: hash of the file with the candidate lists.
        depth: largest number of documents of a query that are scored: found in the run once it is there, else planned.
        seen: number of them that the deepest measure looks at.
        answered: number of judged queries with a list.
        scored: number of documents that are scored, of all queries.
        ranker: ranking model of a first stage, and the first stage whose candidates it ranks.
        words: how a first stage cuts texts into words and these into terms.
        tuning: of a first stage's parameters: the queries and the measure that chose them.
        k1, b, mu, smoothing: a first stage's parameters that are not tuned.
        encoder: path and layers of the encoder.
        length: of term weights: number of word pieces that decide those of a text, "all" without a limit.
        weighting: other options of term weights, or of an index: "training.batch_size 16", "doc2query.queries 10".
        texts: what pre-training reads, or what word vectors are learned from.
        tested_texts: those of them that the tested corpus is read from too, with articles in common.
        documents, text_pieces: size of these texts, in documents (or passages) and in word pieces.
        groups: ranking groups read per task.
        word_pieces: word pieces read in pre-training, special tokens included.
        steps: of pre-training.
        stages: of pre-training: "one", or the steps of each.
        chosen: what chose the snapshot of each stage; "last step" where nothing did.
        training: options of pre-training, "batch_groups 16", and of its objectives, "rop.minimum_words 10"; values of
            several stages or tasks that are not all equal are joined by " / ", in their order.
        training_queries: data set and candidates that fine-tune the model; data set that teaches term weights.
        recipe: options of fine-tuning, and of a ranker over words, "knrm.query_words 20", in the same form.
        passages: that documents are cut into before they are scored: "150 words every 75", or "none".
        reranking: other options of re-ranking, in the same form.
    """

    dataset: str
    candidates: str
    model: str
    regime: str
    seeds: tuple[int, ...] = ()
    queries: str = ""
    lists: str = ""
    depth: int | None = None
    seen: int | None = None
    answered: int | None = None
    scored: int | None = None
    ranker: str = ""
    words: str = ""
    tuning: str = ""
    k1: float | None = None
    b: float | None = None
    mu: float | None = None
    smoothing: float | None = None
    encoder: str = ""
    length: str = ""
    weighting: tuple[str, ...] = ()
    texts: tuple[PretrainingText, ...] = ()
    tested_texts: tuple[PretrainingText, ...] = ()
    documents: int | None = None
    text_pieces: int | None = None
    groups: tuple[tuple[str, int], ...] = ()
    word_pieces: int | None = None
    steps: int | None = None
    stages: str = ""
    chosen: str = ""
    training: tuple[str, ...] = ()
    training_queries: str = ""
    recipe: tuple[str, ...] = ()
    passages: str = ""
    reranking: tuple[str, ...] = ()

    def cells(self) -> list[str]:
        """Return the facts as cells of a CSV file with `COLUMNS`; lists are separated by semicolons."""
        return [_cell(getattr(self, column)) for column in COLUMNS]


COLUMNS = tuple(field.name for field in fields(Facts))


def planned_facts(config: Config, dataset: str, candidates: str, model: str, regime: str) -> Facts:
    """Return what the configuration says of a run.

    Args:
        candidates: a first stage, or its first documents, "bm25@20"; a first stage's run has its own name.
        model: key of `models`, or a snapshot, "prop@60".
    """
    lists, _, cut = candidates.partition("@")
    name, _, step = model.partition("@")
    facts: dict[str, Any] = dict.fromkeys(("depth", "seen"), int(cut) if cut else None)
    if not cut and dataset in config.datasets:
        facts["depth"] = _depth(config, dataset, lists, regime)
        facts["seen"] = _seen(config, dataset, facts["depth"])
    if regime == FIRST_STAGE:
        facts |= _searching(config, name)
    elif name in config.models:
        facts |= _pretraining(config, dataset, name, int(step) if step else None)
        facts |= _reranking(config, name, regime)
        if regime != "zero-shot" and dataset in config.datasets:
            facts |= _finetuning(config, dataset, lists, name)
    return Facts(dataset, candidates, model, regime, **facts)


def weighting_facts(config: Config, weighting: str) -> dict[str, Any]:
    """Return what the configuration says of a weighting of words: a key of `term_weights`, or an index."""
    facts: dict[str, Any] = {"length": "all"}
    if weighting in config.indexes:
        index = config.indexes[weighting]
        return facts | {"weighting": _option_texts([{index.type: _compared(index)}])}
    if weighting not in config.term_weights:
        return facts
    named = config.term_weights[weighting]
    described = config.term_weights[named.same_as] if named.same_as is not None else named
    options: dict[str, Any] = {}
    if named.kind == "passages" and (named.same_as is not None or named.model != "tf"):
        options["square_root"] = named.square_root
    if described.model not in ("tf", "attention"):
        labels = described.labels.model_dump(exclude_defaults=True).items()
        facts["training_queries"] = ", ".join(
            [str(described.dataset), *(f"{key} {value}" for key, value in labels)]
        )
    if described.model in ENCODED:
        facts["encoder"] = _encoder_text(described.encoder or config.encoder)
        options["inference"] = _compared(described.inference)
        if described.window_overlap is None:
            facts["length"] = str(described.max_length)
        else:
            options |= described.model_dump(include={"max_length", "window_overlap"})
    if described.model == "regressor":
        training = described.training
        epochs = EPOCHS if training.steps is None and training.epochs is None else training.epochs
        options |= {"training": _compared(training) | {"epochs": epochs}, "seed": described.seed}
    if described.model == "word-vectors":
        corpora = config.collections[str(described.collection)]
        facts["texts"] = tuple(sorted({_text_of(config, corpus) for corpus in corpora}))
    return facts | {"weighting": _option_texts([options])}


def facts_of_lists(facts: Facts, sizes: Iterable[ListSizes]) -> Facts:
    """Return the facts of a run with what its lists hold in place of what is planned; the least of several seeds."""
    sizes = list(sizes)
    if not sizes:
        return facts
    answered, deepest, scored = (min(numbers) for numbers in zip(*sizes, strict=True))
    seen = None if facts.seen is None else min(facts.seen, deepest)
    return replace(facts, depth=deepest, seen=seen, answered=answered, scored=scored)


def counted_facts(counts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what the pre-trainings of a model have counted, from the counts of their sidecars, the first one first."""
    trained = [count for count in counts if count.get("steps")]
    if not trained:
        return {}
    are_known = all("groups" in count for count in trained)
    groups = (item for count in trained if are_known for item in (count["groups"] or {}).items())
    return {
        "steps": sum(count["steps"] for count in trained),
        "stages": _stages_text([count["steps"] for count in trained]),
        "groups": _per_task(groups),
        "word_pieces": _sum(trained, "tokens"),
        "documents": _sum(trained, "documents"),
        "text_pieces": _sum(trained, "text_pieces"),
    }


def differences(rows: Iterable[Facts], columns: Iterable[str]) -> dict[str, dict[str, list[Facts]]]:
    """Return the columns in which rows differ: column → value as text → its rows. Empty facts differ from nothing."""
    rows = list(rows)
    differing = {}
    for column in columns:
        texts: dict[Any, str] = {}
        by_value: dict[str, list[Facts]] = {}
        for row in rows:
            value = getattr(row, column)
            # Equal texts of pre-training may be spelled in several ways: the first one counts.
            if text := texts.setdefault(value, _text(value)):
                by_value.setdefault(text, []).append(row)
        if len(by_value) > 1:
            differing[column] = by_value
    return differing


def differing_options(rows: Iterable[Facts], column: str) -> list[str]:
    """Return the keys of options in which rows differ. A key that a row lacks does not apply to it."""
    values: dict[str, dict[tuple[str, ...], None]] = {}
    for option in (option for row in rows for option in getattr(row, column)):
        key, _, value = option.partition(" ")
        values.setdefault(key, {})[tuple(value.split(BETWEEN_VALUES))] = None
    return [key for key, lists in values.items() if not all(starmap(_agree, combinations(lists, 2)))]


def _agree(values: Sequence[str], others: Sequence[str]) -> bool:
    """Whether values of several stages or tasks are the same, in the same order; an ablation may lack some."""
    fewer, more = sorted((values, others), key=len)
    rest = iter(more)
    return set(fewer) == set(more) and all(value in rest for value in fewer)


def unlike(rows: Iterable[Facts]) -> dict[str, dict[str, list[Facts]]]:
    """Return what no comparison may differ in: queries, depth, candidate lists of re-ranked runs, and what pre-training
    reads of a file or shares with the tested corpus."""
    rows = list(rows)
    reranked = [row for row in rows if row.regime != FIRST_STAGE]
    differing = differences(rows, ["dataset", "queries", "seen"]) | differences(reranked, ["candidates"])
    by_file: dict[str, dict[str, list[Facts]]] = {}
    for row in rows:
        for text in row.texts:
            for file in text.files:
                by_file.setdefault(file, {}).setdefault(text.part, []).append(row)
    differing |= {file: by_text for file, by_text in by_file.items() if len(by_text) > 1}
    tested = by_tested_texts(rows)
    return differing | ({"tested_texts": tested} if tested else {})


def by_tested_texts(rows: Iterable[Facts]) -> dict[str, list[Facts]]:
    """Return pre-trained rows by the texts that they share with the tested corpus; empty where all share the same."""
    by_texts: dict[tuple[PretrainingText, ...], list[Facts]] = {}
    for row in rows:
        if row.texts:
            by_texts.setdefault(row.tested_texts, []).append(row)
    return {_text(texts) or "none": same for texts, same in by_texts.items()} if len(by_texts) > 1 else {}


def _depth(config: Config, dataset: str, candidates: str, regime: str) -> int | None:
    if regime != FIRST_STAGE:
        return reranked(config, candidates, dataset).documents
    is_reported = any(
        experiment.dataset == dataset and not experiment.depths and candidates in first_stages_of(experiment)
        for experiment in active_experiments(config).values()
    )
    return scored(config, candidates, dataset).documents if is_reported else None


def _seen(config: Config, dataset: str, depth: int | None) -> int | None:
    cutoffs = [cutoff(measure) for measure in config.datasets[dataset].measures]
    return depth if depth is None or None in cutoffs else min(depth, max(most or 0 for most in cutoffs))


def _searching(config: Config, first_stage: str) -> dict[str, Any]:
    """Return how a first stage searches; nothing of a run of others, where it is unknown."""
    if first_stage in BUILT_IN_FIRST_STAGES:
        stage = FirstStageConfig(label=first_stage, model=first_stage)
    elif first_stage not in config.first_stages or config.first_stages[first_stage].runs:
        return {}
    else:
        stage = config.first_stages[first_stage]
    facts = weighting_facts(config, stage.query_weights or stage.index)
    facts["ranker"] = f"{stage.model}{' with dependence' if stage.dependence else ''}"
    facts["ranker"] += f" over candidates of {stage.candidates}" if stage.candidates else ""
    facts["words"] = index_words(config, stage.index)
    if stage.model == "indri":
        facts["words"] = f"{config.text.word_kind}, Krovetz' stemmer, INQUERY's stop words"
    if stage.tuned_on is None:
        usual = (
            {"mu": IndriOptions().mu}
            if stage.model == "indri"
            else config.retrieval.parameters_of(stage.model)
        )
        given = stage.parameters.given()
        facts |= {name: given.get(name, usual.get(name)) for name in MODEL_PARAMETERS[stage.model]}
        return facts | {"tuning": "not tuned"}
    return facts | {"tuning": f"tuned on {stage.tuned_on} by {config.retrieval.sweep.measure}"}


def _pretraining(config: Config, dataset: str, model: str, step: int | None) -> dict[str, Any]:
    chain = [name for name in reversed(with_starts(config, [model])) if config.models[name].tasks]
    described = config.models[model]
    facts: dict[str, Any] = {}
    if described.cross_encoder is None and described.neural is None:
        facts["encoder"] = _encoder_text(config.encoder_of(model))
    corpora = [corpus for name in chain for corpus in config.collections[str(config.models[name].collection)]]
    facts["texts"] = tuple(sorted({_text_of(config, corpus) for corpus in corpora}))
    if dataset in config.datasets:
        tested = config.datasets[dataset].corpus
        shared = (corpus for corpus in corpora if _overlap(config, corpus, tested))
        facts["tested_texts"] = tuple(sorted({_text_of(config, corpus) for corpus in shared}))
    lengths = [config.training_of(name) for name in chain]
    facts["training"] = _training_options(config, chain)
    if step is None and chain:
        choices = [_choice_text(config, name) for name in chain]
        facts["chosen"] = ", then ".join(choices if len(set(choices)) > 1 else choices[:1])
    if step is not None:
        facts["steps"] = step
    elif any(config.models[name].select_on for name in chain):
        pass  # the jobs count up to the chosen snapshot
    elif all(length.steps is not None for length in lengths):
        facts["steps"] = sum(length.steps or 0 for length in lengths) or None
        facts["stages"] = _stages_text([length.steps or 0 for length in lengths])
        facts["groups"] = _per_task(
            (task.objective, (length.steps or 0) * length.batch_groups)
            for name, length in zip(chain, lengths, strict=True)
            for task in config.models[name].tasks
            if length.mixing == "sum" or len(config.models[name].tasks) == 1
        )
    return facts


def _training_options(config: Config, chain: Iterable[str]) -> tuple[str, ...]:
    """Return the options of all stages, of all their tasks, and of the objectives of these."""
    sections: list[dict[str, Any]] = []
    for name in chain:
        options, described = config.training_of(name), config.models[name]
        sections.append(_compared(options, LENGTH | OF_TASKS))
        if described.select_on is not None:
            sections.append(
                {
                    "snapshots": options.snapshots,
                    "select_on": described.select_on.model_dump(include={"candidates"}),
                }
            )
        for task in described.tasks:
            objective: Any = config.objectives[task.objective]
            sections += [
                options.of_task(task).model_dump(include=OF_TASKS),
                task.model_dump(include={"weight", "mlm_weight"}),
                {objective.type: _compared(objective)},
            ]
    return _option_texts(sections)


def _stages_text(steps: Sequence[int]) -> str:
    """Return "one", or "100 + 100 steps": each stage has a warm-up and a decay of its own."""
    if len(steps) < 2:
        return "one" if steps else ""
    return f"{' + '.join(f'{number:,}' for number in steps)} steps"


def _choice_text(config: Config, model: str) -> str:
    """Return what chooses the weights of one stage."""
    selection, training = config.models[model].select_on, config.training_of(model)
    if selection is None:
        return "last step"
    number = len({*training.snapshots, training.steps} - {None})
    return f"chosen on {selection.dataset} by {selection.measure} among {number} snapshots"


def _reranking(config: Config, model: str, regime: str) -> dict[str, Any]:
    """Return how documents are read for scoring; after fine-tuning its lengths are among the options of that."""
    if config.models[model].neural is not None:
        return {}
    reranking = config.reranking_of(model, regime)
    text = "none"
    if (passages := reranking.passages) is not None:
        text = f"{passages.words} words every {passages.stride}"
        if regime != "zero-shot":
            most = passages.most_in_training
            text += f", {'all' if most is None else f'at most {most}'} in fine-tuning"
    others = {"depth", "passages", *(("max_length", "query_length") if regime != "zero-shot" else ())}
    return {"passages": text, "reranking": _option_texts([_compared(reranking, others)])}


def _encoder_text(encoder: EncoderConfig) -> str:
    return f"{encoder.path}, {encoder.layers} layers" if encoder.layers else encoder.path


def _finetuning(config: Config, dataset: str, candidates: str, model: str) -> dict[str, Any]:
    source = trained_on(config, dataset)
    lists = training_candidates(config, dataset, candidates)
    sections = [_compared(config.finetuning_of(model))]
    if (neural := config.models[model].neural) is not None:
        sections.append({neural.type: _compared(neural)})
    return {"training_queries": f"{source}, {lists}", "recipe": _option_texts(sections)}


def _compared(section: Section, more: Iterable[str] = ()) -> dict[str, Any]:
    """Return the options of a section that change results; of how a job computes, its precision alone."""
    options = section.model_dump(exclude=NOT_COMPARED.union(more))
    if "compute" in options:
        options["compute"] = {"precision": options["compute"]["precision"]}
    return options


def _option_texts(sections: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return "key value" of each option, nested ones by dotted keys.

    Values of several sections are joined by " / ", in their order, where they are not all equal.
    """
    values: dict[str, list[str]] = {}
    for section in sections:
        for key, value in _leaves(section):
            values.setdefault(key, []).append(_cell(value) or "null")
    return tuple(
        f"{key} {BETWEEN_VALUES.join(texts) if len(set(texts)) > 1 else texts[0]}"
        for key, texts in values.items()
    )


def _leaves(section: Mapping[str, Any], parent: str = "") -> Iterable[tuple[str, Any]]:
    for key, value in section.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{parent}{key}.")
        else:
            yield f"{parent}{key}", value


def _text_of(config: Config, corpus: str) -> PretrainingText:
    """Return the text of a corpus, whatever documents it is cut into."""
    described = config.corpora[corpus]
    defaults = format_of("documents", described.format).options().model_dump()
    options = {name: value for name, value in described.options.items() if value != defaults.get(name)}
    patterns = tuple(described.files or ())
    return PretrainingText(
        _files_of(described.path, described.format, patterns, os.getcwd()),
        tuple((name, _option_text(name, value)) for name, value in options.items() if name not in FORM),
        " ".join([described.path, *patterns]),
    )


def _option_text(name: str, value: Any) -> str:
    separator = " to " if name == RANGE else ", "
    return separator.join(map(str, value)) if isinstance(value, list | tuple) else str(value)


@cache
def _files_of(path: str, format_name: str, patterns: tuple[str, ...], folder: str) -> tuple[str, ...]:
    """Return the files behind a path relative to a folder, links resolved; a path that is not there as it is."""
    kind, name = resolve(path)
    if kind == "ir_datasets":
        return (f"{kind}:{corpus_identifier(str(name))}",)
    if kind == "embedded":
        return (path,)
    try:
        files = document_files(os.path.join(folder, path), format_name, patterns or None)
    except InputError:
        return (os.path.realpath(os.path.join(folder, path)),)
    return tuple(sorted(map(os.path.realpath, files)))


def _overlap(config: Config, corpus: str, other: str) -> bool:
    """Whether two corpora are read from one file and may have articles in common."""
    (start, end), (other_start, other_end) = (
        config.corpora[name].options.get(RANGE) or (0, math.inf) for name in (corpus, other)
    )
    files, other_files = (_text_of(config, name).files for name in (corpus, other))
    return not set(files).isdisjoint(other_files) and start < other_end and other_start < end


def _per_task(groups: Iterable[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    """Return groups by objective, those of several trainings added."""
    added: dict[str, int] = {}
    for objective, number in groups:
        added[objective] = added.get(objective, 0) + number
    return tuple(added.items())


def _sum(counts: list[Mapping[str, Any]], key: str) -> int | None:
    return sum(count[key] for count in counts) if all(key in count for count in counts) else None


def _cell(value: Any) -> str:
    if isinstance(value, tuple):
        return ";".join(" ".join(map(str, item)) if isinstance(item, tuple) else str(item) for item in value)
    return "" if value is None else str(value)


def _text(value: Any) -> str:
    """Return a fact as text; equal group counts as one: "1,600"."""
    if value is None:
        return ""
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple) and value and isinstance(value[0], tuple):
        numbers = {number for _, number in value}
        return f"{numbers.pop():,}" if len(numbers) == 1 else ", ".join(f"{task} {n:,}" for task, n in value)
    return " and ".join(map(str, value)) if isinstance(value, tuple) else str(value)
