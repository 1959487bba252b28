"""A shard of a corpus: its share of the records, in corpus order, as a table of documents and one of redirects."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from irpretrain.atomic import atomic_file
from irpretrain.config.corpora import CorpusConfig
from irpretrain.contracts import DOCUMENTS, REDIRECTS, ContractWriter
from irpretrain.corpora.files import list_files
from irpretrain.corpora.policy import Tally, no_documents
from irpretrain.corpora.records import Document, Redirect, parts_of_shard
from irpretrain.corpora.registry import format_module
from irpretrain.progress import notice, progress
from irpretrain.text.languages import ENGLISH
from irpretrain.text.lengths import spaced_words

PASSAGES_PER_DOCUMENT = 1 << 16
"""More passages than any document may have, so that a passage's place is one number; the last takes the rest."""


def write_shard(
    config: CorpusConfig,
    source: str | Path,
    shard: int,
    documents: str | Path,
    redirects: str | Path,
    language: str = ENGLISH,
) -> dict[str, Any]:
    """Write the documents and the redirects of shard `shard` (from 0) of the corpus that lies at `source`.

    `language` says what a word of a passage is (`text.lengths`).

    One of several shards may be empty; `collection.check_collection` tells whether the whole corpus is.

    Returns:
        Counts: files, records read, skipped and malformed by reason, documents and redirects written.

    Raises:
        InputError: the source is missing or holds no file of the format, a record is malformed and the corpus allows
            none, more are malformed than it allows in the only shard, or that has no document.
    """
    if not 0 <= shard < config.shards:
        raise ValueError(f"shard {shard} of {config.shards}")
    files = list_files(source, format_module("documents", config.format).SUFFIXES, config.files)
    tally = Tally(config.malformed, "malformed")
    which = f", shard {shard + 1} of {config.shards}" if config.shards > 1 else ""
    title = f"read {Path(documents).parent.name}{which}"
    with atomic_file(redirects) as path, ContractWriter(REDIRECTS, path) as redirects_writer:
        rows = progress(_rows(files, config, shard, tally, redirects_writer, language), title, "documents")
        written = DOCUMENTS.write(documents, rows)
        if facts := _facts(files, config, shard):
            redirects_writer.note(facts)
    _say_what_is_left_out(title, tally)
    return {"files": len(files), **tally.counts(), "written": written, "redirects": redirects_writer.rows}


def _rows(
    files: list[Path],
    config: CorpusConfig,
    shard: int,
    tally: Tally,
    redirects: ContractWriter,
    language: str,
) -> Iterator[dict[str, Any]]:
    """Yield the rows of documents; those of redirects are written on the way."""
    reader = format_module("documents", config.format)
    options = reader.Options(**config.options)
    written = False
    for part, path, share in parts_of_shard(files, shard, config.shards):
        for record in tally.sound(path, reader.read(path, options, share)):
            if isinstance(record, Redirect):
                redirects.add_row(_redirect(part, record))
                continue
            words = config.passage_words
            for piece in passages(record, words, language) if words else [record]:
                written = True
                yield document_row(part, piece)
    if config.shards == 1:  # of several, `collection.check_collection` adds up the counts
        tally.settle()
    if not written and config.shards == 1:
        raise no_documents(config.path, [tally.counts()])


def _facts(files: list[Path], config: CorpusConfig, shard: int) -> dict[str, str]:
    """What the files that a shard reads say of themselves, where their format tells: distinct values, sorted."""
    facts_of = getattr(format_module("documents", config.format), "facts", None)
    values_by_name: defaultdict[str, set[str]] = defaultdict(set)
    if facts_of is None:
        return {}
    options = format_module("documents", config.format).Options(**config.options)
    for _, path, _ in parts_of_shard(files, shard, config.shards):
        for name, value in facts_of(path, options).items():
            values_by_name[name].add(value)
    return {name: ",".join(sorted(values)) for name, values in sorted(values_by_name.items())}


def document_row(part: int, document: Document) -> dict[str, Any]:
    """Return the row of DOCUMENTS of a document of file `part`."""
    return {
        "document_id": document.document_id,
        "part": part,
        "position": document.position,
        "title": document.title,
        "url": document.url,
        "body": document.body,
        "sections": [
            {"level": s.level, "heading": s.heading, "start": s.start, "end": s.end, "role": s.role}
            for s in document.sections
        ],
        "links": [
            {"target": k.target, "fragment": k.fragment, "start": k.start, "end": k.end, "section": k.section}
            for k in document.links
        ],
        "disambiguation": document.disambiguation,
    }


def _redirect(part: int, redirect: Redirect) -> dict[str, Any]:
    return {
        "part": part,
        "position": redirect.position,
        "title": redirect.title,
        "target": redirect.target,
        "fragment": redirect.fragment,
    }


def _say_what_is_left_out(title: str, tally: Tally) -> None:
    if left_out := sum(tally.malformed.values()):
        what = f"{left_out:,} malformed records of {tally.read:,} are left out, such as {tally.examples[0]}"
        notice(title, what)
    for named in tally.named:
        notice(title, f"left out: {named}")


def passages(document: Document, words: int, language: str = ENGLISH) -> Iterator[Document]:
    """Yield passages of `words` words (`text.lengths`), each with the document's title and address.

    A rest of fewer than half as many words joins the last passage. Passage n of document d is called d#n; its
    position keeps passages in the order of their documents. The text between words is left as it is.
    """
    spans = spaced_words(document.body, language)
    count = max(1, (len(spans) + words // 2) // words)
    count = min(count, PASSAGES_PER_DOCUMENT)
    for number in range(count):
        last = len(spans) if number == count - 1 else (number + 1) * words
        first = number * words
        body = document.body[spans[first][0] : spans[last - 1][1]] if spans else ""
        yield Document(
            position=document.position * PASSAGES_PER_DOCUMENT + number,
            document_id=f"{document.document_id}#{number}",
            title=document.title,
            url=document.url,
            body=body,
        )
