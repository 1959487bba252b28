"""Ranking groups for other tools: a Hugging Face data set of texts, with a card.

A row is a group: the text that its sequences share, the preferred text, and the others. Texts are the word pieces that
models here are trained on, joined to words: the encoder's tokenizer gives the same pieces again.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Self

import pyarrow as pa
import pyarrow.parquet as pq

from irpretrain.atomic import atomic_directory
from irpretrain.contracts import GROUPS
from irpretrain.errors import InputError
from irpretrain.progress import progress
from irpretrain.report.model_card import (
    Source,
    hub_licence,
    source_table,
    with_sources,
    write_sections,
    yaml_block,
)
from irpretrain.text.token_store import TokenStore
from irpretrain.text.word_pieces import WordPieceTokenizer, load_tokenizer
from irpretrain.training.batches import RankingGroup, StoreSpan
from irpretrain.training.group_table import GroupTable

FILE = "train.parquet"
# Rows in a Parquet row group; so few that the long texts of a group are not all in memory at once.
ROWS_PER_GROUP = 1_000
COLUMNS = """\
- `{shared}`: the text that all pairs of the group share
- `positive`: the preferred {other}
{negatives}- `scores`: what the preference was read from, of `positive` and each negative
- `labels`: 1 for `positive`, 0 for each negative

Rows lie in `train.parquet`.

Texts are word pieces of `{encoder}`, joined to words; its tokenizer gives the same pieces again."""
LISTS = """\
def as_list(group):
    texts = [text for name, text in group.items() if name.startswith(("positive", "negative_"))]
    return {"texts": [text for text in texts if text is not None]}

training = groups.map(as_list).select_columns(["query", "texts", "labels"])
loss = losses.RankNetLoss(model)"""
PAIRS = """\
def as_pairs(block):
    names = [name for name in block if name.startswith(("positive", "negative_"))]
    pairs = [(block[name][row], document, float(name == "positive"))
             for row, document in enumerate(block["document"]) for name in names]
    queries, documents, labels = map(list, zip(*(pair for pair in pairs if pair[0] is not None)))
    return {"query": queries, "document": documents, "label": labels}

training = groups.map(as_pairs, batched=True, remove_columns=groups.column_names)
loss = losses.BinaryCrossEntropyLoss(model)"""
USE = """\
After `pip install 'sentence-transformers[train]'`:

```python
from datasets import load_dataset
from sentence_transformers.cross_encoder import CrossEncoder, CrossEncoderTrainer, losses

groups = load_dataset("parquet", data_files="train.parquet", split="train")
model = CrossEncoder("{encoder}", num_labels=1)

{training}
CrossEncoderTrainer(model=model, train_dataset=training, loss=loss).train()
```"""


class GroupFacts(NamedTuple):
    """What the configuration says of an objective's groups.

    Attributes:
        objective, collection: keys of the configuration.
        encoder: whose tokenizer made the word pieces.
    """

    objective: str
    collection: str
    options: Mapping[str, Any]
    encoder: Source
    corpora: Sequence[Source]

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> Self:
        return cls(**with_sources(values))


def export_groups(
    groups: str | Path,
    tokens: Sequence[str | Path],
    encoder: str | Path,
    facts: GroupFacts,
    output: str | Path,
) -> dict[str, Any]:
    """Write ranking groups as Parquet files of texts, with a data card.

    Args:
        groups: GROUPS table.
        tokens: token stores of the collection.
        encoder: directory of the tokenizer.
        output: directory to write: `README.md`, `train.parquet`. Groups keep their order.

    Returns:
        Counts: groups, negatives (the most of a group).

    Raises:
        InputError: some groups share a query and others a document.
        IntegrityError: there are no groups, or they are damaged.
    """
    store = TokenStore.open(tokens)
    table = GroupTable(groups, store, batch_groups=1, seed=0, name="in order")
    queries, documents = table.largest()
    if queries > 1 and documents > 1:
        raise InputError(
            groups,
            "some groups share a query and others share a document, which no table of texts can say",
            remedy="Export objectives whose groups all share a query, or all share a document.",
        )
    tokenizer = load_tokenizer(encoder)
    store.check_tokenizer(tokenizer)
    texts = _Texts(store, tokenizer, "document" if queries > 1 else "query", max(queries, documents) - 1)
    count = len(table)
    with atomic_directory(output) as folder:
        numbers = progress(enumerate(_scores(groups)), "export groups", "groups", count)
        rows = (texts.row(table[number], scores) for number, scores in numbers)
        with pq.ParquetWriter(folder / FILE, texts.schema, compression="zstd", version="2.6") as writer:
            while block := list(islice(rows, ROWS_PER_GROUP)):
                writer.write_table(pa.Table.from_pylist(block, schema=texts.schema))
        (folder / "README.md").write_text(_card(facts, texts, count), encoding="utf-8")
    return {"groups": count, "negatives": texts.negatives}


def _scores(groups: str | Path) -> Iterator[list[float]]:
    for block in GROUPS.stream(groups, ["scores"]):
        yield from block.column(0).to_pylist()


class _Texts:
    """Groups as rows of texts.

    Attributes:
        shared: `query` or `document`: which of the two the sequences of a group share.
    """

    def __init__(self, store: TokenStore, tokenizer: WordPieceTokenizer, shared: str, negatives: int) -> None:
        self._store, self._tokenizer = store, tokenizer
        self.shared, self.negatives = shared, negatives
        self._others = ["positive", *(f"negative_{number + 1}" for number in range(negatives))]
        fields = [(name, pa.string()) for name in (shared, *self._others)]
        numbers = [("scores", pa.list_(pa.float32())), ("labels", pa.list_(pa.int8()))]
        self.schema = pa.schema([*fields, *numbers])

    def row(self, group: RankingGroup, scores: list[float]) -> dict[str, Any]:
        queries, documents = (
            [self._text(part) for part in parts] for parts in (group.queries, group.documents)
        )
        [shared], others = (documents, queries) if self.shared == "document" else (queries, documents)
        labels = [1] + [0] * (len(others) - 1)
        return {
            self.shared: shared,
            **dict(zip(self._others, others, strict=False)),
            "scores": scores,
            "labels": labels,
        }

    def _text(self, part: str | StoreSpan) -> str:
        if isinstance(part, str):
            return part
        tokens = self._store.tokens(part.row)
        pieces = (tokens[first:last] for first, last in part.runs(len(tokens)))
        return " ".join(map(self._tokenizer.text, pieces))


def _card(facts: GroupFacts, texts: _Texts, count: int) -> str:
    from huggingface_hub import DatasetCardData

    other = "query" if texts.shared == "document" else "document"
    names = " to ".join(dict.fromkeys(("`negative_1`", f"`negative_{texts.negatives}`")))
    negatives = f"- {names}: not preferred; null where a group has fewer\n" if texts.negatives else ""
    encoder = facts.encoder.hub or "google-bert/bert-base-uncased"
    front = DatasetCardData(
        pretty_name=f"Ranking groups of {facts.objective} over {facts.collection}",
        task_categories=["text-ranking"],
        tags=["information-retrieval", "sentence-transformers", str(facts.options["type"])],
        configs=[{"config_name": "default", "data_files": [{"split": "train", "path": FILE}]}],
        **hub_licence(facts.corpora),
    )
    sections = {
        "Columns": COLUMNS.format(
            shared=texts.shared, other=other, negatives=negatives, encoder=facts.encoder.name
        ),
        "Use": USE.format(encoder=encoder, training=PAIRS if texts.shared == "document" else LISTS),
        "Objective": yaml_block({facts.objective: dict(facts.options)}),
        "Data": source_table("corpus", facts.corpora),
    }
    introduction = (
        f"{count:,} ranking groups, made with IR-Pretrain: in each, one pair is preferred to the others."
    )
    return write_sections(
        f"{facts.objective} over {facts.collection}", front.to_yaml(), introduction, sections
    )
