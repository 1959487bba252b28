"""Ranking groups of one's own: pairs or groups of texts, or a folder of documents, topics and judgements."""

import reprlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any

from irpretrain.config.retrieval import RetrievalConfig
from irpretrain.contracts import GROUPS
from irpretrain.errors import ConfigError, InputError, count_of
from irpretrain.evaluation.runs import relevant
from irpretrain.foundation.progress import notice
from irpretrain.library.collection import Collection
from irpretrain.library.formats import read_relevance, read_topics
from irpretrain.library.groups import GivenOptions, Groups, TextGroup
from irpretrain.library.options import Options, given_text, listed
from irpretrain.library.own_folder import find_files
from irpretrain.objectives.groups import Span, group

Texts = str | Sequence[str]
# Documents of BM25's list among which a folder's relevant documents are learned from.
CANDIDATES = RetrievalConfig().depth

# Queries and documents, the preferred one first, one of the two a single text; or a mapping with the keys `queries`
# or `query`, and `documents` or `document`. One query and one document are a pair.
GivenGroup = tuple[Texts, Texts] | TextGroup | Mapping[str, Any]


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
    checked = [_checked(given, f"group {number}") for number, given in enumerate(listed(groups, "groups"))]
    if not checked:
        raise ConfigError("groups: one or more are needed")
    numbers = {text: str(number) for number, text in enumerate(_documents(checked))}
    collection = Collection({name: text for text, name in numbers.items()}, options, encoder)
    named = [(queries, [numbers[text] for text in documents]) for queries, documents in checked]
    pairs = [(queries[0], names[0]) for queries, names in named if _is_pair(queries, names)]
    return _written(collection, named, negatives, _by_query(pairs))


def read_groups(
    folder: str | Path,
    encoder: str | Path | None = None,
    options: Options | None = None,
    negatives: int = 1,
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
    _, paths, formats = find_files(Path(folder), {})
    queries, judged = read_topics(paths["topics"]), read_relevance(paths["qrels"])
    collection = Collection.read(paths["documents"], formats["documents"], options, encoder)
    judged_pairs = [
        (text, name) for query, text in queries.items() for name in sorted(relevant(judged.get(query, {})))
    ]
    pairs = [(text, name) for text, name in judged_pairs if name in collection]
    if not pairs:
        fault = f"no relevant document of the topics is among the {len(collection):,} documents"
        raise InputError(folder, fault, remedy="Check that documents, topics and judgements belong together.")
    if absent := len(judged_pairs) - len(pairs):
        notice(str(folder), f"{absent:,} relevant documents are not among the documents; left out.")
    judged_documents = _by_query(pairs)
    candidates = _first(collection, list(judged_documents), CANDIDATES)
    learned = {text: names & {*candidates[text]} or names for text, names in judged_documents.items()}
    named = [([text], [name]) for text, name in dict.fromkeys(pairs) if name in learned[text]]
    if unfound := sum(map(len, judged_documents.values())) - len(named):
        notice(
            str(folder),
            f"{unfound:,} of the relevant documents are not among BM25's first {CANDIDATES} of their topic; left out.",
        )
    return _written(collection, named, negatives, judged_documents)


def _written(
    collection: Collection,
    named: Sequence[tuple[list[str], list[str]]],
    negatives: int,
    preferred_of: Mapping[str, set[str]],  # query of pairs → documents that it prefers
) -> Groups:
    positions = {name: position for position, (name, _) in enumerate(collection)}
    others = _others(collection, preferred_of, list(positions), negatives) if preferred_of else {}
    rows: list[dict[str, Any]] = []
    samples = Counter[int]()
    for number, (queries, preferred) in enumerate(named):
        names = [*preferred, *(others[queries[0]] if _is_pair(queries, preferred) else ())]
        if len(queries) == len(names) == 1:
            raise ConfigError(f"group {number}: this pair is the only one; other documents are needed")
        position = positions[names[0]]
        rows.append(group((0, position), queries, [Span(name) for name in names], sample=samples[position]))
        samples[position] += 1
    table = collection.documents.with_name("groups-given.parquet")
    GROUPS.write(table, sorted(rows, key=lambda row: (row["position"], row["sample"])))
    return Groups(collection, GivenOptions(), table, {"groups": len(rows)})


def _checked(given: Any, where: str) -> tuple[list[str], list[str]]:
    if isinstance(given, Mapping):
        parts = [_either(given, name, where) for name in ("query", "document")]
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
            given_text(text, f"{where}: ")
            for text in ([part] if isinstance(part, str) else listed(part, where))
        ]
        for part in parts
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


def _either(given: Mapping[str, Any], name: str, where: str) -> Any:
    plural = "queries" if name == "query" else "documents"
    keys = [key for key in (name, plural) if key in given]
    if len(keys) != 1:
        raise ConfigError(
            f"{where}: {'both' if keys else 'neither'} {name} {'and' if keys else 'nor'} {plural} given"
        )
    return given[keys[0]]


def _is_pair(queries: list[str], documents: list[str]) -> bool:
    return len(queries) == len(documents) == 1


def _by_query(pairs: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    documents: dict[str, set[str]] = {}
    for query, name in pairs:
        documents.setdefault(query, set()).add(name)
    return documents


def _documents(checked: list[tuple[list[str], list[str]]]) -> list[str]:
    return list(dict.fromkeys(text for _, documents in checked for text in documents))


def _others(
    collection: Collection, preferred_of: Mapping[str, set[str]], names: Sequence[str], most: int
) -> dict[str, list[str]]:
    """Return for the query of each pair the documents that it is not paired with: BM25's best, then any."""
    depth = most + max(map(len, preferred_of.values()))
    found = _first(collection, list(preferred_of), depth)
    return {
        query: [name for name in dict.fromkeys([*found[query], *names[:depth]]) if name not in preferred][
            :most
        ]
        for query, preferred in preferred_of.items()
    }


def _first(collection: Collection, queries: Sequence[str], depth: int) -> dict[str, list[str]]:
    """Return the documents that BM25 finds first for each query."""
    ranked = collection.search(queries, depth)
    found: dict[str, list[str]] = {query: [] for query in queries}
    for number, name in zip(ranked["query_id"], ranked["document_id"], strict=True):
        found[queries[int(number)]].append(name)
    return found
