"""Spam rankings of ClueWeb09 (Cormack, Smucker and Clarke, 2011): a line `percentile document` for each of 500M pages.

Page clueweb09-en0000-00-00017 is entry 17 of its file en0000-00, so one byte per page is enough: 50 MB for category B,
0.5 GB for all English pages, read once per process.
"""

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from irpretrain.corpora.file_lists import one_file
from irpretrain.corpora.files import DAMAGE, open_bytes
from irpretrain.errors import InputError

UNKNOWN = 255
_PREFIX, _FILE, _NUMBER = "clueweb09-", slice(10, 19), slice(20, 25)
_PATTERN = r"^clueweb09-[a-z]{2}[a-z0-9]{4}-[0-9]{2}-[0-9]{5}$"


def percentile_of(document_id: str, rankings: Path) -> int | None:
    """Return the percentile of a page (99 is the least spam), None if the file lacks it."""
    table = _read(str(one_file(rankings)), rankings.stat().st_mtime_ns)
    percentiles = table.get(document_id[_FILE]) if document_id.startswith(_PREFIX) else None
    number = document_id[_NUMBER]
    if (
        percentiles is None
        or not number.isdecimal()
        or int(number) >= len(percentiles)
        or percentiles[int(number)] == UNKNOWN
    ):
        return None
    return int(percentiles[int(number)])


@lru_cache(maxsize=1)
def _read(path: str, changed: int) -> dict[str, Any]:
    """Return file of the collection → percentiles of its pages."""
    percentiles_by_file: dict[str, Any] = {}
    columns = csv.ReadOptions(column_names=["percentile", "document"], block_size=16 << 20)
    types = csv.ConvertOptions(column_types={"percentile": pa.uint8(), "document": pa.string()})
    shape = csv.ParseOptions(delimiter=" ", quote_char=False)
    row = 0
    try:
        with open_bytes(path) as stream, csv.open_csv(stream, columns, shape, types) as reader:
            for batch in reader:
                _add(batch, percentiles_by_file, path, row)
                row += batch.num_rows
    except (pa.ArrowInvalid, *DAMAGE) as error:
        reason = f"line {row + 1:,} or later cannot be read: {' '.join(str(error).split())}"
        raise InputError(
            path, reason, remedy="Lines are <percentile> <document>, such as 65 clueweb09-en0000-00-00000."
        ) from None
    return percentiles_by_file


def _add(batch: pa.RecordBatch, percentiles_by_file: dict[str, Any], path: str, row: int) -> None:
    percentiles, documents = batch.column(0), batch.column(1)
    sound = pc.and_(pc.match_substring_regex(documents, _PATTERN), pc.less(percentiles, 100))
    if not pc.all(pc.fill_null(sound, False)).as_py():
        wrong = int(np.argmin(pc.fill_null(sound, False).to_numpy(zero_copy_only=False)))
        line = f"{percentiles[wrong].as_py()} {documents[wrong].as_py()}"
        raise InputError(path, f"{line!r} is not <percentile> <document of ClueWeb09>", row + wrong + 1)
    files = pc.utf8_slice_codeunits(documents, _FILE.start, _FILE.stop).dictionary_encode()
    numbers = pc.cast(pc.utf8_slice_codeunits(documents, _NUMBER.start, _NUMBER.stop), pa.int32()).to_numpy()
    indices, values = files.indices.to_numpy(), percentiles.to_numpy()
    edges = np.flatnonzero(np.diff(indices)) + 1
    for first, last in zip((0, *edges), (*edges, len(indices)), strict=True):
        name = files.dictionary[int(indices[first])].as_py()
        _put(percentiles_by_file, name, numbers[first:last], values[first:last])


def _put(percentiles_by_file: dict[str, Any], name: str, numbers: Any, values: Any) -> None:
    size, table = int(numbers.max()) + 1, percentiles_by_file.get(name)
    if table is None or len(table) < size:
        grown = np.full(size, UNKNOWN, np.uint8)
        if table is not None:
            grown[: len(table)] = table
        table = percentiles_by_file[name] = grown
    table[numbers] = values
