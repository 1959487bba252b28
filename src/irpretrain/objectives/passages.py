"""Passages of articles, runs of whole sentences within one section, and the groups that ICT and BFS make of them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from irpretrain.config.base import Section, option
from irpretrain.objectives.draws import LinkSource, RandomDocuments, by_document
from irpretrain.objectives.groups import Group, Span, group
from irpretrain.objectives.shard import Counts, Shard, ShardArticle, stream_articles
from irpretrain.text.languages import ENGLISH
from irpretrain.text.passages import Characters, sentences
from irpretrain.text.words import count_spaced


@dataclass(frozen=True, slots=True)
class Passage:
    """Sentences (characters of the body) of one section, in order, one after the other, and their language."""

    section: int
    sentences: tuple[Characters, ...]
    language: str = ENGLISH

    @property
    def start(self) -> int:
        return self.sentences[0][0]

    @property
    def end(self) -> int:
        return self.sentences[-1][1]


def passages(
    body: str, sections: Iterable[Characters], max_words: int, language: str = ENGLISH
) -> list[Passage]:
    """Cut the own text of each section into passages of at most `max_words` words (`text.words`).

    Sentences are packed greedily; a longer sentence is a passage of its own. Sections without text give none.
    """
    packed_passages = []
    for section, (start, end) in enumerate(sections):
        pending_sentences: list[Characters] = []
        word_count = 0
        for sentence in sentences(body, start, end, language):
            sentence_words = count_spaced(body[slice(*sentence)], language)
            if pending_sentences and word_count + sentence_words > max_words:
                packed_passages.append(Passage(section, tuple(pending_sentences), language))
                pending_sentences, word_count = [], 0
            pending_sentences.append(sentence)
            word_count += sentence_words
        if pending_sentences:
            packed_passages.append(Passage(section, tuple(pending_sentences), language))
    return packed_passages


# Words that a sentence needs to be a query. No paper gives a number: one or two words are a heading or a remnant.
MINIMUM_QUERY_WORDS = 3


def query_sentences(body: str, passage: Passage) -> list[Characters]:
    """Return the sentences of a passage that are long enough for a query."""
    return [
        (start, end)
        for start, end in passage.sentences
        if count_spaced(body[start:end], passage.language) >= MINIMUM_QUERY_WORDS
    ]


# Groups of a sentence, a passage of its own article and passages of other documents: what ICT and BFS share.
#
# A passage of another document is one that could be preferred in a group of that document, as in Chang et al., where
# the others are those of the batch's other pairs: cut at the same sentences, with one left out in the same way. So
# only the words distinguish an article's own passage from the others.


class PassageOptions(Section):
    """What the two objectives that match a sentence with a passage of its article (ICT and BFS) share."""

    passage_words: int = option(
        128, "Maximum passage length: whole sentences of one section.", unit="words", ge=1
    )
    negatives: int = option(4, "Passages of other random documents.", unit="passages", ge=1)
    groups_per_document: int | None = option(
        1, "Maximum groups per document; null: all.", unit="groups", ge=1
    )


class PassageChoice(NamedTuple):
    """A passage, one of its sentences, and whether this is left out of it."""

    passage: Passage
    sentence: Characters
    excludes_sentence: bool


# Chooses among the passages of a body, by the options and a random stream.
Choose = Callable[[str, Sequence[Passage], Any, np.random.Generator], list[PassageChoice]]


class PassageDraft(NamedTuple):
    """A group that still lacks the passages of the other documents."""

    location: tuple[int, int]
    sample: int
    query: Span
    passage: Span
    negative_ids: tuple[str, ...]
    stream: str


def passage_groups(shard: Shard, options: PassageOptions, counts: Counts, choose: Choose) -> Iterator[Group]:
    """Yield a group for each choice that `choose` makes of an article's passages.

    Counts negatives_repeated, negatives_lacking (drawn documents without such a passage), and groups_without_negatives
    (not made, as all were lacking).
    """
    counts.update(negatives_repeated=0, negatives_lacking=0, groups_without_negatives=0)
    drafts = list(counts.tally(draft_groups(shard, options, counts, choose)))
    negative_spans = iter(_draw_passages(shard, options, drafts, choose))
    for draft in drafts:
        negatives = [span for _ in draft.negative_ids if (span := next(negative_spans)) is not None]
        counts["negatives_lacking"] += len(draft.negative_ids) - len(negatives)
        if negatives:
            yield group(draft.location, [draft.query], [draft.passage, *negatives], sample=draft.sample)
        else:
            counts["groups_without_negatives"] += 1


def draft_groups(shard: Shard, options: Any, counts: Counts, choose: Choose) -> Iterator[PassageDraft]:
    source = LinkSource(shard)
    random_documents = RandomDocuments(source.drawable_words)
    for article in shard.articles(counts):
        rng = shard.stream(options.type, article.document_id)
        sample = 0
        for choice in choose(article.body, passages_of(article, options), options, rng):
            spans = choice_spans(article, choice)
            negatives, repeated_count = random_documents.draw(rng, options.negatives, {source.node(article)})
            if spans is None or not negatives:
                counts.skip("no_other_documents" if spans else "beyond_token_store")
                continue
            negative_ids = tuple(source.graph.document_id(node) for node in negatives)
            yield PassageDraft(
                article.location, sample, *spans, negative_ids, f"{article.document_id}/{sample}"
            )
            sample += 1
            counts["negatives_repeated"] += repeated_count
        if not sample:
            counts.skip("no_passage_with_a_sentence")


def passages_of(article: ShardArticle, options: PassageOptions) -> list[Passage]:
    bounds = [(section.start, section.end) for section in article.sections]
    return passages(article.body, bounds, options.passage_words, article.language)


def choice_spans(article: ShardArticle, choice: PassageChoice) -> tuple[Span, Span] | None:
    """Return the spans of the sentence and of its passage, with a gap for an excluded sentence; None if not stored.

    A passage that begins the body begins with the document's title.
    """
    query = article.span(*choice.sentence)
    passage = article.pieces(choice.passage.start, choice.passage.end)
    if query is None or passage is None:
        return None
    first_piece = 0 if not article.body[: choice.passage.start].strip() else passage[0]
    gap = (query.start, query.end) if choice.excludes_sentence else (0, 0)
    if gap[1] - gap[0] == passage[1] - passage[0]:
        return None
    return query, Span(article.document_id, first_piece, passage[1], *gap)


def _draw_passages(
    shard: Shard, options: Any, drafts: Iterable[PassageDraft], choose: Choose
) -> list[Span | None]:
    """Draw a passage for each of the drafts' other documents, in one pass over the collection's tables.

    Returns:
        The spans in the order of the drafts and their documents; None for a document without such a passage.
    """
    single_options = options.model_copy(update={"groups_per_document": 1})
    positions, streams = by_document(
        (negative_id, f"{draft.stream}/{index}")
        for draft in drafts
        for index, negative_id in enumerate(draft.negative_ids)
    )
    document_ids = pa.array(sorted(positions), pa.string())
    spans: list[Span | None] = [None] * len(streams)
    for documents, tokens in zip(shard.collection, shard.collection_tokens, strict=True):
        for article in stream_articles(documents, tokens, shard.text, document_ids):
            if article is None:
                continue
            candidates = passages_of(article, options)
            for position in positions[article.document_id]:
                rng = shard.stream(f"{options.type} passage", streams[position])
                choices = choose(article.body, candidates, single_options, rng)
                sentence_and_passage = choice_spans(article, choices[0]) if choices else None
                spans[position] = sentence_and_passage and sentence_and_passage[1]
    return spans
