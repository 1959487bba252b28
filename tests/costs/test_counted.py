"""What is counted in the files of a configuration for a dry run's estimate."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from irpretrain.config import Config, parse_config
from irpretrain.config.base import deep_merge
from irpretrain.config.load import lay_overlays
from irpretrain.corpora.embedded import read_manifest
from irpretrain.workflow.costs import counted, work
from irpretrain.workflow.costs.counted import estimate_marks, with_counted_sizes

ROOT = Path(__file__).resolve().parents[2]
MANIFEST = read_manifest(ROOT / "resources/embedded.yaml")


def own(tmp_path: Path, **corpus: object) -> Config:
    """A configuration with a corpus, topics and judgements of the user's."""
    (tmp_path / "mine.yaml").write_text(
        """inherit: definitions
corpora: {mine: {format: jsonl, path: docs.jsonl}}
collections: {pretraining: [mine]}
datasets:
  mine: {label: Mine, corpus: mine, queries: {format: tsv, path: topics.tsv}, qrels: {format: trec, path: qrels.txt}}
experiments: {mine: {dataset: mine, models: [prop], regimes: [zero-shot]}}
reranking: {depth: 20}
"""
    )
    (tmp_path / "topics.tsv").write_text("q1\tone\nq2\ttwo\n")
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 2\n")
    laid = lay_overlays(ROOT / "config.yaml", [tmp_path / "mine.yaml"])
    return parse_config(deep_merge(laid, {"corpora": {"mine": corpus}}))


def test_files_of_ones_own_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs.jsonl").write_text("\n".join(json.dumps({"id": n, "text": "x"}) for n in range(7)))
    config = own(tmp_path)
    assert work.documents(config, "mine") is None
    found = with_counted_sizes(config, MANIFEST)
    assert (work.documents(found, "mine"), work.queries(found, "mine"), work.relevant(found, "mine")) == (
        7,
        2,
        2,
    )
    said = with_counted_sizes(own(tmp_path, about=70), MANIFEST)
    assert work.documents(said, "mine") == 70


def test_embedded_squad_is_counted() -> None:
    """Of 442 articles with 18,896 paragraphs the first 200, 12 later ones, and the first 200 as articles; of 48 all."""
    config = with_counted_sizes(parse_config(lay_overlays(ROOT / "config.yaml", [])), MANIFEST)
    corpora = ("squad-train", "squad-held-out", "squad-dev", "squad-articles")
    assert [work.documents(config, name) for name in corpora] == [9032, 543, 2067, 200]
    assert (work.queries(config, "squad-train"), work.relevant(config, "squad-train")) == (41808, 41808)
    assert work.relevant(config, "squad-questions") == 10000


def test_what_cannot_be_counted_stays_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    config = own(tmp_path)
    assert work.documents(with_counted_sizes(config, MANIFEST), "mine") is None, "there is no such file"
    (tmp_path / "docs.jsonl").write_text("")
    assert work.documents(with_counted_sizes(config, MANIFEST), "mine") is None, "as where a stand-in lies"
    (tmp_path / "docs.jsonl").write_bytes(b"\x1f\x8b broken")
    assert work.documents(with_counted_sizes(config, MANIFEST), "mine") is None


def test_rows_of_parquet_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows").mkdir()
    for part in range(3):
        pq.write_table(pa.table({"id": ["a", "b"], "text": ["x", "y"]}), tmp_path / f"rows/{part}.parquet")
    config = own(tmp_path, format="parquet", path="rows")
    assert work.documents(with_counted_sizes(config, MANIFEST), "mine") == 6


@pytest.mark.parametrize(
    "pack",
    [bytes, gzip.compress, lambda text: bz2.compress(text, 1), lzma.compress],
    ids=["plain", "gz", "bz2", "xz"],
)
def test_large_files_are_estimated_from_their_beginnings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack
) -> None:
    monkeypatch.setattr(counted, "SAMPLE", 400_000)
    numbers = random.Random(1)
    files = [tmp_path / f"{part}.tsv" for part in range(3)]
    for path in files:
        path.write_bytes(pack("".join(f"{numbers.random():.17f}\n" for _ in range(50_000)).encode()))
    assert estimate_marks(files, b"\n") == pytest.approx(150_000, rel=0.25)


def test_of_a_packed_file_as_much_is_read_as_may_be_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counted, "most_bytes", lambda: 1000)
    path = tmp_path / "squad.json.gz"
    path.write_bytes(gzip.compress(b'{"title": 1' * 10_000))
    assert sum(map(len, counted._articles(path))) < 4000
