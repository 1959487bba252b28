"""Ranking groups of one's own: pairs or groups of texts, or a folder of documents, topics and judgements."""

import reprlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from numbers import Real
from pathlib import Path
from typing import Any

from irpretrain.config.retrieval import RetrievalConfig
from irpretrain.corpora.collection import absent_documents
from irpretrain.corpora.topics_and_judgements import check_documents_are_known, document_hint
from irpretrain.foundation.contracts import GROUPS
from irpretrain.foundation.errors import ConfigError, InputError, count_of
from irpretrain.foundation.progress import notice
from irpretrain.library.collection import Collection
from irpretrain.library.groups import GivenOptions, Groups, TextGroup
from irpretrain.library.options import Options, given_text, listed
from irpretrain.library.own_folder import read_folder
from irpretrain.objectives.groups import Span, group

Texts = str | Sequence[str]
# Documents of BM25's list among which a folder's relevant documents are learned from.
CANDIDATES = RetrievalConfig().depth

# Queries and documents, the preferred one first, one of the two a single text; or a mapping with the keys `queries`
# or `query`, and `documents` or `document`. One query and one document are a pair.
GivenGroup = tuple[Texts, Texts] | TextGroup | Mapping[str, Any]
# Queries and documents.
Checked = tuple[list[str], list[str]]


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
    place: Callable[[int], str],  # what they call the group of a number, from 0
    encoder: str | Path | None,
    options: Options | None,
    negatives: int,
) -> Groups:
    """Return groups or pairs, without texts that teach nothing; see `own_groups`."""
    if not groups:
        raise ConfigError(f"{source}: one or more groups are needed")
    checked = _distinct(
        [_checked(given, place(number)) for number, given in enumerate(groups)], source, place
    )
    texts = dict.fromkeys(text for _, documents in checked.values() for text in documents)
    numbers = {text: str(number) for number, text in enumerate(texts)}
    collection = Collection({name: text for text, name in numbers.items()}, options, encoder)
    named = {
        number: (queries, [numbers[text] for text in documents])
        for number, (queries, documents) in checked.items()
    }
    held = _by_query(
        (query, name) for queries, names in named.values() for query in queries for name in names
    )
    return _written(collection, named, negatives, held, source, place)


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
    own = read_folder(Path(folder), {})
    source, paths = str(folder), own.paths
    notice(source, f"{own.message}; documents in {own.names['documents']} ({own.readings['documents']}).")
    reading = own.readings["documents"]
    given = {**reading.options, **documents}
    collection = Collection.read(paths["documents"], reading.format, options, encoder, **given)
    unknown = absent_documents(
        {name for grades in own.judged.values() for name in grades}, [collection.documents]
    )
    check_documents_are_known(own.judged, unknown, [collection.documents], Path(paths["qrels"]))
    judged_pairs = [
        (own.queries[query], name) for query, names in own.relevant().items() for name in sorted(names)
    ]
    pairs = [(text, name) for text, name in judged_pairs if name not in unknown]
    absent = [name for _, name in judged_pairs if name in unknown]
    hint = document_hint({*absent}, own.judged, [collection.documents]) if absent else ""
    if not pairs:
        fault = f"no relevant document of the topics is among the {len(collection):,} documents"
        raise InputError(
            folder, fault, remedy=hint or "Check that documents, topics and judgements belong together."
        )
    if absent:
        lost = f"{count_of(len(absent), 'relevant document')} not among the {len(collection):,} documents"
        notice(source, f"{lost}, such as {absent[0]}; left out. {hint}".rstrip())
    judged_documents = _by_query(pairs)
    candidates = _first(collection, list(judged_documents), CANDIDATES)
    learned = {text: names & {*candidates[text]} or names for text, names in judged_documents.items()}
    learned_pairs = [(text, name) for text, name in dict.fromkeys(pairs) if name in learned[text]]
    if unfound := sum(map(len, judged_documents.values())) - len(learned_pairs):
        notice(
            source,
            f"{count_of(unfound, 'relevant document')} not among BM25's first {CANDIDATES} of their topic; left out.",
        )
    named = {number: ([text], [name]) for number, (text, name) in enumerate(learned_pairs)}
    return _written(
        collection,
        named,
        negatives,
        judged_documents,
        source,
        lambda number: f"{source}: {learned_pairs[number][0]!r}",
    )


def _written(
    collection: Collection,
    named: Mapping[int, Checked],
    negatives: int,
    held: Mapping[
        str, set[str]
    ],  # query → documents of its groups, which no pair of the query is preferred to
    source: str,
    place: Callable[[int], str],
) -> Groups:
    positions, digests = dict[str, int](), dict[str, int]()  # of all documents, without their texts
    for position, (name, text) in enumerate(collection):
        positions[name], digests[name] = position, hash(_words(text))
    paired = dict.fromkeys(queries[0] for queries, names in named.values() if _is_pair(queries, names))
    others = (
        _others(collection, {query: held[query] for query in paired}, digests, negatives) if paired else {}
    )
    rows: list[dict[str, Any]] = []
    samples = Counter[int]()
    for number, (queries, preferred) in named.items():
        names = [*preferred, *(others[queries[0]] if _is_pair(queries, preferred) else ())]
        if len(queries) == len(names) == 1:
            raise ConfigError(
                f"{place(number)}: all documents here are of its query; a pair needs another document to be "
                "preferred to"
            )
        position = positions[names[0]]
        rows.append(group((0, position), queries, [Span(name) for name in names], sample=samples[position]))
        samples[position] += 1
    if fewer := [len(names) for names in others.values() if len(names) < negatives]:
        what = f"pairs of {count_of(len(fewer), 'query')} have fewer than {negatives:,} negatives"
        notice(source, f"{what}, the fewest {min(fewer):,}: there are no more documents of other queries.")
    table = collection.documents.with_name("groups-given.parquet")
    GROUPS.write(table, sorted(rows, key=lambda row: (row["position"], row["sample"])))
    return Groups(collection, GivenOptions(), table, {"groups": len(rows)})


def _distinct(checked: Sequence[Checked], source: str, place: Callable[[int], str]) -> dict[int, Checked]:
    """Return the groups by number, without texts that are empty or stand in their group already; note how many."""
    distinct: dict[int, Checked] = {}
    left_out, first = Counter[str](), dict[str, str]()
    for number, (queries, documents) in enumerate(checked):
        different = _different(queries), _different(documents)
        texts, texts_left = len(queries) * len(documents), len(different[0]) * len(different[1])
        is_empty = not all(map(_words, (*queries, *documents)))
        usable = bool(_words(queries[0]) and _words(documents[0])) and texts_left > (texts > 1)
        if usable:
            distinct[number] = different
        if texts_left < texts or not usable:
            reason = f"{'empty' if is_empty else 'repeated'} text"
            if not usable:
                reason = "group with an empty text" if is_empty else "group of equal texts"
            left_out[reason] += texts - texts_left if usable else 1
            first.setdefault(reason, place(number))
    reasons = "; ".join(f"{count:,} × {reason}, first {first[reason]}" for reason, count in left_out.items())
    if not distinct:
        raise ConfigError(f"{source}: nothing to learn from is left; left out: {reasons}")
    if reasons:
        notice(source, f"left out: {reasons}")
    return distinct


def _different(texts: Iterable[str]) -> list[str]:
    first: dict[str, str] = {}
    for text in texts:
        first.setdefault(_words(text), text)
    return [text for words, text in first.items() if words]


def _words(text: str) -> str:
    return " ".join(text.split())


def _checked(given: Any, where: str) -> Checked:
    keys = ["queries", "documents"]
    if isinstance(given, Mapping):
        keys = [_either(given, name, where) for name in ("query", "document")]
        parts = [given[key] for key in keys]
    elif (
        isinstance(given, str)
        or not isinstance(given, Sequence)
        or len(given) not in (2, len(TextGroup._fields))
    ):
        raise ConfigError(f"{where}: a query and its documents are needed, not {reprlib.repr(given)}")
    else:
        parts = list(given[:2])
    queries, documents = (
        [
            given_text(text, f"{where}: {key}: ")
            for text in (part if isinstance(part, Sequence) and not isinstance(part, str) else [part])
        ]
        for key, part in zip(keys, parts, strict=True)
    )
    if not queries or not documents or min(len(queries), len(documents)) > 1:
        raise ConfigError(
            f"{where}: {count_of(len(queries), 'query')} and "
            f"{count_of(len(documents), 'document')}; one of the two must be a single text"
        )
    _check_scores(given, len(queries) * len(documents), where)
    return queries, documents


def _check_scores(given: Any, sequences: int, where: str) -> None:
    """Raise ConfigError where the scores of a group are against its order: its first sequence is preferred."""
    scores = given.get("scores") if isinstance(given, Mapping) else given[2] if len(given) > 2 else None
    if scores is None:
        return
    numbers = [score for score in listed(scores, where) if isinstance(score, Real) and score == score]
    if len(numbers) != len(scores) or len(scores) != sequences:
        raise ConfigError(f"{where}: scores: {sequences} numbers are needed, not {reprlib.repr(scores)}")
    if max(numbers) > numbers[0]:
        fault = (
            f"scores: the first sequence is preferred, but has {numbers[0]:g}, and another {max(numbers):g}"
        )
        raise ConfigError(f"{where}: {fault}; put the preferred one first")


def _either(given: Mapping[str, Any], name: str, where: str) -> str:
    plural = "queries" if name == "query" else "documents"
    keys = [key for key in (name, plural) if key in given]
    if len(keys) != 1:
        raise ConfigError(
            f"{where}: {'both' if keys else 'neither'} {name} {'and' if keys else 'nor'} {plural} given"
        )
    return keys[0]


def _is_pair(queries: list[str], documents: list[str]) -> bool:
    return len(queries) == len(documents) == 1


def _by_query(pairs: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    documents: dict[str, set[str]] = {}
    for query, name in pairs:
        documents.setdefault(query, set()).add(name)
    return documents


def _others(
    collection: Collection,
    held: Mapping[str, set[str]],
    digests: Mapping[str, int],  # document → digest of its text
    most: int,
) -> dict[str, list[str]]:
    """Return for each query documents that its groups do not hold, nor a copy of: BM25's best, then any."""
    texts = {query: {digests[name] for name in names} for query, names in held.items()}
    copies = Counter(digests.values())
    depth = most + max(sum(copies[text] for text in held_texts) for held_texts in texts.values())
    ranked = _first(collection, list(held), depth)
    names = list(islice(digests, depth))
    return {
        query: [
            name for name in dict.fromkeys([*ranked[query], *names]) if digests[name] not in texts[query]
        ][:most]
        for query in held
    }


def _first(collection: Collection, queries: Sequence[str], depth: int) -> dict[str, list[str]]:
    ranked = collection.search(queries, depth).groupby("query_id")["document_id"].agg(list)
    return {query: ranked.get(str(number), []) for number, query in enumerate(queries)}
