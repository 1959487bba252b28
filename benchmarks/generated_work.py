"""Work for the encoders that needs no data package: model, documents, ranking groups, queries and run, all by a seed.

Lengths are real ones (`LENGTHS`); the word pieces are drawn at random, as no arithmetic depends on which they are. The
encoder has BERT-base's shape and vocabulary size, or with `small` four layers of 128 units; its weights are random.
Everything has the shape of `embedded_work`, so the contestants of training.py and reranking.py take it as it is.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from embedded_work import Dataset, TrainingWork
from irpretrain.config.retrieval import RerankingConfig
from irpretrain.config.text import TextConfig
from irpretrain.config.training import ComputeConfig, MaskingConfig
from irpretrain.evaluation.runs import write_run
from irpretrain.foundation.atomic import atomic_directory, atomic_file, write_text
from irpretrain.foundation.contracts import DOCUMENTS, GROUPS, QUERIES, TERM_TARGETS
from irpretrain.objectives.groups import Span, group
from irpretrain.text.texts import Text

BASE = {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072}
SMALL = {"hidden_size": 128, "num_hidden_layers": 4, "num_attention_heads": 4, "intermediate_size": 512}
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
DROPOUTS = {"none": (0.0, 0.0), "hidden": (0.1, 0.0), "all": (0.1, 0.1)}
"""Dropout of the layers and of attention. `all` is BERT's own, and what the papers' overlays train with."""
DEVIATION = 1.4
"""Of random weights, times the square root of their inputs: with BERT's 0.02 attention is so even, and scores so much
the same, that nothing could be told from them."""
TEXT = TextConfig(words="alphanumeric")


class Lengths(NamedTuple):
    """Lengths of sequences, in word pieces: documents are log-normal, queries short, and the document is cut."""

    longest: int
    query: int
    median: float
    spread: float


LENGTHS = {
    "passages": Lengths(128, 32, 70, 0.4),
    "paragraphs": Lengths(512, 64, 140, 0.45),
    "articles": Lengths(512, 64, 1070, 0.8),
}
"""MS MARCO's passages (75 on average); SQuAD's paragraphs; web pages and articles of 1,100 words on average."""
SMALL_LENGTHS = {
    "passages": Lengths(32, 6, 18, 0.4),
    "paragraphs": Lengths(64, 8, 20, 0.45),
    "articles": Lengths(64, 8, 130, 0.8),
}


@dataclass(frozen=True)
class GeneratedWork:
    """A folder in which everything is made once.

    Attributes:
        folder: kept files.
        small: a small encoder, short sequences and few of them.
        seed: of all draws.
    """

    folder: Path
    small: bool = False
    seed: int = 1

    def lengths(self, mix: str) -> Lengths:
        """Return the lengths of a mix."""
        return (SMALL_LENGTHS if self.small else LENGTHS)[mix]

    def encoder(self) -> Path:
        """The encoder, without heads."""
        import torch
        from transformers import BertConfig, BertModel

        path = self.folder / "encoder"
        if not path.exists():
            torch.manual_seed(self.seed)
            vocabulary = self._vocabulary()
            with atomic_directory(path) as folder:
                shape: dict[str, Any] = dict(SMALL if self.small else BASE)
                shape["initializer_range"] = DEVIATION / shape["hidden_size"] ** 0.5
                BertModel(BertConfig(vocab_size=len(vocabulary), **shape)).save_pretrained(folder)
                write_tokenizer(folder, vocabulary)
        return path

    def model(self, dropout: str = "none") -> Path:
        """The cross-encoder to train or to score with: fresh heads on the encoder."""
        from irpretrain.models.cross_encoder import CrossEncoderModel

        path = self.folder / f"model-{dropout}"
        if not path.exists():
            layers, attention = DROPOUTS[dropout]
            model = CrossEncoderModel.from_encoder(
                self.encoder(), "mlp", None, layers, self.seed, attention_dropout=attention
            )
            model.save(path)
        return path

    def regressor(self) -> Path:
        """DeepCT's model."""
        from irpretrain.models.term_weight_regressor import TermWeightRegressor

        path = self.folder / "regressor"
        if not path.exists():
            TermWeightRegressor.from_encoder(self.encoder(), seed=self.seed).save(path)
        return path

    def documents(self, mix: str) -> Path:
        """A DOCUMENTS table."""
        path = self.folder / f"{mix}.parquet"
        if not path.exists():
            rows = (
                {
                    "document_id": f"d{position}",
                    "part": 0,
                    "position": position,
                    "title": "",
                    "url": "",
                    "body": text,
                }
                for position, text in enumerate(self.texts(mix, self._documents))
            )
            DOCUMENTS.write(path, list(rows))
        return path

    def tokens(self, mix: str) -> Path:
        """The token store of these documents."""
        from irpretrain.text.token_store import write_token_store

        path = self.folder / f"{mix}-tokens"
        if not path.exists():
            write_token_store(self.documents(mix), self.encoder(), TEXT, path)
        return path

    def groups(self, mix: str) -> Path:
        """Pairs of queries for each document, as ROP makes them."""
        path = self.folder / f"{mix}-groups.parquet"
        if not path.exists():
            queries = self._queries(2 * self._documents, "pairs")
            rows = [
                group((0, position), pair, [Span(f"d{position}")])
                for position, pair in enumerate(zip(queries[::2], queries[1::2], strict=True))
            ]
            GROUPS.write(path, rows)
        return path

    def dataset(self, mix: str) -> Dataset:
        """Queries, a relevant document of each, and a run of a hundred candidates (small: ten)."""
        folder = self.folder / f"{mix}-dataset"
        made = Dataset(mix, *(folder / name for name in ("queries.parquet", "qrels.txt", "run.gz")))
        if not folder.exists():
            draw = self._draw("candidates")
            number, depth = (24, 10) if self.small else (600, 100)
            names = [f"q{position}" for position in range(number)]
            chosen = [draw.choice(self._documents, depth, replace=False) for _ in names]
            texts = self._queries(number, "queries")
            with atomic_directory(folder) as temporary:
                rows = [{"query_id": name, "text": text} for name, text in zip(names, texts, strict=True)]
                QUERIES.write(temporary / made.queries.name, rows)
                qrels = (f"{name} 0 d{some[0]} 1\n" for name, some in zip(names, chosen, strict=True))
                (temporary / made.qrels.name).write_text("".join(qrels))
                run = {
                    name: [
                        (f"d{document}", float(depth - position)) for position, document in enumerate(some)
                    ]
                    for name, some in zip(names, chosen, strict=True)
                }
                write_run(temporary / made.run.name, run, "generated")
        return made

    def targets(self) -> Path:
        """A TERM_TARGETS table of passages, for DeepCT's training."""
        from irpretrain.text.words import word_spans

        path = self.folder / "targets.parquet"
        if not path.exists():
            draw, rows = self._draw("targets"), []
            for position, text in enumerate(self.texts("passages", self._documents)):
                words = len(word_spans(text, TEXT.words).words)
                key = {"part": 0, "position": position, "document_id": f"d{position}", "sample": 0}
                rows.append(key | {"text": text, "judged": 1, "targets": draw.random(words).tolist()})
            TERM_TARGETS.write(path, rows)
        return path

    def documents_to_weigh(self, mix: str, number: int) -> list[Text]:
        """Documents whose words are weighed."""
        return [
            Text(0, position, f"d{position}", text) for position, text in enumerate(self.texts(mix, number))
        ]

    def texts(self, mix: str, number: int) -> Iterator[str]:
        """Yield the texts of documents; what is longer than any sequence is not made."""
        lengths, draw = self.lengths(mix), self._draw(mix)
        drawn = draw.lognormal(np.log(lengths.median), lengths.spread, number)
        for pieces in np.clip(drawn, 4, 1.2 * lengths.longest):
            yield self._text(draw, round(pieces * 3 / 4))

    def training(
        self,
        kind: str,
        mix: str,
        batch_groups: int,
        steps: int,
        compute: ComputeConfig,
        dropout: str = "none",
    ) -> TrainingWork:
        """Return a training as `embedded_work` describes one.

        Args:
            kind: pre-training, "pre-training without MLM" or fine-tuning.
            mix: of lengths.
            batch_groups, steps, compute: pairs a step, steps of a turn, and how they are computed.
            dropout: see DROPOUTS.
        """
        lengths, tuned = self.lengths(mix), kind == "fine-tuning"
        return TrainingWork(
            self.model(dropout),
            (self.tokens(mix),),
            (self.documents(mix),),
            None if tuned else self.groups(mix),
            self.dataset(mix) if tuned else None,
            lengths.longest,
            lengths.query,
            batch_groups,
            self.seed,
            MaskingConfig() if kind == "pre-training" else None,
            steps,
            compute,
            TEXT,
        )

    def reranking(self, mix: str, compute: ComputeConfig, queries: int, batch_tokens: int) -> Any:
        """Return a re-ranking as reranking.py describes one, with so many queries a turn."""
        from reranking import Work

        lengths = self.lengths(mix)
        options = RerankingConfig(
            max_length=lengths.longest,
            query_length=lengths.query,
            batch_tokens=batch_tokens,
            compute=compute,
        )
        made = self.tokens(mix), self.documents(mix), self.dataset(mix)
        return Work(self.model(), *made, options, TEXT, queries)

    @property
    def _documents(self) -> int:
        """Documents of a collection, and so groups of an epoch."""
        return 60 if self.small else 3000

    def _draw(self, name: str) -> np.random.Generator:
        return np.random.default_rng([self.seed, *name.encode()])

    def _queries(self, number: int, name: str) -> list[str]:
        draw = self._draw(name)
        return [self._text(draw, int(size)) for size in draw.integers(2, 5 if self.small else 9, number)]

    def _text(self, draw: np.random.Generator, words: int) -> str:
        """So many words; a third of them have two word pieces, so that a word has 4/3 on average, as in English."""
        beginnings, ends = (
            draw.integers(self._sizes[0], size=words),
            draw.integers(self._sizes[1], size=words),
        )
        return " ".join(
            f"w{begin}s{end}" if long else f"w{begin}"
            for begin, end, long in zip(beginnings, ends, draw.random(words) < 1 / 3, strict=True)
        )

    @property
    def _sizes(self) -> tuple[int, int]:
        """Word pieces that begin a word, and that end one."""
        return (1900, 95) if self.small else (29_517, 1000)

    def _vocabulary(self) -> list[str]:
        begin, end = self._sizes
        return [*SPECIAL, *(f"w{n}" for n in range(begin)), *(f"##s{n}" for n in range(end))]


def write_tokenizer(folder: Path, vocabulary: list[str]) -> None:
    """Write BERT's tokenizer with a vocabulary, in the files that Hugging Face reads."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer
    from tokenizers.processors import TemplateProcessing

    tokenizer = Tokenizer(WordPiece({piece: i for i, piece in enumerate(vocabulary)}, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = BertNormalizer(lowercase=True), BertPreTokenizer()
    tokenizer.add_special_tokens(SPECIAL)
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(name, SPECIAL.index(name)) for name in ("[CLS]", "[SEP]")],
    )
    with atomic_file(folder / "tokenizer.json") as temporary:
        tokenizer.save(str(temporary))
    write_text(folder / "vocab.txt", "\n".join(vocabulary) + "\n")
    write_text(folder / "tokenizer_config.json", json.dumps({"tokenizer_class": "BertTokenizer"}))
