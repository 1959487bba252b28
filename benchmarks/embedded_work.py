"""What the default run trains on and ranks, made of the embedded data by the workflow's own stages, for benchmarks.

Two mixes of lengths: that of the default configuration (`default`), and whole paragraphs with sequences of up to 512
word pieces (`long`); and whole articles, which all fill 512 (`full`). Texts, groups, queries and candidates are those
of config.yaml and its seed; the encoder is the embedded one, or a random one of BERT-base's shape with its tokenizer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from irpretrain.config.load import load_config
from irpretrain.config.root import Config
from irpretrain.config.text import TextConfig
from irpretrain.config.training import ComputeConfig, MaskingConfig
from irpretrain.corpora.embedded import materialise, resolve
from irpretrain.corpora.sources import write_shard
from irpretrain.corpora.testcollection import prepare
from irpretrain.evaluation.runs import Run, read_qrels, read_run, top
from irpretrain.foundation.atomic import atomic_directory
from irpretrain.objectives.shard import Shard, merge_groups, write_groups
from irpretrain.retrieval.lucene import index, search
from irpretrain.retrieval.rerank import read_queries
from irpretrain.text.statistics import count_words, merge_counts
from irpretrain.text.token_store import TokenStore, write_token_store
from irpretrain.text.word_pieces import load_tokenizer
from irpretrain.training.batches import BatchBuilder
from irpretrain.training.group_table import GroupTable
from irpretrain.training.judged_queries import JudgedGroups, judged_queries
from irpretrain.training.masking import Masker
from irpretrain.training.ranking_groups import GroupSource, RankingGroups, text_rows

ROOT = Path(__file__).resolve().parents[1]
Mix = Literal["default", "long", "full"]
LENGTHS: dict[str, tuple[int, int]] = {"long": (512, 64), "full": (512, 64)}
"""Longest sequence and longest query; those of the default are the configuration's."""
CORPORA: dict[str, list[str]] = {"long": ["squad-train"], "full": ["squad-articles"]}
"""What is pre-trained on; the default's is its collection `pretraining`."""
BASE_SHAPE: dict[str, Any] = {
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
}


def default_config() -> Config:
    """Return the default configuration."""
    config: Config = load_config(ROOT / "config.yaml")
    return config


@dataclass(frozen=True)
class Workshop:
    """A folder in which everything is made once.

    Attributes:
        folder: kept files.
        shape: minilm for the embedded encoder with the configuration's layers, base for a random one of BERT-base's
            shape; or the directory of another encoder.
        articles: only so many articles of each of SQuAD's files; None for all.
        queries: only so many queries of each data set; None for the configuration's.
    """

    folder: Path
    shape: str = "minilm"
    articles: int | None = None
    queries: int | None = None

    @cached_property
    def config(self) -> Config:
        """The default configuration."""
        return default_config()

    def encoder(self) -> Path:
        """The directory of the encoder."""
        if self.shape not in ("minilm", "base"):
            return Path(self.shape)
        embedded = self._asset(self.config.encoder.path)
        return embedded if self.shape == "minilm" else self._base(embedded)

    def model(self) -> Path:
        """The cross-encoder that everybody starts from: fresh heads on the encoder, no dropout."""
        from irpretrain.models.cross_encoder import CrossEncoderModel

        path = self.folder / "model"
        if not path.exists():
            layers = self.config.encoder.layers if self.shape == "minilm" else None
            head = self.config.pretraining.head
            CrossEncoderModel.from_encoder(self.encoder(), head, layers, 0.0, self.config.seed).save(path)
        return path

    def documents(self, corpus: str) -> Path:
        """The DOCUMENTS table of a corpus."""
        path = self.folder / "documents" / f"{corpus}.parquet"
        if not path.exists():
            given = self.config.corpora[corpus]
            options = (
                {**given.options, "articles": self._articles()} if given.format == "squad" else given.options
            )
            one = given.model_copy(update={"shards": 1, "options": options})
            path.parent.mkdir(parents=True, exist_ok=True)
            write_shard(one, self._asset(given.path), 0, path, path.with_name(f"{corpus}.redirects.parquet"))
        return path

    def tokens(self, corpus: str) -> Path:
        """The token store of a corpus."""
        path = self.folder / "tokens" / corpus
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_token_store(self.documents(corpus), self.encoder(), self.config.text, path)
        return path

    def groups(self, corpora: list[str]) -> Path:
        """The groups of ROP of a collection."""
        folder = self.folder / "groups" / "+".join(corpora)
        whole = folder / "groups.parquet"
        if whole.exists():
            return whole
        folder.mkdir(parents=True, exist_ok=True)
        counts = folder / "counts.parquet"
        own_counts = [folder / f"{corpus}-counts.parquet" for corpus in corpora]
        for corpus, own in zip(corpora, own_counts, strict=True):
            count_words(self.documents(corpus), self.config.text, own)
        merge_counts(own_counts, counts)
        # A handful of documents, in a test, has no words that occur often.
        changes = {} if self.articles is None else {"minimum_count": 1}
        options = self.config.objectives["rop"].model_copy(update=changes)
        paths = [folder / f"{corpus}.parquet" for corpus in corpora]
        for corpus, path in zip(corpora, paths, strict=True):
            shard = Shard(
                self.documents(corpus),
                self.config.text,
                self.config.seed,
                tokens=self.tokens(corpus),
                statistics=counts,
            )
            write_groups(shard, options, path)
        merge_groups([[path] for path in paths], whole)
        return whole

    def questions(self, name: str) -> Dataset:
        """The queries and judgements of a data set."""
        given = self.config.datasets[name]
        number = self.queries or given.sample_queries
        folder = self.folder / "datasets" / f"{name}-{number}"
        found = Dataset(given.corpus, *(folder / n for n in ("queries.parquet", "qrels.txt", "run.gz")))
        if not found.qrels.exists():
            folder.mkdir(parents=True, exist_ok=True)
            narrow = {"options": {"articles": self._articles()}}
            queries, qrels = (one.model_copy(update=narrow) for one in (given.queries, given.qrels))
            options = given.model_copy(update={"sample_queries": number, "queries": queries, "qrels": qrels})
            topics, judgements = (
                [self._asset(path) for path in one.paths] for one in (given.queries, given.qrels)
            )
            documents = [self.documents(given.corpus)]
            prepare(options, topics, judgements, documents, self.config.seed, found.queries, found.qrels)
        return found

    def dataset(self, name: str) -> Dataset:
        """The same, and BM25's candidates."""
        found = self.questions(name)
        if not found.run.exists():
            lucene = self.folder / "indexes" / found.corpus
            if not lucene.exists():
                documents = [self.documents(found.corpus)]
                index(documents, self.config.retrieval, self.config.text, lucene)
            search(lucene, found.queries, "bm25", self.config.retrieval, found.run)
        return found

    def _articles(self) -> tuple[int, int] | None:
        return None if self.articles is None else (0, self.articles)

    def _asset(self, path: str) -> Path:
        kind, name = resolve(path)
        if kind == "file":
            return Path(name)
        retained = self.folder / "assets" / str(name)
        if not retained.exists():
            retained.parent.mkdir(parents=True, exist_ok=True)
            materialise(str(name), ROOT / "resources" / "embedded.yaml", retained)
        return retained

    def _base(self, embedded: Path) -> Path:
        import torch
        from transformers import BertConfig, BertModel

        from irpretrain.models.parameters import copy_tokenizer

        path = self.folder / "base"
        if not path.exists():
            torch.manual_seed(0)
            with atomic_directory(path) as folder:
                BertModel(BertConfig(**BASE_SHAPE)).save_pretrained(folder)
                copy_tokenizer(embedded, folder)
        return path


@dataclass(frozen=True)
class Dataset:
    """Files of a data set, and the corpus that is searched."""

    corpus: str
    queries: Path
    qrels: Path
    run: Path


@dataclass(frozen=True)
class TrainingWork:
    """A training, as every contestant gets it.

    Attributes:
        model: cross-encoder to start from.
        stores: token stores.
        documents: DOCUMENTS tables of the same corpora.
        groups: GROUPS table of a pre-training; None for a fine-tuning.
        dataset: of a fine-tuning.
        max_length, query_length, batch_groups, seed: as in the configuration.
        masking: of the word pieces that are predicted too; None for no MLM.
        steps_in_turn: optimiser steps of a round.
        compute: threads, precision, device.
        text: fields of a document.
    """

    model: Path
    stores: tuple[Path, ...]
    documents: tuple[Path, ...]
    groups: Path | None
    dataset: Dataset | None
    max_length: int
    query_length: int
    batch_groups: int
    seed: int
    masking: MaskingConfig | None
    steps_in_turn: int
    compute: ComputeConfig
    text: TextConfig

    def source(self) -> TrainingSource:
        """Open it."""
        return TrainingSource(self)


class TrainingSource:
    """The groups of each step, and what makes batches of them and masks them."""

    def __init__(self, work: TrainingWork) -> None:
        self.store = TokenStore.open(work.stores)
        self.tokenizer = load_tokenizer(work.model)
        self.builder = BatchBuilder(self.store, self.tokenizer, work.max_length, work.query_length)
        self.masker = None
        if work.masking:
            self.masker = Masker(work.masking, self.tokenizer, work.seed, work.max_length, stream="rop/0")
        self.groups: GroupSource = (
            GroupTable(work.groups, self.store, work.batch_groups, work.seed, "rop/0")
            if work.groups
            else _judged(work, self.store)
        )


class _FittingGroups:
    """Judged groups without those whose query is longer than what is read of it: whoever tokenises anew, as
    sentence-transformers does, cuts the document alone."""

    def __init__(self, groups: JudgedGroups, lengths: dict[str, int], longest: int, size: int) -> None:
        self._groups, self._lengths, self._longest, self._size = groups, lengths, longest, size
        self._retained: RankingGroups | None = None
        self._epoch = 0

    def groups(self, step: int) -> RankingGroups:
        """Return the groups of a step."""
        while self._retained is None or len(self._retained) < (step + 1) * self._size:
            drawn = self._groups.epoch(self._epoch)
            texts = [drawn.texts[number] for number in text_rows(drawn.queries["row"][drawn.starts])]
            fitting = drawn.take(np.flatnonzero([self._lengths[text] <= self._longest for text in texts]))
            self._retained = fitting if self._retained is None else _joined(self._retained, fitting)
            self._epoch += 1
        return self._retained[step * self._size : (step + 1) * self._size]


def _joined(groups: RankingGroups, others: RankingGroups) -> RankingGroups:
    """Return groups of the same texts as one."""
    names = ("queries", "documents", "anchors", "sizes", "shares_query")
    columns = {name: np.concatenate([getattr(some, name) for some in (groups, others)]) for name in names}
    return RankingGroups(**columns, texts=groups.texts)


def _judged(work: TrainingWork, store: TokenStore) -> GroupSource:
    assert work.dataset is not None
    texts, run = read_queries(work.dataset.queries), read_run(work.dataset.run)
    qrels = read_qrels(work.dataset.qrels)
    queries, _ = judged_queries(list(texts), texts, qrels, run, store, "candidates")
    own = list({query.text for query in queries})
    lengths = {
        text: len(pieces) for text, pieces in zip(own, load_tokenizer(work.model).encode(own), strict=True)
    }
    # Pairs, which every contestant can train on.
    groups = JudgedGroups(queries, 1, work.batch_groups, work.seed)
    return _FittingGroups(groups, lengths, work.query_length, work.batch_groups)


def training_work(
    shop: Workshop, kind: str, mix: Mix, batch_groups: int | None, steps: int, compute: ComputeConfig
) -> TrainingWork:
    """Return the default's pre-training ("pre-training") or fine-tuning ("fine-tuning") with a mix of lengths."""
    config = shop.config
    own = config.pretraining if kind == "pre-training" else config.finetuning
    lengths = LENGTHS.get(mix, (own.max_length, own.query_length))
    dataset, groups = None, None
    if kind == "pre-training":
        corpora = CORPORA.get(mix, config.collections["pretraining"])
        groups = shop.groups(corpora)
    else:
        dataset = shop.dataset("squad-train")
        corpora = [dataset.corpus]
    size = batch_groups or (
        config.pretraining.batch_groups if kind == "pre-training" else config.finetuning.batch_sizes[0]
    )
    return TrainingWork(
        shop.model(),
        tuple(shop.tokens(corpus) for corpus in corpora),
        tuple(shop.documents(corpus) for corpus in corpora),
        groups,
        dataset,
        *lengths,
        size,
        config.seed,
        config.pretraining.masking if kind == "pre-training" else None,
        steps,
        compute,
        config.text,
    )


def candidates(dataset: Dataset, depth: int | None) -> tuple[dict[str, str], Run]:
    """Return the texts of a data set's queries, and the first candidates of each."""
    return read_queries(dataset.queries), top(read_run(dataset.run), depth)
