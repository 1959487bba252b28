"""A source's files before any job, and a shard of its records."""

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from irpretrain.config.corpora import CorpusConfig, DatasetConfig, FileConfig
from irpretrain.config.objectives import needs
from irpretrain.config.retrieval import ExpansionConfig
from irpretrain.config.root import Config, Entries
from irpretrain.config.run import longest_sequences
from irpretrain.config.text import EncoderConfig
from irpretrain.corpora.embedded import Manifest, installed_path, resolve
from irpretrain.corpora.file_lists import files_of_sources, require_file
from irpretrain.corpora.formats.ir_datasets import check_downloaded
from irpretrain.corpora.policy import RecordTally, no_documents, unread_fields
from irpretrain.corpora.registry import format_of
from irpretrain.foundation.contracts import DOCUMENTS, REDIRECTS
from irpretrain.foundation.errors import ConfigError, InputError, IRPretrainError
from irpretrain.foundation.progress import notice, progress
from irpretrain.foundation.records import Document, Redirect, parts_of_shard
from irpretrain.models.encoder_files import (
    card_languages,
    check_encoder_files,
    check_reranker_files,
)
from irpretrain.text.languages import ENGLISH, language, read_languages
from irpretrain.text.words import spaced_words

# The files and folders that a configuration names: whether they are there, before anything is computed.

HAS_EFFECTIVE_IDS = os.access in os.supports_effective_ids


Kind = Literal["records", "folds", "encoder"]


@dataclass(frozen=True, slots=True)
class UsedFile:
    """A file or folder that one key of the configuration names, and that something reads which is run."""

    key: str  # the key, such as models.mono.cross_encoder
    path: str  # as the configuration gives it; `embedded:<asset>` and `ir_datasets:<id>` too
    kind: Kind  # what is in it
    inside: tuple[str, ...]  # which files of a folder count: patterns, or else endings of names
    # Raises InputError or ConfigError where the path, if it is that of a file or folder, cannot be used.
    check: Callable[[str], None]


def used_files(config: Config, entries: Entries | None = None) -> Iterator[UsedFile]:
    """Yield all files that some entries of the configuration name, by default those in use, key by key."""
    entries = config.used_entries() if entries is None else entries

    def entries_of(section: str) -> Iterator[tuple[str, Any]]:
        return ((name, getattr(config, section)[name]) for holder, name in entries if holder == section)

    for name, corpus in entries_of("corpora"):
        inner_patterns = tuple(corpus.files or format_of("documents", corpus.format).suffixes)
        check = partial(_check_documents, corpus)
        yield UsedFile(f"corpora.{name}.path", corpus.path, "records", inner_patterns, check)
        for path in corpus.option_files:
            yield UsedFile(f"corpora.{name}.options", path, "records", (), _check_file)
    for name, dataset in entries_of("datasets"):
        yield from _record_files(f"datasets.{name}.queries.path", dataset.queries)
        yield from _record_files(f"datasets.{name}.qrels.path", dataset.qrels)
        if isinstance(dataset.folds, str):
            check = partial(_check_folds, dataset)
            yield UsedFile(f"datasets.{name}.folds", dataset.folds, "folds", (), check)
    for stage_name, stage in entries_of("first_stages"):
        for name, run in stage.runs.items():
            if ("datasets", name) in entries:
                yield from _record_files(f"first_stages.{stage_name}.runs.{name}.path", run)
    for name, task in entries_of("downstream_tasks"):
        for role, files in task.files.items():
            yield from _record_files(f"downstream_tasks.{name}.questions.{role}.path", files)
    encoders: dict[str, EncoderConfig] = {}
    for name, model in entries_of("models"):
        if model.has_encoder:
            encoders[config.encoder_key(name)] = config.encoder_of(name)
    for name, weighting in config.weightings_in(entries).items():
        if weighting.encoder is not None:
            encoders[f"term_weights.{name}.encoder"] = weighting.encoder
        elif weighting.model == "regressor":
            encoders["encoder"] = config.encoder
    for key, encoder in encoders.items():
        check = partial(_check_model, partial(_check_encoder, config, encoder, key))
        yield UsedFile(f"{key}.path", encoder.path, "encoder", (), check)
    for name, index in entries_of("indexes"):
        if isinstance(index, ExpansionConfig):
            yield UsedFile(f"indexes.{name}.path", index.path, "records", (), _check_file)
    for name in dict.fromkeys(_collections_with_vectors(config, entries)):
        if name in config.word_vectors.files:
            vectors = config.word_vectors.files[name]
            yield UsedFile(f"word_vectors.files.{name}", vectors, "records", (), _check_file)
    for name, model in entries_of("models"):
        if model.cross_encoder is not None:
            check = partial(_check_model, check_reranker_files)
            yield UsedFile(f"models.{name}.cross_encoder", model.cross_encoder, "encoder", (), check)


def _collections_with_vectors(config: Config, entries: Entries) -> Iterator[str]:
    """Yield the collections whose word vectors some entries read: axioms, weights of words, or a ranker."""
    for section, name in entries:
        entry: Any = getattr(config, section)[name]
        match section:
            case "predictors" | "diagnoses":
                yield entry.collection
            case "term_weights" if entry.same_as is None and entry.model == "word-vectors":
                yield entry.collection
            case "models" if entry.neural is not None and entry.neural.needs_vectors:
                yield entry.neural.collection
            case "models" if any(
                "axiom_values" in needs(config.objectives[task.objective]) for task in entry.tasks
            ):
                yield entry.collection


def check_sources(config: Config, manifest: Manifest) -> None:
    """Raise one ConfigError with every source in use that is missing or wrong."""
    # Only what some experiment needs is checked, and no file of documents, queries or judgements is opened.
    faults: list[str] = []
    for used_file in used_files(config):
        with _collecting_faults(faults, used_file.key):
            path_kind, name = resolve(used_file.path)
            if path_kind == "ir_datasets" and used_file.kind == "encoder":
                fault = "ir_datasets holds data sets, and this is an encoder's path"
                raise InputError(used_file.path, fault, remedy="Give a folder, or the name of a model.")
            path = name if path_kind == "file" else None
            if path_kind == "embedded":
                # The stage that copies from the package reports what is not there, with the command that installs it.
                installed = installed_path(manifest.asset(name))
                path = str(installed) if installed is not None and installed.exists() else None
            if path is not None:
                used_file.check(path)
    for section, name in config.used_entries():
        if section == "datasets" and isinstance(config.datasets[name].folds, list):
            with _collecting_faults(faults, f"datasets.{name}.folds"):
                _check_folds(config.datasets[name])
    _refuse(f"Some sources cannot be used; paths are relative to {Path.cwd()}", faults)


def used_ir_datasets(config: Config) -> dict[tuple[str, str], str]:
    """Return identifier and part of what is read of ir_datasets, with the first key that names it."""
    keys: dict[tuple[str, str], str] = {}
    for used_file in used_files(config):
        path_kind, name = resolve(used_file.path)
        if path_kind == "ir_datasets":
            section, *_, part_key, _ = used_file.key.split(".")
            # Else the key ends in queries.path or qrels.path.
            dataset_part = {"corpora": "docs", "first_stages": "scoreddocs"}.get(section, part_key)
            keys.setdefault((name, dataset_part), used_file.key)
    return keys


def check_downloads(config: Config) -> None:
    """Raise one ConfigError that lists all that is read of ir_datasets and is not on the disk."""
    faults: list[str] = []
    for (identifier, part), key in used_ir_datasets(config).items():
        with _collecting_faults(faults, key):
            check_downloaded(identifier, part)
    _refuse("Some data of ir_datasets cannot be used", faults)


def used_assets(config: Config) -> list[str]:
    """Return the embedded assets that some experiment needs."""
    kinds_and_names = [resolve(used_file.path) for used_file in used_files(config)]
    return list(dict.fromkeys(name for path_kind, name in kinds_and_names if path_kind == "embedded"))


def language_notes(config: Config, manifest: Manifest) -> list[str]:
    """Return what to say of each encoder in use that was trained on another language than that of the texts."""
    # Without experiments only models can be asked for, to be exported.
    trained_models = dict.fromkeys(("models", name) for name, model in config.models.items() if model.tasks)
    notes = dict[str, None]()
    for used_file in used_files(config, config.used_entries() or trained_models):
        if used_file.kind == "encoder" and (
            mismatch := language_mismatch(used_file.path, manifest, config.text.language)
        ):
            notes[f"{mismatch} Give one of your language in {used_file.key} (docs/languages.md)."] = None
    return list(notes)


def language_mismatch(path: str, manifest: Manifest, text_language: str) -> str:
    """Return that an encoder was trained on other languages than that of the texts; nothing if that is not known.

    The manifest names the language of an embedded encoder, its model card that of another.
    """
    path_kind, name = resolve(path)
    languages = [manifest.asset(name).language or ""] if path_kind == "embedded" else card_languages(name)
    codes = [code.split("-")[0] for code in languages if code]
    if not codes or language(text_language).code in codes or "multilingual" in codes:
        return ""
    names = {row.code: row.name.capitalize() for row in read_languages().values() if row.code}
    languages_text = " and ".join(names.get(code, code) for code in codes)
    return (
        f"the encoder {path} was trained on {languages_text} texts, and text.language is {text_language}: its "
        "word pieces and weights fit badly."
    )


def with_caveats(config: Config, manifest: Manifest, warnings: Iterable[str] = ()) -> Config:
    """Return the configuration with the caveats of its embedded assets and warnings first among the report's notes."""
    asset_caveats = (manifest.asset(name).caveat for name in used_assets(config))
    notes = [*asset_caveats, *warnings]
    caveats = [note for note in notes if note and note not in config.report.notes]
    report = config.report.model_copy(update={"notes": [*caveats, *config.report.notes]})
    return config.model_copy(update={"report": report})


def _record_files(key: str, files: FileConfig) -> Iterator[UsedFile]:
    inner_patterns = format_of(files.kind, files.format).suffixes
    for path in files.paths:
        yield UsedFile(key, path, "records", inner_patterns, partial(_check_file, suffixes=inner_patterns))


@contextmanager
def _collecting_faults(faults: list[str], key: str) -> Iterator[None]:
    """Add what is refused inside to `faults`; a fault of a file with the key that names the file."""
    try:
        yield
    except InputError as error:
        faults.append(f"{key}: {error}")
    except IRPretrainError as error:
        faults.append(str(error))


def _refuse(heading: str, faults: list[str]) -> None:
    if faults:
        raise ConfigError("\n".join([heading, *("  - " + fault.replace("\n", "\n  ") for fault in faults)]))


def _check_documents(corpus: CorpusConfig, path: str) -> None:
    _check_usable(corpus.files_in(path))


def _check_file(path: str, suffixes: Sequence[str] = ()) -> None:
    _check_usable(files_of_sources(path, suffixes))


def _check_encoder(config: Config, encoder: EncoderConfig, key: str, folder: str) -> None:
    check_encoder_files(folder, encoder, longest_sequences(config, key), key)


def _check_model(check: Callable[[str], None], path: str) -> None:
    folder = Path(path)
    _check_usable([folder, *(sorted(folder.rglob("*")) if os.path.isdir(folder) else ())])
    check(path)


def _check_usable(paths: Iterable[str | Path]) -> None:
    """Refuse what may not be read, and names that Snakemake would fill in, so that it might read another file."""
    for path in paths:
        if re.search(r"\{.*\}", str(path), re.DOTALL):  # there is no way to quote them
            raise InputError(
                path,
                "its name contains { and }, which Snakemake reads as a wildcard",
                remedy="Rename it, or give a link to it that has a plain name.",
            )
        if os.path.exists(path) and not os.access(path, os.R_OK, effective_ids=HAS_EFFECTIVE_IDS):
            raise InputError(
                path, "you have no permission to read it", remedy="Change its permissions, or give a copy."
            )


def _check_folds(dataset: DatasetConfig, path: str | None = None) -> None:
    from irpretrain.corpora.make_folds import configured_folds  # loads pyarrow, so only where folds are given

    if path is not None:
        _check_usable([path])
        if not os.path.exists(path):
            require_file(path)
    configured_folds(dataset)


# A shard of a corpus: its share of the records, in corpus order, as a table of documents and one of redirects.


# More passages than any document may have, so that a passage's place is one number; the last takes the rest.
PASSAGES_PER_DOCUMENT = 1 << 16


def write_shard(
    config: CorpusConfig,
    source: str | Path,
    shard: int,
    documents: str | Path,
    redirects: str | Path,
    language: str = ENGLISH,
    ids_without_text: set[str] | None = None,  # as of `RecordTally`
    setting: str = "malformed",  # the key of `config.malformed`, for messages
) -> dict[str, Any]:
    """Write the documents and the redirects of shard `shard` (from 0) of the corpus at `source`.

    One of several shards may be empty; `collection.check_collection` checks the whole corpus.

    Returns:
        Counts: files, records read, skipped and malformed by reason, documents and redirects written.

    Raises:
        InputError: the source is missing or has no file of the format, a record is malformed and the corpus allows
            none, or the only shard has too many malformed ones or no document.
    """
    if not 0 <= shard < config.shards:
        raise ValueError(f"shard {shard} of {config.shards}")
    files = config.files_in(source)
    reader = format_of("documents", config.format)
    options = reader.options(**config.options)
    tally = RecordTally(config.malformed, setting, ids_without_text=ids_without_text)
    facts = defaultdict[str, set[str]](set)  # what files say of all their documents: distinct values

    def rows() -> Iterator[dict[str, Any]]:
        has_documents = False
        for part, file, share in parts_of_shard(files, shard, config.shards):
            for record in tally.sound(file, reader.read(file, options, share)):
                if isinstance(record, Redirect):
                    redirects_writer.add_row({"part": part, **asdict(record)})
                    continue
                passage_words = config.passage_words
                for passage in passages(record, passage_words, language) if passage_words else [record]:
                    has_documents = True
                    yield passage.row() | {"part": part}
            for fact, fact_value in reader.facts(file, options).items():
                facts[fact].add(fact_value)
        if config.shards == 1:  # of several, `collection.check_collection` adds up the counts
            tally.settle()
            if not has_documents:
                raise no_documents(config.path, [tally.counts()])

    shard_text = f", shard {shard + 1} of {config.shards}" if config.shards > 1 else ""
    title = f"read {Path(documents).parent.name}{shard_text}"
    with REDIRECTS.writing(redirects) as redirects_writer:
        documents_written = DOCUMENTS.write(documents, progress(rows(), title, "documents"))
        if facts:
            redirects_writer.note({fact: ",".join(sorted(facts[fact])) for fact in sorted(facts)})
    if malformed_count := sum(tally.malformed.values()):
        records_text = f"{malformed_count:,} malformed records of {tally.read_count:,}"
        malformed_text = f"{records_text} are left out, such as {tally.examples[0]}"
        notice(title, malformed_text)
    for skip_text in tally.named_skips:
        notice(title, f"left out: {skip_text}")
    if shard == 0 and (text := unread_fields(tally.counts())):
        notice(title, text)
    return {
        "files": len(files),
        **tally.counts(),
        "written": documents_written,
        "redirects": redirects_writer.rows,
    }


def passages(document: Document, passage_words: int, language: str = ENGLISH) -> Iterator[Document]:
    """Yield passages of `passage_words` words (`text.words`), each with the document's title and address.

    A rest of fewer than half as many words joins the last passage. Passage n of document d is d#n; its position keeps
    the order of documents. The text between words is unchanged.
    """
    spans = spaced_words(document.body, language)
    passage_count = max(1, (len(spans) + passage_words // 2) // passage_words)
    passage_count = min(passage_count, PASSAGES_PER_DOCUMENT)
    for passage_number in range(passage_count):
        first_word = passage_number * passage_words
        end_word = len(spans) if passage_number == passage_count - 1 else first_word + passage_words
        body = document.body[spans[first_word][0] : spans[end_word - 1][1]] if spans else ""
        yield Document(
            position=document.position * PASSAGES_PER_DOCUMENT + passage_number,
            document_id=f"{document.document_id}#{passage_number}",
            title=document.title,
            url=document.url,
            body=body,
        )
