"""Ranking groups of one's own: pairs or groups of texts, or a folder of documents, topics and judgements."""

import reprlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from numbers import Real
from pathlib import Path
from typing import Any

from irpretrain.config.objectives import OBJECTIVES
from irpretrain.config.retrieval import RetrievalConfig
from irpretrain.corpora.collection import absent_documents
from irpretrain.corpora.topics_and_judgements import check_documents_are_known, document_hint
from irpretrain.foundation.contracts import GROUPS
from irpretrain.foundation.errors import ConfigError, InputError, count_of
from irpretrain.foundation.progress import notice
from irpretrain.library.collection import Collection
from irpretrain.library.groups import OWN_GROUPS, Groups, OwnGroupsOptions, TextGroup
from irpretrain.library.inputs import checked_text, listed
from irpretrain.library.options import Options
from irpretrain.library.own_folder import read_folder
from irpretrain.objectives.groups import Span, group

Texts = str | Sequence[str]
# Documents of BM25's list among which a folder's relevant documents are learned from.
CANDIDATES = RetrievalConfig().depth

# Queries and documents, the preferred one first, one of the two a single text; or a mapping with the keys `queries`
# or `query`, and `documents` or `document`, and perhaps `objective`. One query and one document are a pair.
GivenGroup = tuple[Texts, Texts] | TextGroup | Mapping[str, Any]
# Queries and documents.
GroupTexts = tuple[list[str], list[str]]


def own_groups(
    groups: Iterable[GivenGroup],
    encoder: str | Path | None = None,
    options: Options | None = None,
    negatives: int = 1,
) -> Groups:
    """Return one's own groups or pairs.

    Args:
        groups: queries and documents of which the first are preferred; a pair is preferred to the documents that
            BM25 finds first for its query among those of all pairs and groups.
        encoder: what `pretrain` or `finetune` starts from, as in `Collection`.
        options: preset and seed.
        negatives: documents that a pair is preferred to.

    Raises:
        ConfigError: these are no groups, or there is no other document for a pair.

    Examples:
        >>> groups = own_groups([("apple juice", ["apple pie with apple juice", "pear pie"])])
        >>> [(group.queries, group.documents) for group in groups]
        [(['apple juice'], ['apple pie with apple juice', 'pear pie'])]
    """
    return checked_groups(listed(groups, "groups"), "groups", "group {}".format, encoder, options, negatives)


def checked_groups(
    groups: Sequence[GivenGroup],
    source: str,  # what messages call all groups
    location_of: Callable[[int], str],  # what they call the group of a number, from 0
    encoder: str | Path | None,
    options: Options | None,
    negatives: int,
) -> Groups:
    """Return groups or pairs, without texts that teach nothing; see `own_groups`."""
    if not groups:
        raise ConfigError(f"{source}: one or more groups are needed")
    distinct_groups = _drop_repeated_texts(
        [_read_group(own_group, location_of(group_number)) for group_number, own_group in enumerate(groups)],
        source,
        location_of,
    )
    texts = dict.fromkeys(text for _, documents in distinct_groups.values() for text in documents)
    document_ids = {text: str(place) for place, text in enumerate(texts)}
    collection = Collection({name: text for text, name in document_ids.items()}, options, encoder)
    identified_groups = {
        group_number: (queries, [document_ids[text] for text in documents])
        for group_number, (queries, documents) in distinct_groups.items()
    }
    documents_of_query = _documents_by_query(
        (query, name) for queries, names in identified_groups.values() for query in queries for name in names
    )
    written_groups = _write_groups(
        collection, identified_groups, negatives, documents_of_query, source, location_of
    )
    return replace(written_groups, options=OwnGroupsOptions(type=common_objective(groups)))


def common_objective(groups: Sequence[GivenGroup]) -> str:
    """Return the objective that all groups name, as those of `irpretrain groups` do: pre-training has its preset.

    `OWN_GROUPS` where they name none, or not one.
    """
    names = [group.get("objective") if isinstance(group, Mapping) else None for group in groups]
    is_named = bool(names) and names[0] in list(OBJECTIVES) and all(name == names[0] for name in names)
    return str(names[0]) if is_named else OWN_GROUPS


def read_groups(
    folder: str | Path,
    encoder: str | Path | None = None,
    options: Options | None = None,
    negatives: int = 1,
    **documents: Any,
) -> Groups:
    """Return a group for each relevant document of a folder's topics.

    Documents that BM25 does not find among the first 200 of their topic are left out, unless it finds none: beside
    BM25's best they teach against shared words, as `finetuning.positives` says.

    Args:
        folder: documents, topics and judgements, in formats that the workflow reads (docs/corpora.md). Their names
            say which is which, as for `irpretrain init`.
        encoder: as in `own_groups`.
        options: as in `own_groups`.
        negatives: documents per group that BM25 finds first for the topic and that are not relevant.
        documents: how the documents are read, as in `Collection.read`.

    Raises:
        InputError: one of the three is missing or cannot be read, or no relevant document is there.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> folder = TemporaryDirectory()
        >>> fruit = {"docs.tsv": "id\\ttext\\na\\tapple pie\\nb\\tpear\\n", "topics.tsv": "1\\tpie\\n",
        ...     "qrels.txt": "1 0 a 1\\n"}
        >>> _ = [Path(folder.name, name).write_text(text) for name, text in fruit.items()]
        >>> [group.document_ids for group in read_groups(folder.name)]
        [['a', 'b']]
    """
    own_folder = read_folder(Path(folder), {})
    source, paths = str(folder), own_folder.paths
    notice(
        source,
        f"{own_folder.message}; documents in {own_folder.names['documents']} ({own_folder.readings['documents']}).",
    )
    reading = own_folder.readings["documents"]
    document_options = {**reading.options, **documents}
    collection = Collection.read(paths["documents"], reading.format, options, encoder, **document_options)
    unknown_documents = absent_documents(
        {name for grades in own_folder.judged.values() for name in grades}, [collection.documents]
    )
    check_documents_are_known(
        own_folder.judged, unknown_documents, [collection.documents], Path(paths["qrels"])
    )
    judged_pairs = [
        (own_folder.queries[query], name)
        for query, names in own_folder.relevant().items()
        for name in sorted(names)
    ]
    pairs = [(text, name) for text, name in judged_pairs if name not in unknown_documents]
    absent_ids = [name for _, name in judged_pairs if name in unknown_documents]
    hint = document_hint({*absent_ids}, own_folder.judged, [collection.documents]) if absent_ids else ""
    if not pairs:
        fault = f"no relevant document of the topics is among the {len(collection):,} documents"
        raise InputError(
            folder, fault, remedy=hint or "Check that documents, topics and judgements belong together."
        )
    if absent_ids:
        lost_text = (
            f"{count_of(len(absent_ids), 'relevant document')} not among the {len(collection):,} documents"
        )
        notice(source, f"{lost_text}, such as {absent_ids[0]}; left out. {hint}".rstrip())
    judged_documents = _documents_by_query(pairs)
    candidates = _top_documents(collection, list(judged_documents), CANDIDATES)
    learned_documents = {
        text: names & {*candidates[text]} or names for text, names in judged_documents.items()
    }
    learned_pairs = [(text, name) for text, name in dict.fromkeys(pairs) if name in learned_documents[text]]
    if unranked_count := sum(map(len, judged_documents.values())) - len(learned_pairs):
        notice(
            source,
            f"{count_of(unranked_count, 'relevant document')} not among BM25's first {CANDIDATES} of their topic; "
            "left out.",
        )
    identified_groups = dict(enumerate(([text], [name]) for text, name in learned_pairs))
    return _write_groups(
        collection,
        identified_groups,
        negatives,
        judged_documents,
        source,
        lambda group_number: f"{source}: {learned_pairs[group_number][0]!r}",
    )


def _write_groups(
    collection: Collection,
    identified_groups: Mapping[int, GroupTexts],
    negatives: int,
    # Query → documents of its groups, which no pair of the query is preferred to.
    documents_of_query: Mapping[str, set[str]],
    source: str,
    location_of: Callable[[int], str],
) -> Groups:
    positions, digests = dict[str, int](), dict[str, int]()  # of all documents, without their texts
    for position, (name, text) in enumerate(collection):
        positions[name], digests[name] = position, hash(_words(text))
    documents_of_pairs = {
        queries[0]: documents_of_query[queries[0]]
        for queries, document_ids in identified_groups.values()
        if _is_pair(queries, document_ids)
    }
    negatives_of_query = (
        _choose_negatives(collection, documents_of_pairs, digests, negatives) if documents_of_pairs else {}
    )
    rows, group_counts = list[dict[str, Any]](), Counter[int]()
    for group_number, (queries, preferred) in identified_groups.items():
        document_ids = [*preferred, *(negatives_of_query[queries[0]] if _is_pair(queries, preferred) else ())]
        if len(queries) == len(document_ids) == 1:
            raise ConfigError(
                f"{location_of(group_number)}: all documents here are of its query; a pair needs another document to "
                "be preferred to"
            )
        position = positions[document_ids[0]]
        spans = [Span(name) for name in document_ids]
        rows.append(group((0, position), queries, spans, sample=group_counts[position]))
        group_counts[position] += 1
    if short_counts := [count for count in map(len, negatives_of_query.values()) if count < negatives]:
        short_text = (
            f"pairs of {count_of(len(short_counts), 'query')} have fewer than {negatives:,} negatives"
        )
        notice(
            source,
            f"{short_text}, the fewest {min(short_counts):,}: there are no more documents of other queries.",
        )
    table = collection.documents.with_name("groups-given.parquet")
    GROUPS.write(table, sorted(rows, key=lambda row: (row["position"], row["sample"])))
    return Groups(collection, OwnGroupsOptions(), table, {"groups": len(rows)})


def _drop_repeated_texts(
    groups: Sequence[GroupTexts], source: str, location_of: Callable[[int], str]
) -> dict[int, GroupTexts]:
    """Return the groups by number, without texts that are empty or stand in their group already; note how many."""
    distinct_groups: dict[int, GroupTexts] = {}
    left_out_counts, first_locations = Counter[str](), dict[str, str]()
    for group_number, (queries, documents) in enumerate(groups):
        distinct_texts = _distinct_texts(queries), _distinct_texts(documents)
        sequence_count = len(queries) * len(documents)
        distinct_count = len(distinct_texts[0]) * len(distinct_texts[1])
        is_empty = not all(map(_words, (*queries, *documents)))
        has_first_texts = bool(_words(queries[0]) and _words(documents[0]))
        is_usable = has_first_texts and distinct_count > (sequence_count > 1)
        if is_usable:
            distinct_groups[group_number] = distinct_texts
        if distinct_count < sequence_count or not is_usable:
            reason = f"{'empty' if is_empty else 'repeated'} text"
            if not is_usable:
                reason = "group with an empty text" if is_empty else "group of equal texts"
            left_out_counts[reason] += sequence_count - distinct_count if is_usable else 1
            first_locations.setdefault(reason, location_of(group_number))
    reasons = "; ".join(
        f"{count:,} × {reason}, first {first_locations[reason]}" for reason, count in left_out_counts.items()
    )
    if not distinct_groups:
        raise ConfigError(f"{source}: nothing to learn from is left; left out: {reasons}")
    if reasons:
        notice(source, f"left out: {reasons}")
    return distinct_groups


def _distinct_texts(texts: Iterable[str]) -> list[str]:
    first_text: dict[str, str] = {}
    for text in texts:
        first_text.setdefault(_words(text), text)
    return [text for words, text in first_text.items() if words]


def _words(text: str) -> str:
    return " ".join(text.split())


def _read_group(own_group: Any, location: str) -> GroupTexts:
    if isinstance(own_group, Mapping):
        fields = own_group
    elif (
        isinstance(own_group, Sequence)
        and not isinstance(own_group, str)
        and len(own_group) in (2, len(TextGroup._fields))
    ):
        fields = dict(zip(TextGroup._fields, own_group, strict=False))
    else:
        raise ConfigError(f"{location}: a query and its documents are needed, not {reprlib.repr(own_group)}")
    keys = [_key_of(fields, name, location) for name in ("query", "document")]
    queries, documents = (
        [checked_text(text, f"{location}: {key}: ") for text in _as_list(fields[key])] for key in keys
    )
    if not queries or not documents or min(len(queries), len(documents)) > 1:
        raise ConfigError(
            f"{location}: {count_of(len(queries), 'query')} and "
            f"{count_of(len(documents), 'document')}; one of the two must be a single text"
        )
    if fields.get("scores") is not None:
        _check_scores(fields["scores"], len(queries) * len(documents), location)
    return queries, documents


def _as_list(texts: Any) -> Sequence[Any]:
    return texts if isinstance(texts, Sequence) and not isinstance(texts, str) else [texts]


def _check_scores(scores: Any, sequence_count: int, location: str) -> None:
    """Raise ConfigError where the scores of a group are against its order: its first sequence is preferred."""
    valid_scores = [score for score in listed(scores, location) if isinstance(score, Real) and score == score]
    if len(valid_scores) != len(scores) or len(scores) != sequence_count:
        raise ConfigError(
            f"{location}: scores: {sequence_count} numbers are needed, not {reprlib.repr(scores)}"
        )
    first, highest = valid_scores[0], max(valid_scores)
    if highest > first:
        fault = f"scores: the first sequence is preferred, but has {first:g}, and another {highest:g}"
        raise ConfigError(f"{location}: {fault}; put the preferred one first")


def _key_of(fields: Mapping[str, Any], name: str, location: str) -> str:
    plural = "queries" if name == "query" else "documents"
    keys = [key for key in (name, plural) if key in fields]
    if len(keys) != 1:
        raise ConfigError(
            f"{location}: {'both' if keys else 'neither'} {name} {'and' if keys else 'nor'} {plural} given"
        )
    return keys[0]


def _is_pair(queries: list[str], document_ids: list[str]) -> bool:
    return len(queries) == len(document_ids) == 1


def _documents_by_query(pairs: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    documents: dict[str, set[str]] = {}
    for query, name in pairs:
        documents.setdefault(query, set()).add(name)
    return documents


def _choose_negatives(
    collection: Collection,
    documents_of_query: Mapping[str, set[str]],
    digests: Mapping[str, int],  # document → digest of its text
    negatives: int,
) -> dict[str, list[str]]:
    """Return for each query documents that its groups do not hold, nor a copy of: BM25's best, then any."""
    digests_of_query = {query: {digests[name] for name in ids} for query, ids in documents_of_query.items()}
    copies = Counter(digests.values())
    depth = negatives + max(sum(copies[text] for text in texts) for texts in digests_of_query.values())
    ranked_documents = _top_documents(collection, list(documents_of_query), depth)
    any_documents = list(islice(digests, depth))
    return {
        query: [
            name
            for name in dict.fromkeys([*ranked_documents[query], *any_documents])
            if digests[name] not in digests_of_query[query]
        ][:negatives]
        for query in documents_of_query
    }


def _top_documents(collection: Collection, queries: Sequence[str], depth: int) -> dict[str, list[str]]:
    ranked_documents = collection.search(queries, depth).groupby("query_id")["doc_id"].agg(list)
    return {query: ranked_documents.get(str(query_number), []) for query_number, query in enumerate(queries)}
