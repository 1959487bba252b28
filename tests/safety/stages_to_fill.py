"""Small stages, each run as the workflow runs it, in a process whose disk may be full.

python stages_to_fill.py prepare <inputs>
python stages_to_fill.py <stage> <inputs> <outputs> <most bytes of a file, 0 for no limit>
"""

import json
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from snakemake.iocontainers import InputFiles, Log, OutputFiles, Params

from irpretrain.config.corpora import CorpusConfig
from irpretrain.config.pretraining import TaskConfig
from irpretrain.config.retrieval import RetrievalConfig, RunConfig
from irpretrain.config.text import EncoderConfig, GraphConfig, TextConfig
from irpretrain.foundation.atomic import write_text
from irpretrain.foundation.contracts import QUERIES
from irpretrain.foundation.randomness import generator
from irpretrain.foundation.stage import stage

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent
TEXT = TextConfig(words="alphanumeric")
DOCUMENT_COUNT, WORDS_OF_A_DOCUMENT = 400, 60
Make = Callable[[Path, Path], dict[str, Any] | None]


def words(number: int) -> list[str]:
    """Words of a document: of the tiny vocabulary, and some of its own, so that files are of some size."""
    draw = generator(1, "words", str(number))
    common = [f"word{n:02d}" for n in draw.integers(0, 80, WORDS_OF_A_DOCUMENT)]
    return [*common, *(f"own{number}x{n}" for n in range(10))]


def prepare(folder: Path) -> None:
    """Write what the stages read, each made by the stage before it."""
    from tiny_wiki import dump

    from tiny_models import write_encoder

    folder.mkdir(parents=True)
    write_encoder(folder / "encoder")
    texts = [" ".join(words(number)) for number in range(DOCUMENT_COUNT)]
    lines = [json.dumps({"id": f"d{n}", "title": f"t{n}", "text": text}) for n, text in enumerate(texts)]
    (folder / "documents.jsonl").write_text("\n".join(lines))
    topics = [[f"w{topic}{letter}" for letter in "abcd"] for topic in range(12)]
    (folder / "wiki.xml").write_text(dump(topics))
    QUERIES.write(folder / "queries.parquet", [{"query_id": f"q{n}", "text": "x"} for n in range(200)])
    ranked = "".join(
        f"q{q} Q0 d{d} {r} {1 / (r + 7 * q + 3)!r} x\n" for q in range(200) for r, d in ranking(q)
    )
    (folder / "theirs.run").write_text(ranked)
    for name in ("read", "count", "merge", "tokens", "words", "groups", "read_wiki", "links"):
        (folder / name).mkdir()
        STAGES[name][0](folder, folder / name)


def ranking(query: int) -> list[tuple[int, int]]:
    return [(rank, (query * 31 + rank * 17) % DOCUMENT_COUNT) for rank in range(1, 21)]


def read(inputs: Path, out: Path) -> dict[str, Any]:
    from irpretrain.corpora.sources import write_shard

    config = CorpusConfig(format="jsonl", path="x")
    return write_shard(config, inputs / "documents.jsonl", 0, out / "a.parquet", out / "redirects.parquet")


def read_wiki(inputs: Path, out: Path) -> dict[str, Any]:
    from irpretrain.corpora.sources import write_shard

    config = CorpusConfig(format="wikipedia-dump", path="x")
    return write_shard(config, inputs / "wiki.xml", 0, out / "a.parquet", out / "redirects.parquet")


def links(inputs: Path, out: Path) -> dict[str, Any]:
    from irpretrain.wikipedia.links import extract_links

    tables = out / "sources.parquet", out / "links.parquet"
    return extract_links(inputs / "read_wiki/a.parquet", GraphConfig(), *tables)


def graph(inputs: Path, out: Path) -> dict[str, Any]:
    from irpretrain.wikipedia.build_graph import build_graph

    tables = (
        inputs / "links/sources.parquet",
        inputs / "links/links.parquet",
        inputs / "read_wiki/redirects.parquet",
    )
    return build_graph(*([[table]] for table in tables), GraphConfig(), out / "a")


def count(inputs: Path, out: Path) -> dict[str, Any]:
    from irpretrain.text.statistics import count_words

    return count_words(inputs / "read/a.parquet", TEXT, out / "a.parquet")


def merge(inputs: Path, out: Path) -> dict[str, Any]:
    from irpretrain.text.statistics import merge_counts

    return merge_counts([inputs / "count/a.parquet"], out / "a.parquet")


def tokens(inputs: Path, out: Path) -> dict[str, Any]:
    from irpretrain.text.token_store import write_token_store

    return write_token_store(inputs / "read/a.parquet", inputs / "encoder", TEXT, out / "a", positions=True)


def word_store(inputs: Path, out: Path) -> dict[str, Any]:
    from irpretrain.text.word_store import write_word_store

    return write_word_store(inputs / "read/a.parquet", inputs / "merge/a.parquet", TEXT, out / "a")


def postings(inputs: Path, out: Path) -> dict[str, Any]:
    from irpretrain.axioms.rank_engine.build_postings import write_postings
    from irpretrain.config.retrieval import Bm25Config
    from irpretrain.text.terms import read_terms
    from irpretrain.text.word_store import WordStore

    terms = read_terms(inputs / "merge/a.parquet", "none", "none")
    stores = [[WordStore(inputs / "words/a")]]
    return write_postings(stores, terms.term_of, len(terms.names), out / "a", Bm25Config())


def groups(inputs: Path, out: Path) -> dict[str, Any]:
    from irpretrain.config import load_config
    from irpretrain.objectives.shard import Shard, write_groups

    options = load_config(ROOT / "config.yaml").objectives["rop"]
    options = options.model_copy(update={"minimum_count": 1, "short_document_pieces": 0})
    statistics, tokens = inputs / "merge/a.parquet", inputs / "tokens/a"
    shard = Shard(inputs / "read/a.parquet", TEXT, 1, tokens=tokens, statistics=statistics)
    return write_groups(shard, options, out / "a.parquet")


def pretraining(inputs: Path, out: Path) -> dict[str, Any]:
    from tiny_training import training_options

    from irpretrain.training.pretrain import pretrain

    return pretrain(
        encoder=inputs / "encoder",
        start=None,
        groups=[inputs / "groups/a.parquet"],
        tokens=[inputs / "tokens/a"],
        tasks=[TaskConfig(objective="rop")],
        options=training_options(),
        encoder_options=EncoderConfig(path="tiny", label="tiny"),
        seed=1,
        output=out / "a",
        metrics=out / "metrics.jsonl",
        probe=out / "probe.csv",
        checkpoints=out / "checkpoints",
    )


def lucene(inputs: Path, out: Path) -> dict[str, Any]:
    from irpretrain.retrieval.lucene import index

    return index([inputs / "read/a.parquet"], RetrievalConfig(memory_mb=256, threads=1), TEXT, out / "a")


def run(inputs: Path, out: Path) -> dict[str, Any]:
    from irpretrain.retrieval.runs_of_others import take_run

    tables = inputs / "queries.parquet", [inputs / "read/a.parquet"]
    return take_run(RunConfig(path="x"), inputs / "theirs.run", "theirs", *tables, 20, out / "a")


def searches(inputs: Path, out: Path) -> dict[str, Any]:
    from irpretrain.report.searches import collect_searches

    qrels = inputs / "qrels.txt"
    if not qrels.exists():
        write_text(qrels, "".join(f"q{q} 0 d{d} 1\n" for q in range(200) for _, d in ranking(q)[:1]))
    names = {"candidates": "theirs", "model": "theirs", "regime": "first-stage", "seed": 0}
    first_stage = {**names, "paths": [inputs / "theirs.run"], "depth": 20, "ranked": None}
    queries, documents = inputs / "queries.parquet", [inputs / "read/a.parquet"]
    return collect_searches([first_stage], queries, qrels, documents, TEXT, out / "a")


def report(inputs: Path, out: Path) -> dict[str, Any]:
    from small_run import PROP_YAML, rows_of, write_results

    from irpretrain.config import load_config
    from irpretrain.report.figures import make_figures
    from irpretrain.report.html import write_report
    from irpretrain.report.result_files import ResultFiles

    small = inputs / "small"
    config = load_config(ROOT / "config.yaml")
    if not small.exists():
        small.mkdir()
        files = write_results(small, [row for row in rows_of("squad") if row["regime"] == "first-stage"])
        make_figures(PROP_YAML, config, ResultFiles(*files), [], small / "figures")
    results = out / "results"  # the report links to what lies there
    results.symlink_to(small)
    given = ResultFiles([results / "scores.csv"], [results / "per_query.parquet"])
    manifest = ROOT / "resources/embedded.yaml"
    try:
        return write_report(config, [PROP_YAML], given, results, manifest, out / "a")
    finally:
        results.unlink()


STAGES: dict[str, tuple[Make, list[str]]] = {
    "read": (read, ["a.parquet", "redirects.parquet"]),
    "count": (count, ["a.parquet"]),
    "merge": (merge, ["a.parquet"]),
    "tokens": (tokens, ["a"]),
    "words": (word_store, ["a"]),
    "postings": (postings, ["a"]),
    "groups": (groups, ["a.parquet"]),
    "read_wiki": (read_wiki, ["a.parquet", "redirects.parquet"]),
    "links": (links, ["sources.parquet", "links.parquet"]),
    "graph": (graph, ["a"]),
    "pretraining": (pretraining, ["a", "metrics.jsonl"]),
    "lucene": (lucene, ["a"]),
    "run": (run, ["a"]),
    "searches": (searches, ["a"]),
    "report": (report, ["a"]),
}
"""Name → function, and its outputs."""


class Job:
    """What Snakemake hands to a script, of its own classes."""

    def __init__(self, rule: str, outputs: list[str], log: str) -> None:
        self.rule, self.input, self.params = rule, InputFiles(), Params()
        self.output, self.log = OutputFiles(toclone=outputs), Log(toclone=[log])


def main(name: str, inputs: Path, out: Path, most: int) -> None:
    make, outputs = STAGES[name]
    if most:  # Python ignores SIGXFSZ, so that a write beyond this is an error as any other
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    with stage(Job(name, [str(out / output) for output in outputs], str(out / "log"))) as counts:
        counts |= make(inputs, out) or {}


if __name__ == "__main__":
    sys.path[:0] = [str(TESTS), *(str(TESTS / name) for name in ("report", "training", "workflow"))]
    if sys.argv[1] == "prepare":
        prepare(Path(sys.argv[2]))
    else:
        main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))
