"""Format `trecweb`: web pages between `<DOC>` and `</DOC>`, each behind its HTTP headers, as in Gov2.

<DOC>
<DOCNO>GX000-00-0000000</DOCNO>
<DOCHDR>
http://sgra.jpl.nasa.gov
HTTP/1.1 200 OK
Content-type: text/html
</DOCHDR>
<html> ...
</DOC>
"""

import re
from collections.abc import Iterator
from pathlib import Path

from irpretrain.corpora.checked import NoOptions, converted
from irpretrain.corpora.doc_blocks import DocBlock, read_blocks
from irpretrain.corpora.registry import Format
from irpretrain.corpora.web_pages import page
from irpretrain.foundation.characters import identifier_fault
from irpretrain.foundation.records import WHOLE_FILE, AnyDocument, Share

_DOCNO = re.compile(rb"\s*<DOCNO>([^<>]{0,200})</DOCNO>")
_HEADER = re.compile(rb"\s*<DOCHDR>[ \t]*\r?\n?(.*?)</DOCHDR>[ \t]*\r?\n?", re.DOTALL)


def read(path: Path, options: NoOptions, share: Share = WHOLE_FILE) -> Iterator[AnyDocument]:
    """Yield the pages of one file; a position is the number of the page in it."""
    blocks = read_blocks(path, share, b"DOCHDR", followed_by=b"<DOCNO>")
    return converted(blocks, _document)


def _document(block: DocBlock) -> AnyDocument:
    number_match = _DOCNO.match(block.content)
    if number_match is None:
        return block.malformed("no identifier", "the page has no <DOCNO>")
    identifier = number_match[1].decode("utf-8", "replace").strip()
    if fault := identifier_fault(identifier):
        return block.malformed("bad identifier", fault)
    header = _HEADER.match(block.content, number_match.end())
    if header is None:
        return block.malformed("no headers", f"page {identifier} has no <DOCHDR> ... </DOCHDR>")
    url, _, headers = header[1].partition(b"\n")
    address = url.decode("utf-8", "replace").strip()
    content = block.content[header.end() :]
    return page(block.position, identifier, address, headers, content)


DOCUMENTS = Format(NoOptions, read, suffixes=("",))
