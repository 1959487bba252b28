"""Documents cut into passages, for encoders that see less than a document."""

from __future__ import annotations

import re
from collections.abc import Iterator

from irpretrain.corpora.records import Document

PASSAGES_PER_DOCUMENT = 1 << 16
"""More passages than any document may have, so that a passage's place is one number; the last takes the rest."""

WORD = re.compile(r"\S+")


def passages(document: Document, words: int) -> Iterator[Document]:
    """Yield passages of `words` white-space words, each with the document's title and address.

    A rest of fewer than half as many words joins the last passage. Passage n of document d is called d#n; its
    position keeps passages in the order of their documents. The text between words is left as it is.
    """
    spans = [match.span() for match in WORD.finditer(document.body)]
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
