"""Scores of a run, for analyses of your own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from pyarrow import csv

from irpretrain.contracts import PER_QUERY, SCORES
from irpretrain.errors import InputError, one_line

if TYPE_CHECKING:
    import pandas


def read_scores(path: str | Path = "results/scores.csv") -> pandas.DataFrame:
    """Return scores as a pandas DataFrame; its columns are told in docs/contracts.md.

    Args:
        path: means (`results/scores.csv`, `results/scores/<experiment>.csv`) with the columns of `scores`, or values
            of single queries (`results/per_query.parquet`, …) with those of `per_query`.

    Raises:
        InputError, IntegrityError: there is no such table.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> folder = TemporaryDirectory()
        >>> file = Path(folder.name, "scores.csv")
        >>> _ = file.write_text(
        ...     "dataset,candidates,model,regime,seed,fold,measure,value,queries\\n"
        ...     "squad,bm25,prop,zero-shot,1,0,nDCG@20,0.584,150\\n"
        ...     "squad,bm25,prop,zero-shot,1,1,nDCG@20,0.601,30\\n"
        ... )
        >>> scores = read_scores(file)
        >>> scores[scores.fold == 0].pivot(index="model", columns="measure", values="value").loc["prop", "nDCG@20"]
        np.float64(0.584)
    """
    if not Path(path).is_file():
        what = "this is a folder" if Path(path).is_dir() else "there is no such file"
        raise InputError(path, what, remedy="Name a table of a run, such as results/scores.csv.")
    if Path(path).suffix == ".parquet":
        return PER_QUERY.read(path).to_pandas()
    types = {column.name: column.type for column in SCORES.columns}
    try:
        table = csv.read_csv(path, convert_options=csv.ConvertOptions(column_types=types))
    except (OSError, pa.ArrowInvalid) as error:
        raise InputError(path, f"cannot be read as scores: {one_line(error)}") from None
    if table.column_names != list(types):
        raise InputError(path, f"this is no table of scores: its columns are {', '.join(table.column_names)}")
    return table.to_pandas()
