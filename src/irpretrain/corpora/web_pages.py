"""One page of a crawl as a document, in time linear in its length: shared by the formats of Gov2 and ClueWeb09.

The text is what browsers display, without layout: no scripts, styles and comments, block elements begin a line,
entities become characters. Broken markup is read as browsers read it if that needs no backtracking: a comment, script
or tag without an end reaches to the end of the page.
"""

import codecs
import re
import zlib

from irpretrain.corpora.checked import document
from irpretrain.foundation.characters import clean_line, unescaped
from irpretrain.foundation.records import AnyDocument, Skipped

_CHARSET = re.compile(rb"charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.\-]{1,40})", re.IGNORECASE)

# Names that pages give, as browsers understand them (WHATWG's Encoding Standard), and Python's; no other is used.
_CODECS = {
    "utf8": "utf-8", "utf-8": "utf-8", "us-ascii": "windows-1252", "ascii": "windows-1252",
    "iso-8859-1": "windows-1252", "iso8859-1": "windows-1252", "iso_8859-1": "windows-1252", "latin1": "windows-1252",
    "latin-1": "windows-1252", "windows-1252": "windows-1252", "cp1252": "windows-1252", "x-ansi": "windows-1252",
    "gb2312": "gb18030", "gbk": "gb18030", "gb18030": "gb18030", "hz-gb-2312": "hz", "big5": "big5hkscs",
    "shift_jis": "cp932", "shift-jis": "cp932", "x-sjis": "cp932", "windows-31j": "cp932", "euc-jp": "euc_jp",
    "iso-2022-jp": "iso2022_jp", "euc-kr": "cp949", "ks_c_5601-1987": "cp949", "koi8-r": "koi8_r", "koi8-u": "koi8_u",
    "utf-16": "utf-16-le", "utf-16le": "utf-16-le", "utf-16be": "utf-16-be", "tis-620": "cp874",
    "macintosh": "mac_roman",
    **{f"iso-8859-{n}": f"iso8859_{n}" for n in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)},
    "iso-8859-9": "cp1254",
    **{f"windows-{n}": f"cp{n}" for n in (874, 1250, 1251, 1253, 1254, 1255, 1256, 1257, 1258)},
}  # fmt: skip

# How gzip and zlib begin.
_PACKED = re.compile(rb"\x1f\x8b|\x78[\x01\x5e\x9c\xda]")
_UNPACK_BYTES = 1 << 16
# Bytes that no text has in an encoding of the web, and that whatever is packed has.
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")

# Bytes that are read of a page.
LONGEST_PAGE = 1_000_000

# Bytes of a page in which it may name its encoding itself.
BEGINNING = 2048

_OPENING = re.compile(r"<(?:!--|([!?])|(/?)([A-Za-z][A-Za-z0-9:]{0,30}))")
# Possessive, as it keeps no state of earlier rounds; a round that fails has read nothing (foundation/test_patterns.py).
_TAG_END = re.compile(r"(?:[^<>\"']|\"[^\"<]{0,2000}\"|'[^'<]{0,2000}'|[\"'])*+>")
_SKIPPED_ELEMENTS = frozenset(
    {"script", "style", "noscript", "template", "iframe", "object", "applet", "svg", "textarea"}
)
_BLOCK_ELEMENTS = frozenset((
    "address", "article", "aside", "blockquote", "body", "br", "center", "dd", "details", "dialog", "dir",
    "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "frame", "h1", "h2", "h3", "h4",
    "h5", "h6", "head", "header", "hr", "html", "legend", "li", "main", "menu", "nav", "ol", "option", "p",
    "pre", "section", "select", "table", "tbody", "tfoot", "thead", "title", "tr", "ul",
))  # fmt: skip
_SPACED_ELEMENTS = frozenset({"td", "th", "img", "input"})
_SPACES = re.compile(r"[^\S\n]+")
_LINES = re.compile(r"\s*\n\s*")
_CONTENT_TYPE = re.compile(rb"^content-type:[ \t]*([^\r\n]*)", re.IGNORECASE | re.MULTILINE)
# A line that begins with white space continues the one above (RFC 9112, 5.2).
_ENCODING = re.compile(
    rb"^(content|transfer)-encoding[ \t]*:([^\r\n]*(?:\r?\n[ \t][^\r\n]*)*)", re.IGNORECASE | re.MULTILINE
)

# Content encodings that the standard library does not read; names that are none, such as utf-8, are ignored.
_NOT_UNPACKED = frozenset({"br", "compress", "x-compress", "zstd"})
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]{0,1000})?\r?\n")
_HEADERS_END = re.compile(rb"\r?\n[ \t]*\r?\n")
_TEXT = re.compile(rb"\s*(?:text/|application/(?:xhtml|xml)|$)", re.IGNORECASE)


def decode_page(content: bytes, content_type: bytes = b"", is_cut: bool = False) -> str:
    """Return the characters of a page: by byte order mark, HTTP header, its own declaration, else UTF-8 or
    Windows-1252.

    Invalid bytes become U+FFFD; nothing is refused. A character that the end of a cut Unicode page breaks is left out.
    """
    for byte_order_mark, encoding in (
        (codecs.BOM_UTF8, "utf-8"),
        (b"\xff\xfe", "utf-16-le"),
        (b"\xfe\xff", "utf-16-be"),
    ):
        if content.startswith(byte_order_mark):
            return _decode(content[len(byte_order_mark) :], encoding, "replace", is_cut)
    for searched_bytes in (content_type, content[:BEGINNING]):
        if (declaration := _CHARSET.search(searched_bytes)) and (
            codec := _CODECS.get(declaration[1].decode("ascii").lower())
        ):
            if codec.startswith("utf-16") and searched_bytes is not content_type:
                codec = "utf-8"  # who could read this word was reading ASCII
            return _decode(content, codec, "replace", is_cut)
    try:
        return _decode(content, "utf-8", "strict", is_cut)
    except UnicodeDecodeError:
        return content.decode("windows-1252", "replace")


def _decode(content: bytes, encoding: str, errors: str, is_cut: bool) -> str:
    if not encoding.startswith("utf-"):  # other incremental decoders raise errors of their own ("hz")
        return content.decode(encoding, errors)
    return codecs.getincrementaldecoder(encoding)(errors).decode(content, final=not is_cut)


def page_text(markup: str) -> tuple[str, str]:
    """Return the title and the text of a page; the title is no part of the text, lines of the text are never empty."""
    title, text_parts, position = "", list[str](), 0
    while (tag := _OPENING.search(markup, position)) is not None:
        text_parts.append(markup[position : tag.start()])
        name = (tag[3] or "").lower()
        if not name:
            end = markup.find("-->" if tag[0] == "<!--" else ">", tag.end() if tag[1] else tag.end() - 2)
            position = len(markup) if end < 0 else end + (1 if tag[1] else 3)
            continue
        position = _end_of_tag(markup, tag.end())
        if name in _BLOCK_ELEMENTS:
            text_parts.append("\n")
        elif name in _SPACED_ELEMENTS:
            text_parts.append(" ")
        if tag[2]:
            continue
        if name == "title":
            end = _end_of_element(markup, position, name)
            title, position = title or _as_text(markup[position:end]).replace("\n", " "), end
        elif name in _SKIPPED_ELEMENTS:
            position = _end_of_element(markup, position, name)
    text_parts.append(markup[position:])
    return title, _as_text("".join(text_parts))


def _end_of_tag(markup: str, start: int) -> int:
    tag_end = _TAG_END.match(markup, start)
    if tag_end is None:  # `<` within the tag: it ends there, so that what is no tag costs little text
        next_tag = markup.find("<", start)
        return len(markup) if next_tag < 0 else next_tag
    return tag_end.end()


def _end_of_element(markup: str, start: int, name: str) -> int:
    closing = re.compile(rf"</{name}\b", re.IGNORECASE).search(markup, start)
    return len(markup) if closing is None else closing.start()


def _as_text(markup: str) -> str:
    return _LINES.sub("\n", _SPACES.sub(" ", unescaped(markup))).strip()


def split_response(response: bytes) -> tuple[bytes, bytes]:
    """Return the HTTP headers and the content of a response; one without an empty line has no content."""
    blank_line = _HEADERS_END.search(response)
    if blank_line is None:
        return response, b""
    return response[: blank_line.start()], response[blank_line.end() :]


class BrokenChunksError(ValueError):
    """The chunks of a response are not whole: a wrong size, or an end that is missing."""


def unpack_content(headers: bytes, content: bytes, is_cut: bool = False) -> bytes | str:
    """Return the content of a response without chunks, gzip and deflate, or the name of an encoding that stays.

    At most `LONGEST_PAGE` bytes and one are unpacked. Many archives keep these headers of contents that they have
    unpacked: such a content stays unchanged. `is_cut`: whether the archive says that it has the beginning alone.

    Raises:
        zlib.error: what is packed is damaged, or ends early.
        BrokenChunksError: a chunk is not as long as its size says, or the last one is missing.
    """
    transfer_codings, content_codings = (_codings(headers, name) for name in (b"transfer", b"content"))
    if "chunked" in transfer_codings:
        content = _joined_chunks(content, is_cut)
    # The last one was applied last (RFC 9110, 8.4).
    for coding in reversed([*content_codings, *transfer_codings]):
        if coding in ("gzip", "x-gzip", "deflate"):
            content = _unzipped(content, coding == "deflate")
        elif coding in _NOT_UNPACKED:
            return coding
    return content


def _codings(headers: bytes, coding_kind: bytes) -> list[str]:
    """Return the names in all headers of content or transfer encoding, in their order."""
    values = (value for name, value in _ENCODING.findall(headers) if name.lower() == coding_kind)
    return b",".join(values).decode("ascii", "replace").lower().replace(",", " ").split()


def _joined_chunks(content: bytes, is_cut: bool) -> bytes:
    """Return chunks as one (RFC 9112, 7.1); what begins with no size stays as it is."""
    joined, position = bytearray(), 0
    while (chunk := _CHUNK.match(content, position)) is not None:
        start, end = chunk.end(), chunk.end() + int(chunk[1], 16)
        if start == end:
            return bytes(joined)
        joined += content[start:end]
        line_end = b"\r\n" if chunk[0].endswith(b"\r\n") else b"\n"
        if not content.startswith(line_end, end):
            if is_cut and end >= len(content):
                return bytes(joined)
            raise BrokenChunksError(
                f"chunk {chunk[1].decode()} at byte {position:,} is longer or shorter than its size"
            )
        position = end + len(line_end)
    if position and not is_cut and content[position:].strip() != b"0":
        raise BrokenChunksError(f"no size of a chunk at byte {position:,}")
    return bytes(joined) if position else content


def _unzipped(content: bytes, is_deflate: bool) -> bytes:
    """Return what gzip or deflate has packed; zlib.error where that is damaged or ends early.

    Content that is not packed stays as it is.
    """
    is_packed = bool(_PACKED.match(content))
    if not is_packed:
        return _inflated(content) if is_deflate else content
    unpacked, position = bytearray(), 0
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32)
    while position < len(content):
        unpacked += unpacker.decompress(
            content[position : position + _UNPACK_BYTES], LONGEST_PAGE + 1 - len(unpacked)
        )
        position = min(position + _UNPACK_BYTES, len(content)) - len(unpacker.unused_data)
        if len(unpacked) > LONGEST_PAGE:
            return bytes(unpacked)
        if unpacker.eof:
            if not content.startswith(b"\x1f\x8b", position):
                return bytes(unpacked)
            unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32)  # the next member of a gzip file
    raise zlib.error("the packed content ends early")


def _inflated(content: bytes) -> bytes:
    """Return what deflate without zlib's header has packed, as old servers send it; any other content as it is."""
    if not _CONTROL.search(content):  # some texts begin like a stream
        return content
    unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        unpacked = unpacker.decompress(content, LONGEST_PAGE + 1)
    except zlib.error:
        return content
    if not unpacker.eof and len(unpacked) <= LONGEST_PAGE:
        raise zlib.error("the packed content ends early")
    return unpacked


def page(position: int, document_id: str, url: str, headers: bytes, content: bytes) -> AnyDocument:
    """Return a page as a document: its title, its address, its text, of at most `LONGEST_PAGE` bytes.

    What is no text by its content type, such as a picture, is skipped, and so is a page without text.
    """
    type_match = _CONTENT_TYPE.search(headers)
    content_type = type_match[1] if type_match else b""
    if not _TEXT.match(content_type):
        media_type = content_type.split(b";")[0].decode("ascii", "replace").strip()
        detail = f"{document_id}: {clean_line(media_type[:40])}"
        return Skipped(position, "no text", detail, document_id=document_id)
    markup = decode_page(content[:LONGEST_PAGE], content_type, is_cut=len(content) > LONGEST_PAGE)
    is_plain_text = content_type.strip().lower().startswith(b"text/plain")
    title, text = ("", markup.strip()) if is_plain_text else page_text(markup)
    return document(position, document_id, title, text, url)
