"""Documents from files, from wikitext, and as anyone has them."""

import reprlib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from numbers import Integral
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from irpretrain.config.corpora import CorpusConfig
from irpretrain.corpora.fields import BODIES, IDENTIFIERS
from irpretrain.corpora.policy import (
    UNIQUE_IDENTIFIERS,
    RecordTally,
    bare_texts,
    describe_location_in,
    left_out_reasons,
    no_documents,
    unread_fields,
)
from irpretrain.corpora.registry import format_of
from irpretrain.foundation.characters import clean_text, identifier_fault
from irpretrain.foundation.errors import ConfigError, InputError, count_of
from irpretrain.foundation.progress import notice
from irpretrain.foundation.records import Document, Share
from irpretrain.library.formats import describe_source
from irpretrain.library.frames import frame_documents, is_frame
from irpretrain.library.inputs import by_label, checked_text, naming
from irpretrain.wikipedia.dump import SiteInfo
from irpretrain.wikipedia.guarded_parser import processor_time_limit
from irpretrain.wikipedia.languages import WikiLanguage, database_of, edition_of
from irpretrain.wikipedia.wikitext import parse_article

# A text; its identifier and text; a dictionary with `id`, `title`, `url` and `text`, or JSONL files' other names for
# them; or a record of a reader, which may have sections and links.
GivenDocument = str | tuple[str, str] | Mapping[str, Any] | Document
KEYS = frozenset({"document_id", "title", "url", "body"})
# Column → its names in JSONL files, itself among them.
SYNONYMS = {"document_id": IDENTIFIERS, "body": BODIES}
KNOWN_KEYS = KEYS.union(*SYNONYMS.values())
# Of processor time that `parse_wikitext` may take, as a page of a dump by default.
PARSING_SECONDS = 60.0
# Keys whose value must not be missing where they stand; a missing value of others counts as none.
NEEDED_KEYS = ("document_id", "body")


def parse_wikitext(wikitext: str, title: str = "", language: str = "en") -> Document:
    """Return plain text, sections and links of a page of a Wikipedia.

    Names of namespaces, such as Category, are those that MediaWiki has in the language; a dump says its own besides.

    Args:
        wikitext: the source of the page.
        title: the page's.
        language: code of the edition, such as de.

    Raises:
        ConfigError: no edition of this language is known.
        InputError: the page takes more than a minute of processor time; measured in the main thread only.

    Examples:
        >>> page = parse_wikitext("A '''pear''' is a [[fruit|sweet fruit]].\\n== Use ==\\nIn [[pie]]s.", "Pear")
        >>> page.body
        'A pear is a sweet fruit.\\nUse\\nIn pies.'
        >>> [(link.target, page.body[link.start : link.end]) for link in page.links]
        [('fruit', 'sweet fruit'), ('pie', 'pies')]
        >>> from irpretrain import build_tree
        >>> tree = build_tree(page.title, page.sections)
        >>> [tree.path(number) for number in tree.leaves()]
        [('Pear', 'Use')]
    """
    wikitext, title = checked_text(wikitext, "wikitext: "), checked_text(title, "title: ")
    if not isinstance(language, str) or not (edition := edition_of(language)):
        raise ConfigError(
            f"language: no Wikipedia is known in {language!r}; give a code such as en, de or zh"
        )
    wiki_language = _language_of(edition)
    try:
        with processor_time_limit(PARSING_SECONDS):
            article = parse_article(wiki_language.with_page_names(wikitext, title), wiki_language)
    except TimeoutError as error:
        raise InputError("wikitext", f"the page {title[:80]!r} {error}") from None
    return Document(
        position=0,
        document_id=title.replace(" ", "_"),
        title=title,
        url="",
        body=article.text,
        sections=article.sections,
        links=article.links,
        disambiguation=article.disambiguation,
    )


@cache
def _language_of(edition: str) -> WikiLanguage:
    return WikiLanguage.of(SiteInfo(database_of(edition)))


def read_documents(path: str | Path, format: str | None = None, **options: Any) -> Iterator[Document]:
    """Yield the documents of a file, a folder, `ir_datasets:<id>` or `embedded:<asset>`.

    docs/corpora.md has formats and their options; without a format, the first file's beginning tells it. Options
    `malformed` and `files` as in `Collection.read`.

    Raises:
        InputError: there is no such file, more than one record in a thousand cannot be read, or two documents have the
            same identifier.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> folder = TemporaryDirectory()
        >>> file = Path(folder.name, "fruit.jsonl")
        >>> _ = file.write_text('{"id": "a", "title": "Pear", "text": "A fruit."}\\n')
        >>> [(document.document_id, document.title, document.body) for document in read_documents(file)]
        [('a', 'Pear', 'A fruit.')]
    """
    with TemporaryDirectory(prefix="irpretrain-") as folder:
        config, source = describe_source(CorpusConfig, path, format, options, folder)
        reader = format_of("documents", config.format)
        tally = RecordTally(config.malformed, "malformed")
        identifiers, redirect_count = set[str](), 0
        with naming({Path(folder): str(path)}):
            for file in config.files_in(source):
                records = reader.read(file, reader.options(**config.options), Share())
                for record in tally.sound(file, records):
                    if not isinstance(record, Document):
                        redirect_count += 1
                        continue
                    if record.document_id in identifiers:
                        second_location = describe_location_in(file, record.position, config.format)
                        fault = f"document id {record.document_id!r} occurs twice: again {second_location}"
                        raise InputError(file, fault, remedy=UNIQUE_IDENTIFIERS)
                    identifiers.add(record.document_id)
                    yield record
            tally.settle()
            if not identifiers:
                raise no_documents(path, [tally.counts()])
        report_left_out(str(path), tally.counts())
        if redirect_count:
            notice(str(path), f"left out: {count_of(redirect_count, 'redirect')}")


def report_left_out(source: str, counts: Mapping[str, Any]) -> None:
    """Say which records are no documents, and which text and fields are not read, from a `RecordTally`'s counts."""
    if reasons := left_out_reasons([counts]):
        notice(source, f"left out: {reasons}")
    if (loss := bare_texts([counts])).count:
        notice(source, loss.warning())
    if text := unread_fields(counts):
        notice(source, text)


def document_rows(documents: Iterable[GivenDocument] | Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield rows of DOCUMENTS; a document without an identifier is named by its number, from 0.

    Raises:
        ConfigError: these are no documents, an identifier occurs twice or cannot stand in a run, a text is missing, or
            a mapping has a key that no document has.
    """
    documents = frame_documents(documents) if is_frame(documents) else by_label(documents, "documents")
    if isinstance(documents, Mapping):
        if documents.keys() & set(BODIES) and documents.keys() <= KNOWN_KEYS:
            raise ConfigError("documents: this is one document; put it into a list")
        documents = documents.items()
    if isinstance(documents, str | bytes) or not isinstance(documents, Iterable):
        raise ConfigError(
            f"documents: give a list, not {reprlib.repr(documents)}; Collection.read reads files"
        )
    seen_ids = set[str]()
    for position, document in enumerate(documents):
        row = _row(document, position)
        document_id = row["document_id"]
        fault = identifier_fault(document_id)
        if document_id in seen_ids:
            fault = f"the identifier {document_id!r} occurs twice"
        if fault:
            raise ConfigError(f"document {position}: {fault}")
        seen_ids.add(document_id)
        yield row | {"part": 0, "position": position}


def _row(document: GivenDocument, position: int) -> dict[str, Any]:
    if isinstance(document, Document):
        return document.row()
    if isinstance(document, str):
        document = {"body": document}
    elif not isinstance(document, Mapping):
        if not isinstance(document, tuple | list) or len(document) != 2:
            raise ConfigError(
                f"document {position}: a text, an identifier and a text, or a mapping is needed, not "
                f"{reprlib.repr(document)}"
            )
        document = dict(zip(("document_id", "body"), document, strict=True))
    if unknown_keys := sorted(document.keys() - KNOWN_KEYS, key=str):
        raise ConfigError(
            f"document {position}: {unknown_keys[0]!r} is unknown; known are {', '.join(sorted(KNOWN_KEYS))}"
        )
    given_names = {key: name for key, names in SYNONYMS.items() for name in names if name in document}
    document = _with_column_names(document, position)
    if "body" not in document:
        raise ConfigError(f"document {position}: body is missing")
    values = {key: value for key, value in document.items() if key in NEEDED_KEYS or not _is_missing(value)}
    document_id = values.get("document_id", position)
    if isinstance(document_id, Integral):
        document_id = str(document_id)
    texts = {key: values.get(key, "") for key in ("title", "url", "body")}
    for key, text in {**texts, "document_id": document_id}.items():
        if not isinstance(text, str):
            location = f"document {position}: {given_names.get(key, key)}"
            raise ConfigError(f"{location}: a text is needed, not {reprlib.repr(text)}")
    return {**{key: clean_text(text) for key, text in texts.items()}, "document_id": document_id}


def _with_column_names(document: Mapping[str, Any], position: int) -> dict[str, Any]:
    renamed = dict(document)
    for column, names in SYNONYMS.items():
        keys = [name for name in names if name in document]
        if len(keys) > 1:
            raise ConfigError(f"document {position}: {keys[0]!r} and {keys[1]!r} mean the same; give one")
        for key in keys:
            renamed[column] = renamed.pop(key)
    return renamed


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value) or repr(value) == "<NA>"
