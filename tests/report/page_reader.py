"""What tests of pages and figures share: a data set of two shards, a text that a page must not take for its own, and
what stands in a page or a picture."""

import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from irpretrain.foundation.contracts import DOCUMENTS, QUERIES

HOSTILE = (
    "<script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">&amp;{{ 7*7 }}"
)


def write_data_set(folder: Path, rows: list[dict[str, Any]], queries: dict[str, str], qrels: str) -> None:
    """Documents, the first in a shard of its own, and queries with their judgements."""
    DOCUMENTS.write(folder / "documents-0.parquet", rows[:1])
    DOCUMENTS.write(folder / "documents-1.parquet", rows[1:])
    QUERIES.write(folder / "queries.parquet", [{"query_id": q, "text": text} for q, text in queries.items()])
    (folder / "qrels.txt").write_text(qrels)


def data_set_files(folder: Path) -> tuple[list[Path], Path, Path]:
    """The shards of documents, the queries and the judgements that `write_data_set` wrote."""
    documents = [folder / f"documents-{shard}.parquet" for shard in range(2)]
    return documents, folder / "queries.parquet", folder / "qrels.txt"


def texts_of_svg(path: Path) -> str:
    """All text of an SVG, in one line."""
    texts = ET.parse(path).iter("{http://www.w3.org/2000/svg}text")
    return " ".join(" ".join("".join(text.itertext()).split()) for text in texts)


def plain_text(html: str) -> str:
    """The text of a page between its tags, those in scripts and styles included, with single spaces."""
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


class Page(HTMLParser):
    """Elements with their attributes, those that are never closed, and all text of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "link", "img", "br", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def tags(self) -> list[str]:
        return [tag for tag, _ in self.elements]

    @property
    def text(self) -> str:
        """The text, with single spaces."""
        return " ".join("".join(self.texts).split())

    @property
    def addresses(self) -> list[str]:
        """What the page loads or leads to."""
        names = ("src", "srcset", "href", "action")
        return [
            attributes[name] or "" for _, attributes in self.elements for name in names if name in attributes
        ]

    def assert_no_code_of_texts(self) -> None:
        """Nothing of the texts has become an element that loads or runs, and nothing is asked of a network."""
        assert not {"img", "iframe", "object"} & set(self.tags)
        assert not any(name.startswith("on") for _, attributes in self.elements for name in attributes)
        assert self.addresses == ["data:,"]
