"""What a Lucene index says of itself: a file in it, which a later job compares with its configuration."""

import json
from pathlib import Path
from typing import Any

from irpretrain.config.retrieval import RetrievalConfig
from irpretrain.errors import IntegrityError

RECORD = "irpretrain.json"
"""File in the index that says how it was made."""


def analysis_of(options: RetrievalConfig) -> dict[str, Any]:
    """Return what a record says of stems and stop words."""
    return {"stemmer": options.stemmer, "stop_list": options.stop_list}


def read_record(index: str | Path, options: RetrievalConfig) -> dict[str, Any]:
    """Return what an index says of itself.

    Raises:
        IntegrityError: there is no index, or it was made with another stemmer or other stop words.
    """
    path = Path(index, RECORD)
    if not path.exists():
        raise IntegrityError(
            index, "this is not an index of this workflow", remedy="Delete it and run again."
        )
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    for name, value in analysis_of(options).items():
        if record[name] != value:
            fault = f"the index was made with {name} {record[name]}, the configuration has {value}"
            raise IntegrityError(index, fault, remedy="Delete the index and run again.")
    return record
