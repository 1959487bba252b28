"""Compiled batches and masks are those of plain Python, for every kind of group, store and tokenizer."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing

from irpretrain.config.text import TextConfig
from irpretrain.config.training import MaskingConfig
from irpretrain.foundation.contracts import GROUPS, NO_ANCHOR
from irpretrain.objectives.groups import Span, group
from irpretrain.text.token_store import TokenStore, write_token_store
from irpretrain.text.word_pieces import WordPieceTokenizer, load_tokenizer
from irpretrain.training.batches import BatchBuilder
from irpretrain.training.group_table import GroupTable
from irpretrain.training.masking import Masker
from plain_groups import Group, StoreSpan, columns, plain, plain_batch, plain_masks
from small_documents import write_documents
from tiny_models import FAMILIES

SHARDS = [
    ["cab word01 word02 face bad jab", "", "word03"],
    [""],  # a shard without any word piece
    ["bad. cab, word04 " * 9, "a", "abcdefghij " * 5 + "word05"],
]
DOCUMENT_COUNT = sum(map(len, SHARDS))
LITERALS = ["", "cab", "bad word07", "word13  face\nbad, jab", "a" * 12, "cab " * 9]
TEMPLATES = {
    "no special token around": "$A:3 [SEP]:2 $B:1",
    "nothing between": "[CLS]:1 $A $B [SEP]",
    "two of each": "[CLS] [CLS]:1 $A:1 [SEP] [SEP]:1 $B [SEP] [SEP]:1",
}

Case = tuple[TokenStore, WordPieceTokenizer]


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Case]:
    """Return stores of SHARDS by tokenizers: those of families, and BERT's with other special tokens."""
    made = dict[str, Case]()
    for name in ("bert", "roberta", "xlm-roberta", "albert", *TEMPLATES):
        folder = tmp_path_factory.mktemp("plain")
        directory = folder / "encoder"
        directory.mkdir()
        FAMILIES.get(name, FAMILIES["bert"])[1](directory)
        if name in TEMPLATES:
            backend = Tokenizer.from_file(str(directory / "tokenizer.json"))
            tokens = [(token, backend.token_to_id(token)) for token in ("[CLS]", "[SEP]")]
            backend.post_processor = TemplateProcessing(
                single="[CLS] $A [SEP]", pair=TEMPLATES[name], special_tokens=tokens
            )
            backend.save(str(directory / "tokenizer.json"))
        made[name] = TokenStore.open(_write(folder, directory)), load_tokenizer(directory)
    return made


def _write(folder: Path, encoder: Path) -> list[Path]:
    text, stores, number = TextConfig(words="alphanumeric", fields=["body"]), list[Path](), 0
    for shard, texts in enumerate(SHARDS):
        named = {f"d{number + position}": body for position, body in enumerate(texts)}
        table = write_documents(folder / f"{shard}.parquet", named, number)
        stores.append(folder / f"tokens-{shard}")
        write_token_store(table, encoder, text, stores[-1])
        number += len(texts)
    return stores


@st.composite
def spans(draw: st.DrawFn) -> StoreSpan:
    """Spans that may be empty, begin or end beyond the document, and have gaps at either end."""
    row = draw(st.integers(0, DOCUMENT_COUNT - 1))
    start, gap_start, gap_end, end = sorted(draw(st.lists(st.integers(0, 12), min_size=4, max_size=4)))
    gap = (gap_start, gap_end) if gap_start < gap_end and draw(st.booleans()) else (0, 0)
    return StoreSpan(row, start, draw(st.sampled_from([-1, end])), *gap)


@st.composite
def groups(draw: st.DrawFn) -> Group:
    size = draw(st.integers(1, 4))
    documents = draw(st.lists(spans(), min_size=size, max_size=size))
    some_spans = st.lists(spans(), min_size=size, max_size=size)
    if draw(st.booleans()):
        bounds = st.tuples(st.integers(0, 9), st.integers(0, 12)).map(lambda pair: tuple(sorted(pair)))
        anchors = st.lists(st.just(NO_ANCHOR) | bounds, min_size=size, max_size=size)
        return Group(draw(some_spans)[:1], documents, draw(anchors))
    mixed = st.lists(spans() | st.sampled_from(LITERALS), min_size=size, max_size=size)
    queries = draw(mixed)
    return Group(queries, documents[:1]) if draw(st.booleans()) else Group(queries[:1], documents)


ENCODERS = st.sampled_from(["bert", "bert", "roberta", "xlm-roberta", "albert", *TEMPLATES])
GROUP_LISTS = st.lists(groups(), min_size=1, max_size=4)


def assert_equal(found: Any, expected: Any) -> None:
    for field in dataclasses.fields(expected):
        array, plain_array = getattr(found, field.name), getattr(expected, field.name)
        assert (array.dtype, array.shape) == (plain_array.dtype, plain_array.shape), field.name
        assert array.tolist() == plain_array.tolist(), field.name


@given(ENCODERS, st.lists(GROUP_LISTS, min_size=1, max_size=2), st.integers(1, 9), st.integers(1, 20))
def test_batches(
    cases: dict[str, Case], encoder: str, steps: Sequence[list[Group]], query_length: int, more: int
) -> None:
    store, tokenizer = cases[encoder]
    length = query_length + tokenizer.template.special_count + more
    builder = BatchBuilder(store, tokenizer, length, query_length)
    for some in steps:
        made = columns(*some)
        assert plain(made) == [Group(*map(tuple, one)) for one in _without_vain_anchors(some)]
        batch = builder.build(made)
        assert_equal(batch, plain_batch(some, store, tokenizer, length, query_length))
        assert builder.lengths(made).tolist() == batch.attention_mask.sum(axis=1).tolist()
        order = np.arange(len(some))[::-1]
        assert plain(made.take(order)) == plain(made)[::-1]


def _without_vain_anchors(groups: Sequence[Group]) -> list[Group]:
    return [one._replace(anchors=() if set(one.anchors) == {NO_ANCHOR} else one.anchors) for one in groups]


@given(
    encoder=ENCODERS,
    some=GROUP_LISTS,
    options=st.fixed_dictionaries({
        "ratio": st.sampled_from([0.0, 0.15, 0.5]),
        "unit": st.sampled_from(["token", "word"]),
        "most": st.none() | st.integers(1, 6),
    }),
    anchor_ratio=st.none() | st.sampled_from([0.0, 0.5, 1.0]),
    scope=st.sampled_from(["document", "sequence"]),
    before=st.integers(0, 5),
)  # fmt: skip
def test_masks(
    cases: dict[str, Case],
    encoder: str,
    some: list[Group],
    options: dict[str, Any],
    anchor_ratio: float | None,
    scope: str,
    before: int,
) -> None:
    store, tokenizer = cases[encoder]
    if anchor_ratio is not None:
        scope = "sequence"
    masking = MaskingConfig(**options, anchor_ratio=anchor_ratio, scope=scope)
    batch = BatchBuilder(store, tokenizer, 24, 8).build(columns(*some))
    masked = Masker(masking, tokenizer, 3, 24, "php/0").apply(batch, 5, before)
    assert_equal(masked, plain_masks(masking, tokenizer, 3, 24, "php/0", batch, 5, before))


def test_masks_of_long_sequences(cases: dict[str, Case]) -> None:
    """Their units fall into many buckets; a step that is shared out has the masks of the whole step."""
    store, tokenizer = cases["bert"]
    some = columns(*(Group(("cab bad",), (StoreSpan(4), StoreSpan(6))) for _ in range(40)))
    builder = BatchBuilder(store, tokenizer, 64, 8)
    masker = Masker(MaskingConfig(), tokenizer, 3, 64)
    batch, later = builder.build(some), builder.build(some[15:])
    whole = masker.apply(batch, 9)
    assert_equal(whole, plain_masks(MaskingConfig(), tokenizer, 3, 64, "", batch, 9, 0))
    assert masker.apply(later, 9, 30).input_ids.tolist() == whole.input_ids[30:].tolist()


def _without_gaps_in_queries(one: Group) -> Group:
    return one._replace(
        queries=[query if isinstance(query, str) else StoreSpan(*query[:3]) for query in one.queries]
    )


@given(rows=st.lists(groups().map(_without_gaps_in_queries), min_size=2, max_size=7))
def test_tables(cases: dict[str, Case], tmp_path_factory: pytest.TempPathFactory, rows: list[Group]) -> None:
    store, _ = cases["bert"]
    path = tmp_path_factory.mktemp("table") / "groups.parquet"
    records = []
    for position, row in enumerate(rows):
        queries = [query if isinstance(query, str) else _named(query) for query in row.queries]
        documents = [_named(document) for document in row.documents]
        anchors = [{"start": start, "end": end} for start, end in row.anchors]
        records.append({**group((0, position), queries, documents), "anchors": anchors})
    GROUPS.write(path, records)
    table = GroupTable(path, store, 3, 1, "x")
    expected = [Group(*map(tuple, row)) for row in _without_vain_anchors(rows)]
    for step in range(4):
        assert plain(table.groups(step)) == [expected[index] for index in table.order(step)]
    assert table.sizes(np.arange(len(rows))).tolist() == [len(row.sequences()) for row in rows]


def _named(span: StoreSpan) -> Span:
    return Span(f"d{span.row}", *span[1:])


def test_a_text_is_tokenised_once_a_step(cases: dict[str, Case], monkeypatch: pytest.MonkeyPatch) -> None:
    store, tokenizer = cases["roberta"]
    calls, words = list[list[str]](), WordPieceTokenizer.words

    def note(self: WordPieceTokenizer, texts: Sequence[str]) -> Any:
        calls.append(list(texts))
        return words(self, texts)

    monkeypatch.setattr(WordPieceTokenizer, "words", note)
    made = columns(
        *(Group(("cab", "bad"), (StoreSpan(row),)) for row in range(3)), Group(("j",), (StoreSpan(0),))
    )
    BatchBuilder(store, tokenizer, 24, 8).build(made[:3])
    assert calls == [["cab", "bad"]]


def test_a_row_outside_the_store_is_refused(cases: dict[str, Case]) -> None:
    store, tokenizer = cases["bert"]
    with pytest.raises(IndexError, match=f"{DOCUMENT_COUNT} is out of bounds"):
        BatchBuilder(store, tokenizer, 24, 8).build(columns(Group(("a",), (StoreSpan(DOCUMENT_COUNT),))))
