"""One page of a crawl as a document: shared by the formats of Gov2 and ClueWeb09."""

from __future__ import annotations

import re

from irpretrain.corpora.characters import clean_line, clean_text
from irpretrain.corpora.html_text import decode_page, page_text
from irpretrain.corpora.records import Document, Skipped

_CONTENT_TYPE = re.compile(rb"^content-type:[ \t]*([^\r\n]*)", re.IGNORECASE | re.MULTILINE)
_HEADERS_END = re.compile(rb"\r?\n[ \t]*\r?\n")
_TEXT = re.compile(rb"\s*(?:text/|application/(?:xhtml|xml)|$)", re.IGNORECASE)


def split_response(response: bytes) -> tuple[bytes, bytes]:
    """Return the HTTP headers and the content of a response; one without an empty line has no content."""
    end = _HEADERS_END.search(response)
    return (response, b"") if end is None else (response[: end.start()], response[end.end() :])


def page(
    position: int, document_id: str, url: str, headers: bytes, content: bytes, longest: int
) -> Document | Skipped:
    """Return a page as a document: its title, its address, its text.

    What is no text by its content type, such as a picture, is skipped, and so is a page of which nothing is left as
    text. Of a longer page than `longest` bytes only so much is read.
    """
    named = _CONTENT_TYPE.search(headers)
    content_type = named[1] if named else b""
    if not _TEXT.match(content_type):
        kind = content_type.split(b";")[0].decode("ascii", "replace").strip()
        return Skipped(position, "no text", f"{document_id}: {clean_line(kind[:40])}")
    markup = decode_page(content[:longest], content_type)
    is_plain = content_type.strip().lower().startswith(b"text/plain")
    title, text = ("", markup.strip()) if is_plain else page_text(markup)
    title, body = clean_line(title), clean_text(text)
    if not title and not body.strip():
        return Skipped(position, "empty document", place=f"document {document_id}")
    return Document(position, document_id, title, clean_line(url), body)
