"""The files of a small test collection: queries, judgements, candidates and folds."""

import json
from pathlib import Path

from irpretrain.evaluation.runs import Qrels, Run, write_run
from irpretrain.foundation.contracts import QUERIES


def write_collection(
    folder: Path, texts: dict[str, str], qrels: Qrels, candidates: Run, fold_count: int
) -> dict[str, Path]:
    """Write the files, with the queries of `texts` in turn in each fold; return them by their names in `finetune`."""
    files = {
        "queries": folder / "queries.parquet",
        "qrels": folder / "qrels.txt",
        "candidates": folder / "candidates.run.gz",
        "folds": folder / "folds.json",
    }
    QUERIES.write(files["queries"], [{"query_id": query, "text": text} for query, text in texts.items()])
    judgements = [(query, *judged) for query, documents in qrels.items() for judged in documents.items()]
    files["qrels"].write_text("".join(f"{query} 0 {name} {grade}\n" for query, name, grade in judgements))
    write_run(files["candidates"], candidates, "bm25")
    folds = {query: number % fold_count + 1 for number, query in enumerate(texts)}
    files["folds"].write_text(json.dumps({"folds": fold_count, "queries": folds}))
    return files
