"""Examples for the report: the first ranking group of an objective as text, and the first text with targets of its
words."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, groupby
from pathlib import Path
from typing import Any

import numpy as np

from irpretrain.axioms.preferences import larger_is_better, preferences
from irpretrain.config.axioms import AXIOMS
from irpretrain.config.text import TextConfig
from irpretrain.foundation.contracts import AXIOM_VALUES, DOCUMENTS, GROUPS, TERM_TARGETS
from irpretrain.foundation.errors import MAKE_AGAIN, IntegrityError
from irpretrain.report.pages import cut_words, write_json
from irpretrain.text.token_store import TokenStore
from irpretrain.text.word_pieces import tokenizer_backend
from irpretrain.text.words import word_spans
from irpretrain.wikipedia.article import build_tree, read_sections

# Most word pieces of a text that are shown, or words of a text with targets.
MAX_PIECES = 80
# A part of a text, and whether it is the anchor.
TextPart = tuple[str, bool]


def describe_objective(
    groups: str | Path,  # GROUPS table
    tokens: Sequence[str | Path],  # token stores of the collection
    documents: Sequence[str | Path],  # its DOCUMENTS tables
    tokenizer: str | Path,  # Hugging Face directory
    axiom_values: Sequence[str | Path],  # AXIOM_VALUES tables of an objective that compares axioms; else none
    stm_2_threshold: float | None,
    output: str | Path,
) -> dict[str, Any]:
    """Write the first group of an objective as JSON, an empty object where there is none; return counts.

    It has `sequences` (`query` and `document`, each as parts of text, and `score`), the preferred one first; `path`,
    if the preferred query is the titles on the path to a section: this path in the article's tree with what branches
    off it (depth, title, whether it is on the path); and `axioms` (axiom → 1: it prefers the first query, -1: the
    second, 0: neither).
    """
    group = next((row for batch in GROUPS.stream(groups, rows=1) for row in batch.to_pylist()), None)
    content: dict[str, Any] = {}
    if group is not None:
        texts = TokenTexts(TokenStore.open(tokens), tokenizer)
        content["sequences"] = list(_sequences(group, texts))
        query = "".join(text for text, _ in content["sequences"][0]["query"])
        content["path"] = _path(documents, group["documents"][0]["document_id"], query)
        if stm_2_threshold is not None:
            content["axioms"] = _preferences(axiom_values, group, stm_2_threshold)
    write_json(output, content)
    return {"sequences": len(content.get("sequences", ()))}


def describe_weighting(targets: str | Path, text: TextConfig, output: str | Path) -> dict[str, Any]:
    """Write the first text of a TERM_TARGETS table as JSON; return counts.

    It has `words` (the characters before a word, the word, its target), `rest` (the characters after the last one), and
    `judged`: of how many queries, or documents, a target is the share.
    """
    row = next(row for batch in TERM_TARGETS.stream(targets, rows=1) for row in batch.to_pylist())
    spans = word_spans(row["text"], text.word_kind)
    words, ending = cut_words(row["text"], list(zip(spans.starts.tolist(), spans.ends.tolist(), strict=True)))
    words_with_targets = [
        (before, word, float(f"{target:.2g}"))
        for (before, word), target in zip(words, row["targets"], strict=True)
    ]
    ending = ending if len(words) <= MAX_PIECES else " …"
    write_json(output, {"words": words_with_targets[:MAX_PIECES], "rest": ending, "judged": row["judged"]})
    return {"words": len(words)}


class TokenTexts:
    """Texts of word pieces, as the tokenizer joins them."""

    def __init__(self, store: TokenStore, tokenizer: str | Path) -> None:
        self._store, self._backend = store, tokenizer_backend(Path(tokenizer))

    def parts_of(self, span: Mapping[str, Any], anchor: tuple[int, int] | None = None) -> list[TextPart]:
        """Return the parts of a span, at most `MAX_PIECES` word pieces, without its gap."""
        [row] = self._store.rows([span["document_id"]])
        pieces = self._store.tokens(int(row))
        span_end = len(pieces) if span["end"] < 0 else span["end"]
        gap = (span.get("gap_start", 0), span.get("gap_end", 0))
        positions = [place for place in range(span["start"], span_end) if not gap[0] <= place < gap[1]]
        anchor_start, anchor_end = anchor or (0, 0)
        text_parts = [
            (self._backend.decode([int(pieces[position]) for position in part]), is_anchor)
            for is_anchor, part in groupby(
                positions[:MAX_PIECES], lambda position: anchor_start <= position < anchor_end
            )
        ]
        return [*text_parts, ("…", False)] if len(positions) > MAX_PIECES else text_parts


def _sequences(group: Mapping[str, Any], texts: TokenTexts) -> Iterator[dict[str, Any]]:
    queries, documents, anchors = group["queries"], group["documents"], group["anchors"]
    for index, score in enumerate(group["scores"]):
        query = queries[min(index, len(queries) - 1)]
        anchor = anchors[index] if anchors and anchors[index]["start"] >= 0 else None
        anchor_span = None if anchor is None else (anchor["start"], anchor["end"])
        yield {
            "query": [(query["text"], False)] if query["text"] else texts.parts_of(query, anchor_span),
            "document": texts.parts_of(documents[min(index, len(documents) - 1)]),
            "score": float(f"{score:.4g}"),
        }


def _path(documents: Sequence[str | Path], document_id: str, query: str) -> list[tuple[int, str, bool]]:
    columns = ["document_id", "title", "sections"]
    streams = (DOCUMENTS.stream_documents(path, [document_id], columns, rows=1) for path in documents)
    row = next((row for batch in chain.from_iterable(streams) for row in batch.to_pylist()), None)
    if row is None or len(row["sections"]) < 2:
        return []
    tree = build_tree(row["title"], read_sections(row["sections"], ""), drop_boilerplate=True)
    title_paths = (" ".join(tree.path(node_index)) for node_index in range(len(tree.nodes)))
    node_index = next((index for index, title_path in enumerate(title_paths) if title_path == query), -1)
    on_path = set[int]()
    while node_index >= 0:
        on_path.add(node_index)
        node_index = tree.nodes[node_index].parent
    if len(on_path) < 2:  # no path, or the title alone
        return []
    return [
        (node.depth, node.title, node_index in on_path)
        for node_index, node in enumerate(tree.nodes)
        if node_index in on_path or node.parent in on_path
    ]


def _preferences(
    axiom_values: Sequence[str | Path], group: Mapping[str, Any], stm_2_threshold: float
) -> dict[str, int]:
    document_id, texts = (group["documents"][0]["document_id"], [query["text"] for query in group["queries"]])
    for path in axiom_values:
        for batch in AXIOM_VALUES.stream_documents(path, [document_id], None):
            queries_of_document = batch.column("query").to_pylist()
            if set(texts) <= set(queries_of_document):
                values = larger_is_better(batch, path)
                first_row, second_row = (np.array([queries_of_document.index(text)]) for text in texts[:2])
                [features] = preferences(values, first_row, second_row, stm_2_threshold)
                return {axiom: int(value) for axiom, value in zip(AXIOMS, features, strict=True)}
    raise IntegrityError(
        axiom_values[0] if axiom_values else "axiom values",
        f"they lack the pseudo-queries of document {document_id!r}",
        remedy=MAKE_AGAIN,
    )
