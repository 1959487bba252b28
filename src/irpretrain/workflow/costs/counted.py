"""Sizes that a configuration does not say, counted in its files: in all of a small one, in the beginning of a large."""

import bz2
import gzip
import lzma
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO, Any, TypeVar

from irpretrain.config.corpora import CorpusConfig, FileConfig, QrelsConfig, TopicsConfig
from irpretrain.config.root import Config
from irpretrain.config.usage import hidden_views, used
from irpretrain.corpora.catalogue.absence import reported
from irpretrain.corpora.checked import RECORDS_PER_FILE
from irpretrain.corpora.embedded import Manifest, installed_path, resolve
from irpretrain.corpora.file_lists import document_files, given_files
from irpretrain.corpora.files import DAMAGE, compression_of
from irpretrain.corpora.formats.ir_datasets import count_of
from irpretrain.corpora.records import Judgement, Query, most_bytes
from irpretrain.corpora.registry import format_of
from irpretrain.errors import IRPretrainError
from irpretrain.workflow.costs import PlannedJob
from irpretrain.workflow.costs.encoder_work import shapes
from irpretrain.workflow.costs.estimate import CARD, columns_text, estimate, needed_entries, table
from irpretrain.workflow.plan.preparation import Prepared

Section = TypeVar("Section", CorpusConfig, FileConfig)
# Bytes of a file's text that are read.
SAMPLE = 4 << 20
# Of a folder; they stand for the others.
MOST_FILES = 16
# Bytes. Files of topics and judgements up to here are read as a run would read them.
SMALL = 4 << 20
# What stands once in every record of a format.
MARKS = {
    "jsonl": b"\n",
    "tsv": b"\n",
    "cord19": b"\n",
    "trectext": b"<DOC>",
    "trecweb": b"<DOC>",
    "smart": b".I ",
    "wikipedia-dump": b"<page>",
    "warc": b"WARC-TREC-ID:",
}
# What stands once in each of SQuAD's; an article's is in front of its paragraphs.
ARTICLE, PARAGRAPH, QUESTION = b'"title"', b'"context"', b'"question"'


def with_counted_sizes(config: Config, manifest: Manifest) -> Config:
    """Return the configuration with the `about` of what is used, where it says neither that nor `expected`."""
    corpora, datasets = dict(config.corpora), dict(config.datasets)
    for name in used(config, "corpora"):
        section = corpora[name]
        if section.about is None and section.expected is None:
            corpora[name] = section.model_copy(update={"about": _quietly(_records, section, manifest)})
    for name in used(config, "datasets"):
        changes: dict[str, FileConfig] = {}
        for key in ("queries", "qrels"):
            file: TopicsConfig | QrelsConfig = getattr(datasets[name], key)
            if file.about is None and (key == "qrels" or file.expected is None):
                changes[key] = file.model_copy(update={"about": _quietly(_read, file, manifest)})
        datasets[name] = datasets[name].model_copy(update=changes)
    return config.model_copy(update={"corpora": corpora, "datasets": datasets})


def _quietly(count: Callable[[Section, Manifest], int], section: Section, manifest: Manifest) -> int | None:
    """The number; None where nothing is counted, or a file cannot be read: a run says why."""
    try:
        return count(section, manifest) or None
    except (IRPretrainError, ValueError, *DAMAGE):
        return None


def _records(corpus: CorpusConfig, manifest: Manifest) -> int:
    kind, location = resolve(corpus.path)
    if kind == "ir_datasets":
        return count_of(str(location), corpus.kind)
    if kind == "embedded":
        files = _installed([corpus.path], manifest)
    else:
        files = document_files(location, corpus.format, corpus.files)
    if corpus.format == "squad":
        by_article = corpus.options.get("unit") == "article"
        return _of_squad(files, ARTICLE if by_article else PARAGRAPH, corpus.options)
    if corpus.format == "parquet":
        return _rows(files)
    if corpus.format == "lecard":
        return len(files)
    if corpus.format not in MARKS:
        return 0
    return estimate_marks(files, MARKS[corpus.format])


def estimate_marks(files: Sequence[Path], mark: bytes) -> int:
    """Return about how often something stands in files; exactly, where they are few and small.

    At most `SAMPLE` bytes of `MOST_FILES` files are read; what they hold a byte on the disk holds for all.
    """
    chosen = files[:: -(-len(files) // MOST_FILES) or 1]
    samples = [_marks(path, mark) for path in chosen]
    marks, read = (sum(column) for column in zip(*samples, strict=True)) if samples else (0, 0)
    size = sum(path.stat().st_size for path in files)
    return round(marks * size / read) if read else 0


def _marks(path: Path, mark: bytes) -> tuple[int, int]:
    """How often a mark stands in the beginning of a file, and how many bytes of the disk that takes."""
    size = path.stat().st_size
    with open(path, "rb") as raw:
        text = _unpacked(raw, path).read(SAMPLE)
        cut_short = len(text) == SAMPLE
        unfinished = mark == b"\n" and text and not text.endswith(mark) and not cut_short
        return text.count(mark) + bool(unfinished), min(raw.tell(), size) if cut_short else size


def _unpacked(raw: IO[bytes], path: Path) -> IO[bytes]:
    compression = compression_of(path)
    if compression == "gzip":
        return gzip.GzipFile(fileobj=raw)  # type: ignore[return-value]
    if compression == "bzip2":
        return bz2.BZ2File(raw)
    if compression == "xz":
        return lzma.LZMAFile(raw)
    if compression is not None:
        raise ValueError(f"{compression} is not sampled")
    return raw


def _rows(files: Sequence[Path]) -> int:
    import pyarrow.parquet as pq

    return sum(pq.ParquetFile(path).metadata.num_rows for path in files)


def _read(file: FileConfig, manifest: Manifest) -> int:
    """How many queries, or judgements of relevance, small files hold; 0 where they are large. Each of SQuAD's questions
    is judged once."""
    reader = format_of(file.kind, file.format)
    kinds = {resolve(path)[0] for path in file.paths}
    if "ir_datasets" in kinds:
        return sum(count_of(str(resolve(path)[1]), file.kind) for path in file.paths)
    embedded = "embedded" in kinds
    files = _installed(file.paths, manifest) if embedded else given_files(file.paths, reader.suffixes)
    if file.format == "squad":
        return _of_squad(files, QUESTION, file.options)
    if embedded or sum(path.stat().st_size for path in files) > SMALL:
        return 0
    options = reader.options(**file.options)
    records = (record for path in files for record in reader.read(path, options))
    return sum(isinstance(r, Query) or (isinstance(r, Judgement) and r.relevance > 0) for r in records)


def _of_squad(files: Sequence[Path], mark: bytes, options: Mapping[str, Any]) -> int:
    """How often something stands in the chosen articles of SQuAD's files, of which as much is read as may be one."""
    first, end = options.get("articles") or (0, None)
    articles = (article for path in files for article in _articles(path)[first:end])
    return sum(mark == ARTICLE or article.count(mark) for article in articles)


@cache
def _articles(path: Path) -> list[bytes]:
    with open(path, "rb") as raw:
        return _unpacked(raw, path).read(RECORDS_PER_FILE * most_bytes()).split(ARTICLE)[1:]


def _installed(paths: Iterable[str], manifest: Manifest) -> list[Path]:
    locations = (installed_path(manifest.asset(str(resolve(path)[1]))) for path in paths)
    return [location for location in locations if location is not None]


# What a dry run says of the cost of its jobs.


# Names the GPU that hours are estimated for; `workflow.costs.plan` sets it.
CARD_VARIABLE = "IRPRETRAIN_CARD"
# Set by `workflow.costs.plan` where a run without absent data is refused; its dry run always has `skip_absent`.
REFUSED = "IRPRETRAIN_REFUSED"


def costs_text(prepared: Prepared, jobs: Sequence[PlannedJob]) -> str:
    """Return what planned jobs need, would cost and fill, and what no paper of the report shows."""
    config, missing = with_counted_sizes(prepared.config, prepared.manifest), prepared.missing
    known = shapes(config, prepared.manifest)
    estimated = estimate(config, jobs, shapes=known, card=os.environ.get(CARD_VARIABLE, CARD))
    if not prepared.as_if_there:
        what = "left out is what needs them"
    elif REFUSED in os.environ:
        what = "planned as if they were; a run is refused without them"
    else:
        what = "planned as if they were; a run leaves out what needs them"
    if prepared.as_if_there:
        missing = needed_entries(config, missing, jobs)
    parts = [
        table(estimated) if jobs else "",
        columns_text(config, jobs),
        "\n".join(hidden_views(prepared.config)),
        reported(missing, f"Not there, and {what}:"),
    ]
    return "".join(f"\n{part}\n" for part in parts if part)
