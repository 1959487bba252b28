"""Size, postings and query time of indexes of term weights beside the tf index's, over SQuAD's training paragraphs.

    python benchmarks/index_costs.py --model results/term_weights/deepct/model-0 [--passages 18896] [--precision bf16]

The model is a trained token regression: how many terms it leaves is its own doing, so a random one would say nothing.
Its weights are indexed as they are (N = 100) and under their root, beside TextRank's. Prints the table that
`measure_indexes` writes (each query's fastest of five rounds that go over all indexes in turn), what became of the
weights, and the bytes a passage of each index.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from irpretrain.config.retrieval import RetrievalConfig, TextRankConfig
from irpretrain.config.term_weights import TermWeightsConfig
from irpretrain.config.text import TextConfig
from irpretrain.contracts import DOCUMENTS, QUERIES
from irpretrain.retrieval import lucene
from irpretrain.retrieval.index_costs import SearchedIndex, measure_indexes
from irpretrain.retrieval.textrank import weigh_by_textrank
from irpretrain.retrieval.weighted_index import index_weights
from irpretrain.term_weights.infer import infer_documents
from irpretrain.term_weights.integers import write_vectors
from sampling import paragraphs, squad_articles

TEXT = TextConfig(words="alphanumeric")
OPTIONS = RetrievalConfig(depth=1000, threads=1)
QUESTIONS = 200


def write_collection(folder: Path, passages: int) -> Path:
    """Write paragraphs, and questions from all over them."""
    rows = [
        {"document_id": str(i), "part": 0, "position": i, "title": title, "url": "", "body": body}
        for i, (title, body) in zip(range(passages), paragraphs(), strict=False)
    ]
    DOCUMENTS.write(folder / "documents.parquet", rows)
    asked = [q for a in squad_articles() for p in a["paragraphs"] for q in p["qas"]]
    chosen = asked[:: len(asked) // QUESTIONS][:QUESTIONS]
    QUERIES.write(folder / "queries.parquet", [{"query_id": q["id"], "text": q["question"]} for q in chosen])
    return folder / "documents.parquet"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--passages", type=int, default=18_896)
    parser.add_argument("--precision", default="fp32", choices=["fp32", "bf16"])
    given = parser.parse_args()
    weighting = TermWeightsConfig(
        label="b", dataset="b", windows={"overlap": 32}, inference={"compute": {"precision": given.precision}}
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        documents = write_collection(folder, given.passages)
        lucene.index([documents], OPTIONS, TEXT, folder / "tf")
        infer_documents(given.model, documents, weighting, TEXT, folder / "weights", folder / "unfinished")
        for index, root in (("DeepCT", False), ("DeepCT √", True)):
            counts = write_vectors(folder / "weights", 100, root, folder / "vectors")
            print(f"{index}: {counts}")
            index_weights([folder / "vectors"], TEXT.words, OPTIONS, folder / index)
        weigh_by_textrank(documents, TextRankConfig(type="textrank"), OPTIONS, TEXT, folder / "vectors")
        index_weights([folder / "vectors"], "lucene", OPTIONS, folder / "TextRank")
        indexes = [
            SearchedIndex(index, folder / index, OPTIONS)
            for index in ("tf", "DeepCT", "DeepCT √", "TextRank")
        ]
        measure_indexes(indexes, folder / "queries.parquet", folder / "costs.json", folder / "costs.md")
        print((folder / "costs.md").read_text())
        for row in json.loads((folder / "costs.json").read_text()):
            print(f"{row['index']}: {row['bytes'] / row['documents']:,.0f} bytes a passage")


if __name__ == "__main__":
    main()
