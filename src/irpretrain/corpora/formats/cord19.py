"""Format `cord19`: CORD-19 (Wang et al., 2020): a table of papers, metadata.csv.

A paper's title and abstract are its document, as in TREC-COVID. A paper with several sources has several rows; the
first counts.
"""

import csv
import io
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from irpretrain.corpora.checked import NoOptions, document, several_records
from irpretrain.corpora.fields import repeated_names
from irpretrain.corpora.registry import Format
from irpretrain.foundation.characters import clean_line
from irpretrain.foundation.files import DAMAGE, GET_AGAIN, damage_text, open_bytes
from irpretrain.foundation.records import WHOLE_FILE, AnyDocument, Malformed, Share, Skipped, max_record_bytes

NEEDED_COLUMNS = ("cord_uid", "title", "abstract")

# Begins a row: every cord_uid has eight letters and digits.
_ROW = re.compile("^[0-9a-z]{8},", re.MULTILINE)
REPEATED = "repeated identifier"


def read(path: Path, options: NoOptions, share: Share = WHOLE_FILE) -> Iterator[AnyDocument]:
    """Yield the papers of one table; a position is the number of the row behind the header."""
    seen_ids = set[str]()
    for row in _rows(path):
        if isinstance(row, Malformed):
            if share(row.position):
                yield row
            continue
        position, line, cells = row
        identifier = cells["cord_uid"]
        is_repeated = identifier in seen_ids
        seen_ids.add(identifier)
        if share(position):
            yield Skipped(position, REPEATED) if is_repeated else _document(position, line, cells)


def _rows(path: Path) -> Iterator[tuple[int, int, dict[str, str]] | Malformed]:
    """Yield (position, line, cells by column) of every row; a fault of the file ends it."""
    position, columns = -1, list[str]()
    # A process reads one table at a time; the limit is the module's own and holds for all of its readers.
    csv.field_size_limit(max_record_bytes())
    with open_bytes(path) as stream, io.TextIOWrapper(stream, "utf-8-sig", newline="") as text:
        table = csv.reader(iter(partial(text.readline, max_record_bytes()), ""), strict=True)
        try:
            for cells in table:
                if position < 0:
                    position, columns = 0, [name.lstrip("\ufeff").strip() for name in cells]
                    detail = ""
                    if missing_columns := [name for name in NEEDED_COLUMNS if name not in columns]:
                        detail = (
                            f"there is no column {missing_columns[0]}; there are {', '.join(columns[:20])}"
                        )
                    elif repeated_columns := repeated_names(columns):
                        detail = f"its header names a column twice: {repeated_columns[0][:80]}"
                    if detail:
                        yield Malformed(0, "no table of CORD-19", clean_line(detail)[:300], 1)
                        return
                    continue
                if len(cells) != len(columns):
                    detail = f"{len(cells)} instead of {len(columns)}"
                    yield Malformed(position, "wrong number of columns", detail, table.line_num)
                elif joined_rows := sum(len(_ROW.findall(cell)) for cell in cells if "\n" in cell):
                    yield several_records(position, joined_rows + 1, "<cord_uid>,", table.line_num)
                else:
                    yield position, table.line_num, dict(zip(columns, cells, strict=True))
                position += 1
        except csv.Error as error:
            reason, detail = "broken CSV", str(error)
        except UnicodeDecodeError as error:
            reason, detail = "not valid UTF-8", str(error)
        except DAMAGE as error:
            reason, detail = "damaged archive", damage_text(path, error)
        else:
            if position < 0:
                yield Malformed(0, "no table of CORD-19", "the file is empty", 1)
            return
        line = table.line_num + 1
        yield Malformed(max(position, 0), reason, detail, line, remedy=GET_AGAIN, loses_more=True)


def _document(position: int, line: int, cells: dict[str, str]) -> AnyDocument:
    abstract, url = cells["abstract"], cells.get("url", "").split(";")[0]
    body = abstract if abstract.strip() else ""
    return document(position, cells["cord_uid"], cells["title"], body, url, line)


DOCUMENTS = Format(NoOptions, read, suffixes=(".csv",))
