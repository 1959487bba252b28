"""The index that lies beside a multistream dump: which pages are in the stream that holds a byte.

Reading needs no index, as blocks are found by their marks (`irpretrain.corpora.bzip2_blocks`). The index serves
to say what is lost where a block is damaged. Its lines are `<byte at which the stream begins>:<page id>:<title>`.
"""

import re
from pathlib import Path

from irpretrain.corpora.files import read_lines
from irpretrain.corpora.records import Malformed


def index_path(dump: Path) -> Path | None:
    """The index of a dump: for `…-multistream1.xml-p1p9.bz2` it is `…-multistream-index1.txt-p1p9.bz2`; or None."""
    name = dump.name.replace("-multistream", "-multistream-index", 1).replace(".xml", ".txt", 1)
    index = dump.with_name(name)
    return index if name != dump.name and index.is_file() else None


def pages_around(dump: Path, byte: int) -> list[str]:
    """Return the titles of the pages in the stream that holds `byte`; none where there is no index that tells."""
    index = index_path(dump)
    stream, titles = -1, list[str]()
    for line in read_lines(index) if index else ():
        if isinstance(line, Malformed):
            break
        start, _, rest = line.text.partition(":")
        if not re.fullmatch("[0-9]{1,18}", start) or int(start) > byte:
            break
        if int(start) != stream:
            stream, titles = int(start), []
        titles.append(rest.partition(":")[2])
    return titles
