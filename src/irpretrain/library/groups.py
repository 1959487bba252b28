"""Ranking groups as texts: of an objective, or of one's own files."""

from __future__ import annotations

import reprlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from irpretrain.config.base import Section, option
from irpretrain.contracts import GROUPS
from irpretrain.errors import ConfigError, InputError
from irpretrain.evaluation.runs import Run, relevant
from irpretrain.library.formats import read_relevance, read_topics
from irpretrain.library.options import Options, given_text, listed
from irpretrain.objectives.groups import Span, group
from irpretrain.progress import notice
from irpretrain.text.token_store import TokenStore
from irpretrain.text.word_pieces import load_tokenizer
from irpretrain.training.batches import StoreSpan

if TYPE_CHECKING:
    import pandas as pd

    from irpretrain.library.collection import Collection


class TextGroup(NamedTuple):
    """Sequences of a query and a document of which the first is preferred.

    Attributes:
        queries, documents: texts. One of the two lists has one text, which all sequences share.
        scores: what the preference was read from, one a sequence.
        document_ids: identifiers of `documents`.
    """

    queries: list[str]
    documents: list[str]
    scores: list[float]
    document_ids: list[str]


Texts = str | Sequence[str]
# Queries and documents, the preferred one first, one of the two a single text; or a mapping with the keys `queries`
# or `query`, and `documents` or `document`. One query and one document are a pair.
GivenGroup = tuple[Texts, Texts] | TextGroup | Mapping[str, Any]
GIVEN = "given"


class GivenOptions(Section):
    """Stands in the record of a training for the options of an objective."""

    type: Literal["given"] = option(GIVEN, "Groups of the user's own.")


class Judged(NamedTuple):
    """Groups as a test collection: queries, the documents preferred, and the candidates, by identifiers."""

    queries: dict[str, str]
    preferred: dict[str, list[str]]
    candidates: Run


@dataclass(frozen=True)
class Groups:
    """Ranking groups, which `pretrain` and `finetune` learn from: of `Collection.groups`, or one's own.

    Examples:
        >>> groups = Groups.of([("apple juice", ["apple pie with apple juice", "pear pie"])])
        >>> [(group.queries, group.documents) for group in groups]
        [(['apple juice'], ['apple pie with apple juice', 'pear pie'])]

    Attributes:
        collection: the documents.
        options: of the objective.
        table: GROUPS table.
        counts: what the objective counted: documents, skipped, groups, …
    """

    collection: Collection
    options: Any
    table: Path
    counts: dict[str, Any]

    @classmethod
    def of(
        cls,
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
        """
        from irpretrain.library.collection import Collection

        checked = [
            _checked(given, f"group {number}") for number, given in enumerate(listed(groups, "groups"))
        ]
        if not checked:
            raise ConfigError("groups: one or more are needed")
        numbers = {text: str(number) for number, text in enumerate(_documents(checked))}
        collection = Collection({name: text for text, name in numbers.items()}, options, encoder)
        named = [(queries, [numbers[text] for text in documents]) for queries, documents in checked]
        return cls._written(collection, named, negatives)

    @classmethod
    def read(
        cls,
        folder: str | Path,
        encoder: str | Path | None = None,
        options: Options | None = None,
        negatives: int = 1,
    ) -> Groups:
        """Return a group for each relevant document of a folder's topics.

        Args:
            folder: documents, topics and judgements, in formats that the workflow reads (docs/corpora.md). Their names
                say which is which, as for `irpretrain init`.
            encoder: as in `of`.
            options: as in `of`.
            negatives: documents per group that BM25 finds first for the topic and that are not relevant.

        Raises:
            InputError: one of the three is missing or cannot be read, or no relevant document is there.
        """
        from irpretrain.library.collection import Collection
        from irpretrain.library.own_collection import find_files

        _, paths, formats = find_files(Path(folder), {})
        queries, judged = read_topics(paths["topics"]), read_relevance(paths["qrels"])
        collection = Collection.read(paths["documents"], formats["documents"], options, encoder)
        judged_pairs = [
            (text, name)
            for query, text in queries.items()
            for name in sorted(relevant(judged.get(query, {})))
        ]
        pairs = [(text, name) for text, name in judged_pairs if name in collection]
        if not pairs:
            fault = f"no relevant document of the topics is among the {len(collection):,} documents"
            raise InputError(
                folder, fault, remedy="Check that documents, topics and judgements belong together."
            )
        if absent := len(judged_pairs) - len(pairs):
            notice(str(folder), f"{absent:,} relevant documents are not among the documents; left out.")
        return cls._written(collection, [([text], [name]) for text, name in dict.fromkeys(pairs)], negatives)

    @classmethod
    def _written(
        cls, collection: Collection, named: Sequence[tuple[list[str], list[str]]], negatives: int
    ) -> Groups:
        """Write groups of queries and identifiers of documents; a pair gets the others that it is preferred to."""
        positions = {name: position for position, (name, _) in enumerate(collection)}
        pairs = [(queries[0], names[0]) for queries, names in named if _is_pair(queries, names)]
        others = _others(collection, pairs, list(positions), negatives) if pairs else {}
        rows: list[dict[str, Any]] = []
        samples = Counter[int]()
        for number, (queries, preferred) in enumerate(named):
            names = [*preferred, *(others[queries[0]] if _is_pair(queries, preferred) else ())]
            if len(queries) == len(names) == 1:
                raise ConfigError(f"group {number}: this pair is the only one; other documents are needed")
            position = positions[names[0]]
            rows.append(
                group((0, position), queries, [Span(name) for name in names], sample=samples[position])
            )
            samples[position] += 1
        table = collection.documents.with_name("groups-given.parquet")
        GROUPS.write(table, sorted(rows, key=lambda row: (row["position"], row["sample"])))
        return cls(collection, GivenOptions(), table, {"groups": len(rows)})

    def __len__(self) -> int:
        return GROUPS.count(self.table)

    def __iter__(self) -> Iterator[TextGroup]:
        cut = _Cutter(self.collection)
        for batch in GROUPS.stream(self.table):
            for row in batch.to_pylist():
                queries = [cut(part) if part["document_id"] else part["text"] for part in row["queries"]]
                documents = [cut(part) for part in row["documents"]]
                names = [part["document_id"] for part in row["documents"]]
                yield TextGroup(queries, documents, row["scores"], names)

    def judged(self) -> Judged:
        """Return the groups as a test collection; ConfigError where a group prefers a query, not a document."""
        judged, numbers = Judged({}, {}, {}), dict[str, str]()
        for made in self:
            if len(made.documents) == 1:
                raise ConfigError(
                    "groups: fine-tuning learns which document of a query is better, but a group has one document and "
                    f"{len(made.queries)} queries, the first {made.queries[0]!r}; pretrain learns from those"
                )
            name = numbers.setdefault(made.queries[0], str(len(numbers)))
            judged.queries[name] = made.queries[0]
            judged.preferred.setdefault(name, []).append(made.document_ids[0])
            judged.candidates.setdefault(name, []).extend((document, 0.0) for document in made.document_ids)
        for name, ranking in judged.candidates.items():
            judged.preferred[name] = list(dict.fromkeys(judged.preferred[name]))
            judged.candidates[name] = list(dict.fromkeys(ranking))
        return judged

    def skipped_text(self) -> str:
        """Return how many documents gave no group, by reason, in words; nothing where each document gave one."""
        skipped = {reason: count for reason, count in self.counts.get("skipped", {}).items() if count}
        return ", ".join(f"{count:,} × {reason.replace('_', ' ')}" for reason, count in skipped.items())

    def to_pandas(self) -> pd.DataFrame:
        """Return a row a group, with the fields of `TextGroup` as columns."""
        import pandas as pd

        return pd.DataFrame(iter(self), columns=list(TextGroup._fields))


def _checked(given: Any, where: str) -> tuple[list[str], list[str]]:
    """Return queries and documents, cleaned; ConfigError where they are no group."""
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
            f"{where}: {len(queries)} queries and {len(documents)} documents; one of the two must be a single text"
        )
    return queries, documents


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


def _documents(checked: list[tuple[list[str], list[str]]]) -> list[str]:
    return list(dict.fromkeys(text for _, documents in checked for text in documents))


def _others(
    collection: Collection, pairs: list[tuple[str, str]], names: Sequence[str], most: int
) -> dict[str, list[str]]:
    """Return for the query of each pair the documents that it is not paired with: BM25's best, then any."""
    paired: dict[str, set[str]] = {}
    for query, name in pairs:
        paired.setdefault(query, set()).add(name)
    queries = list(paired)
    depth = most + max(map(len, paired.values()))
    ranked = collection.search(queries, depth)
    found: dict[str, list[str]] = {query: [] for query in queries}
    for number, name in zip(ranked["query_id"], ranked["document_id"], strict=True):
        found[queries[int(number)]].append(name)
    return {
        query: [name for name in dict.fromkeys([*found[query], *names[:depth]]) if name not in paired[query]][
            :most
        ]
        for query in queries
    }


class _Cutter:
    """Cuts the texts of spans out of documents, each as far as the token store holds it."""

    def __init__(self, collection: Collection) -> None:
        self._collection, self._texts = collection, collection.texts()
        self._rows = {name: row for row, name in enumerate(self._texts)}
        self._store: TokenStore | None = None
        most = collection.options.text.max_word_pieces
        if most is not None and collection.has_encoder:
            self._end_texts(most)

    def __call__(self, part: dict[str, Any]) -> str:
        text = self._texts[part["document_id"]]
        row, gap = self._rows[part["document_id"]], (part.get("gap_start", 0), part.get("gap_end", 0))
        span = StoreSpan(row, part["start"], part["end"], *gap)
        if span == StoreSpan(row):
            return text
        self._store = self._store or TokenStore.open([self._collection.tokens])
        runs = span.runs(int(self._store.lengths[row]))
        ranges = [self._store.characters(row, *run) for run in runs]
        return " ".join(filter(None, (text[first:last].strip() for first, last in ranges)))

    def _end_texts(self, most: int) -> None:
        """Leave out what stands behind the first `most` word pieces of a document."""
        tokenizer = load_tokenizer(self._collection.encoder)
        for name, text in self._texts.items():
            firsts = tokenizer.words([text])[0].firsts
            if len(firsts) > most:
                self._texts[name] = text[: firsts[most]].rstrip()
