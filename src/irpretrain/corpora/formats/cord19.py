"""Format `cord19`: CORD-19 (Wang et al., 2020): a table of papers, metadata.csv.

A paper's title and abstract are its document, as in TREC-COVID. A paper with several sources has several rows; the
first counts.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from irpretrain.corpora.checked import NoOptions, document, several_records
from irpretrain.corpora.quoted_rows import CsvOptions, column_names, read_csv_rows
from irpretrain.corpora.registry import Format
from irpretrain.foundation.characters import displayed_names
from irpretrain.foundation.errors import InputError
from irpretrain.foundation.files import GET_AGAIN, FieldLine
from irpretrain.foundation.records import WHOLE_FILE, AnyDocument, Malformed, Share, Skipped

NEEDED_COLUMNS = ("cord_uid", "title", "abstract")
TABLE = CsvOptions(separator=",")

# Begins a row: every cord_uid has eight letters and digits.
_ROW = re.compile("^[0-9a-z]{8},", re.MULTILINE)
REPEATED = "repeated identifier"


def read(path: Path, options: NoOptions, share: Share = WHOLE_FILE) -> Iterator[AnyDocument]:
    """Yield the papers of one table; a position is the number of the row behind the header.

    Raises:
        InputError: the file is no table of CORD-19.
    """
    columns = column_names(path, TABLE)
    if missing_columns := [name for name in NEEDED_COLUMNS if name not in columns]:
        fault = f"there is no column {missing_columns[0]}; there are {displayed_names(columns) or 'none'}"
        raise InputError(path, f"no table of CORD-19: {fault}", 1, "Give the file metadata.csv.")
    seen_ids = set[str]()
    for row in read_csv_rows(path, TABLE, columns):  # of all shares: a paper may be repeated in another one
        paper = replace(row, remedy=GET_AGAIN) if isinstance(row, Malformed) else _paper(row, seen_ids)
        if share(row.position):
            yield paper


def _paper(row: FieldLine, seen_ids: set[str]) -> AnyDocument:
    cells = row.fields
    if joined_rows := sum(len(_ROW.findall(cell)) for cell in cells.values() if "\n" in cell):
        return several_records(row.position, joined_rows + 1, "<cord_uid>,", row.line)
    identifier = cells["cord_uid"]
    if identifier in seen_ids:
        return Skipped(row.position, REPEATED)
    seen_ids.add(identifier)
    abstract = cells["abstract"] if cells["abstract"].strip() else ""
    url = cells.get("url", "").split(";")[0]
    return document(row.position, identifier, cells["title"], abstract, url, row.line)


DOCUMENTS = Format(NoOptions, read, suffixes=(".csv",))
