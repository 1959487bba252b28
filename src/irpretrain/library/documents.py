"""Documents from files, from wikitext, and as anyone has them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from irpretrain.config.corpora import CorpusConfig
from irpretrain.config.explain import explain
from irpretrain.contracts import DOCUMENTS
from irpretrain.corpora.characters import clean_text, identifier_fault
from irpretrain.corpora.embedded import materialise, read_manifest, resolve
from irpretrain.corpora.files import list_files
from irpretrain.corpora.policy import Tally
from irpretrain.corpora.records import Document, Share
from irpretrain.corpora.registry import format_module
from irpretrain.corpora.shards import document_row
from irpretrain.errors import ConfigError
from irpretrain.resources import resources_directory
from irpretrain.wikipedia.dump import SiteInfo
from irpretrain.wikipedia.languages import WikiLanguage
from irpretrain.wikipedia.wikitext import parse_article

GivenDocument = str | tuple[str, str] | Mapping[str, Any] | Document
"""A text; its identifier and text; columns of DOCUMENTS, at least `body`; or a record of a reader."""
KEYS = frozenset(DOCUMENTS.schema.names) - {"part", "position"}


def parse_wikitext(wikitext: str, title: str = "", language: str = "en") -> Document:
    """Return plain text, sections and links of a page of a Wikipedia.

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
    names = WikiLanguage.of(SiteInfo(language=language))
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

    docs/corpora.md has formats and their options.

    Raises:
        InputError: there is no such file, or more than one record in a thousand cannot be read.
    """
    with TemporaryDirectory(prefix="irpretrain-") as folder:
        config, source = corpus_options(path, format, options, folder)
        reader = format_module("documents", config.format)
        tally = Tally(config.malformed, "malformed")
        for file in list_files(source, reader.SUFFIXES):
            records = reader.read(file, reader.Options(**config.options), Share())
            yield from (record for record in tally.sound(file, records) if isinstance(record, Document))
        tally.settle()


def corpus_options(
    path: str | Path, format: str, options: Mapping[str, Any], folder: str | Path
) -> tuple[CorpusConfig, Path]:
    """Return the checked options of a corpus in one shard, and the file or folder to read.

    Embedded data are copied into `folder`; for a data set of ir_datasets the file that stands for it is written there.
    """
    kind, name = resolve(str(path))
    chosen = "ir_datasets" if kind == "ir_datasets" else format
    given = {"format": chosen, "path": str(path), "options": dict(options)}
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


def document_rows(documents: Iterable[GivenDocument]) -> Iterator[dict[str, Any]]:
    """Yield rows of DOCUMENTS; a document without an identifier is named by its number, from 0.

    Raises:
        ConfigError: an identifier occurs twice or cannot stand in a run, or a mapping has a key that no document has.
    """
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
        document = dict(zip(("document_id", "body"), document, strict=True))
    if unknown := sorted(document.keys() - KEYS):
        raise ConfigError(
            f"document {position}: {unknown[0]!r} is unknown; known are {', '.join(sorted(KEYS))}"
        )
    texts = {name: clean_text(str(document.get(name, ""))) for name in ("title", "url", "body")}
    parts = {name: [_plain(part) for part in document.get(name, ())] for name in ("sections", "links")}
    return {
        **texts,
        **parts,
        "document_id": str(document.get("document_id", position)),
        "disambiguation": bool(document.get("disambiguation", False)),
    }


def _plain(part: Any) -> dict[str, Any]:
    return dict(part) if isinstance(part, Mapping) else asdict(part)
