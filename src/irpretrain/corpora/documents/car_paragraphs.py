"""Format `car-paragraphs`: the paragraph corpus of TREC CAR; a paragraph's text, links included, is its body."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from irpretrain.corpora.car import identifier, read_items
from irpretrain.corpora.checked import NoOptions, document
from irpretrain.corpora.records import AnyDocument, Malformed, Share, everything

OPTIONS = NoOptions

SUFFIXES = (".cbor",)
PARAGRAPHS = 2


def read(path: Path, options: NoOptions, share: Share = everything) -> Iterator[AnyDocument]:
    """Yield the paragraphs of one file; a position is the number of the paragraph in it."""
    for item in read_items(path, PARAGRAPHS):
        if isinstance(item, Malformed):
            if share(item.position):
                yield item
        elif share(item[0]):
            yield _document(*item)


def _document(position: int, item: Any) -> AnyDocument:
    name = identifier(item[1]) if isinstance(item, list) and len(item) == 3 and item[0] == 0 else None
    text = _text(item[2]) if name is not None else None
    if name is None or text is None:
        return Malformed(position, "no paragraph", repr(item)[:60])
    return document(position, name, "", text)


def _text(bodies: Any) -> str | None:
    """Return the text of a paragraph's bodies: texts, and the anchors of links; None if one is neither."""
    parts = list[str]()
    for body in bodies if isinstance(bodies, list) else [None]:
        kind, content = (body[0], body[1]) if isinstance(body, list) and len(body) == 2 else (None, None)
        if kind == 1 and isinstance(content, list) and len(content) > 4:
            content = content[4]
        elif kind != 0:
            return None
        if not isinstance(content, str):
            return None
        parts.append(content)
    return "".join(parts)
