"""Documents from files, from wikitext, and as anyone has them."""

import reprlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from numbers import Integral
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from irpretrain.config.corpora import CorpusConfig
from irpretrain.config.explain import explain
from irpretrain.contracts import DOCUMENTS
from irpretrain.corpora.characters import clean_text, identifier_fault
from irpretrain.corpora.embedded import materialise, read_manifest, resolve
from irpretrain.corpora.files import list_files
from irpretrain.corpora.policy import Tally, told_reasons
from irpretrain.corpora.records import Document, Share
from irpretrain.corpora.registry import format_module
from irpretrain.corpora.shards import document_row
from irpretrain.errors import ConfigError
from irpretrain.library.given import naming
from irpretrain.progress import notice
from irpretrain.resources import resources_directory
from irpretrain.wikipedia.dump import SiteInfo
from irpretrain.wikipedia.languages import WikiLanguage, database_of, edition_of
from irpretrain.wikipedia.wikitext import parse_article

GivenDocument = str | tuple[str, str] | Mapping[str, Any] | Document
"""A text; its identifier and text; columns of DOCUMENTS, at least `body`; or a record of a reader."""
KEYS = frozenset(DOCUMENTS.schema.names) - {"part", "position"}
NEEDED = ("document_id", "body")
"""Keys whose value must not be missing where they stand; a missing value of others counts as none."""


def parse_wikitext(wikitext: str, title: str = "", language: str = "en") -> Document:
    """Return plain text, sections and links of a page of a Wikipedia.

    Names of namespaces, such as Category, are those that MediaWiki has in the language; a dump says its own besides.

    Args:
        wikitext: the source of the page.
        title: the page's.
        language: code of the edition, such as de.

    Raises:
        ConfigError: no edition of this language is known.

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
    if not (edition := edition_of(language)):
        raise ConfigError(
            f"language: no Wikipedia is known in {language!r}; give a code such as en, de or zh"
        )
    names = WikiLanguage.of(SiteInfo(database_of(edition)))
    article = parse_article(wikitext, names)
    return Document(
        position=0,
        document_id=title.replace(" ", "_"),
        title=title,
        url="",
        body=article.text,
        sections=article.sections,
        links=article.links,
        disambiguation=names.is_disambiguation(wikitext),
    )


def read_documents(path: str | Path, format: str = "jsonl", **options: Any) -> Iterator[Document]:
    """Yield the documents of a file, a folder, `ir_datasets:<id>` or `embedded:<asset>`.

    docs/corpora.md has formats and their options. Option `malformed`: "skip" leaves out what cannot be read.

    Raises:
        InputError: there is no such file, or more than one record in a thousand cannot be read.
    """
    with TemporaryDirectory(prefix="irpretrain-") as folder:
        config, source = corpus_options(path, format, options, folder)
        reader = format_module("documents", config.format)
        tally = Tally(config.malformed, "malformed")
        with naming(str(path), folder):
            for file in list_files(source, reader.SUFFIXES):
                records = reader.read(file, reader.Options(**config.options), Share())
                yield from (record for record in tally.sound(file, records) if isinstance(record, Document))
            tally.settle()
        say_what_is_left_out(str(path), tally.counts())


def say_what_is_left_out(source: str, counts: Mapping[str, Any]) -> None:
    """Say which records are no documents, from the counts of a `Tally`."""
    if reasons := told_reasons([counts]):
        notice(source, f"left out: {reasons}")


def corpus_options(
    path: str | Path, format: str, options: Mapping[str, Any], folder: str | Path
) -> tuple[CorpusConfig, Path]:
    """Return the checked options of a corpus in one shard, and the file or folder to read.

    Embedded data are copied into `folder`; for a data set of ir_datasets the file that stands for it is written there.
    """
    kind, name = resolve(str(path))
    chosen = "ir_datasets" if kind == "ir_datasets" else format
    given: dict[str, Any] = {"format": chosen, "path": str(path), "options": dict(options)}
    if "malformed" in options:
        given["malformed"] = given["options"].pop("malformed")
    config = explain(CorpusConfig, given, "documents", top=True)
    if kind == "embedded":
        manifest = resources_directory() / "embedded.yaml"
        first_file = next(iter(read_manifest(manifest).asset(str(name)).files))
        copy = Path(folder) / Path(first_file).name
        materialise(str(name), manifest, copy)
        return config, copy
    if kind != "ir_datasets":
        return config, Path(path)
    from irpretrain.corpora.ir_datasets_library import describe_part

    description = Path(folder) / "ir-dataset.json"
    describe_part(str(name), "docs", False, description)
    return config, description


def document_rows(documents: Iterable[GivenDocument] | Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield rows of DOCUMENTS; a document without an identifier is named by its number, from 0.

    Raises:
        ConfigError: these are no documents, an identifier occurs twice or cannot stand in a run, a text is missing, or
            a mapping has a key that no document has.
    """
    if isinstance(documents, Mapping):
        if "body" in documents and documents.keys() <= KEYS:
            raise ConfigError("documents: this is one document; put it into a list")
        documents = documents.items()
    if hasattr(documents, "columns"):  # to iterate over a frame of pandas gives the names of its columns
        raise ConfigError("documents: give frame.to_dict('records'), with columns document_id and body")
    if isinstance(documents, str | bytes) or not isinstance(documents, Iterable):
        raise ConfigError(
            f"documents: several are needed, not {reprlib.repr(documents)}; Collection.read reads files"
        )
    seen = set[str]()
    for position, document in enumerate(documents):
        row = _row(document, position)
        name = row["document_id"]
        if fault := f"the identifier {name!r} occurs twice" if name in seen else identifier_fault(name):
            raise ConfigError(f"document {position}: {fault}")
        seen.add(name)
        yield row | {"part": 0, "position": position}


def _row(document: GivenDocument, position: int) -> dict[str, Any]:
    if isinstance(document, Document):
        return document_row(0, document)
    if isinstance(document, str):
        document = {"body": document}
    elif not isinstance(document, Mapping):
        if not isinstance(document, tuple | list) or len(document) != 2:
            raise ConfigError(
                f"document {position}: a text, an identifier and a text, or a mapping is needed, not "
                f"{reprlib.repr(document)}"
            )
        document = dict(zip(("document_id", "body"), document, strict=True))
    if unknown := sorted(document.keys() - KEYS):
        raise ConfigError(
            f"document {position}: {unknown[0]!r} is unknown; known are {', '.join(sorted(KEYS))}"
        )
    if "body" not in document:
        raise ConfigError(f"document {position}: body is missing")
    given = {key: value for key, value in document.items() if key in NEEDED or not _is_missing(value)}
    name = given.get("document_id", position)
    texts = {key: given.get(key, "") for key in ("title", "url", "body")}
    for key, text in {**texts, "document_id": str(name) if isinstance(name, Integral) else name}.items():
        if not isinstance(text, str):
            raise ConfigError(f"document {position}: {key}: a text is needed, not {reprlib.repr(text)}")
    parts = {key: [_plain(part) for part in given.get(key, ())] for key in ("sections", "links")}
    return {
        **{key: clean_text(text) for key, text in texts.items()},
        **parts,
        "document_id": str(name),
        "disambiguation": bool(given.get("disambiguation", False)),
    }


def _is_missing(value: Any) -> bool:
    """Whether a value is None or a NaN, as tables have them for what is not there."""
    return value is None or (isinstance(value, float) and value != value) or repr(value) == "<NA>"


def _plain(part: Any) -> dict[str, Any]:
    return dict(part) if isinstance(part, Mapping) else asdict(part)
