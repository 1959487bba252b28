"""What a preference predictor is trained on: for each judged (document, query), that query and a pseudo-query of the
document, drawn as the setting says."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from irpretrain.axioms.preferences import RANK_COLUMN, larger_is_better, preferences
from irpretrain.axioms.registry import DEFINITIONS
from irpretrain.compiled import compiled
from irpretrain.config.axioms import PredictorConfig
from irpretrain.contracts import AXIOM_VALUES
from irpretrain.errors import IntegrityError
from irpretrain.randomness import stream_key
from irpretrain.text.philox import STATE_WORDS, next_uniform, start_stream

Setting = Literal["I", "II", "III", "IV"]
STAGE = "predictor-negatives"
"""Name of the random streams: (seed, "predictor-negatives", document id U+001F query id)."""
NONE = -1
"""In place of a negative query where a document has none that may be drawn."""
VALUE_COLUMNS = [definition.column for definition in DEFINITIONS.values()]
SAMPLE_STAGE = "predictor-sample"
"""Name of the random streams that choose `most_pairs` pairs: (seed, stage, document id U+001F query id)."""


def weights(ranks: np.ndarray, starts: np.ndarray, setting: Setting, setting_iv_rank: int) -> np.ndarray:
    """Return what the probability of each pseudo-query is proportional to, by setting (ARES, SIGIR 2022, table 2).

        I    any pseudo-query of the document, all with equal probability
        II   any, with p = softmax(1 / RANK) over the document's pseudo-queries; 1/∞ is 0
        III  equal probability, but documents none of whose pseudo-queries has RANK 1 are left out
        IV   equal probability among the pseudo-queries whose RANK is `setting_iv_rank` or less

    Args:
        ranks: int [queries], RANK of pseudo-queries, 0 for +∞; those of a document follow each other.
        starts: int64 [documents + 1], the first pseudo-query of each document.
        setting_iv_rank: largest RANK in setting IV.

    Returns:
        float64 [queries]; all zero for a document without candidates.
    """
    if setting == "II":
        return np.exp(np.divide(1.0, ranks, out=np.zeros(len(ranks)), where=ranks > 0))
    if setting == "IV":
        return ((ranks > 0) & (ranks <= setting_iv_rank)).astype(np.float64)
    if setting == "III":
        return np.repeat(per_document(ranks == 1, starts) > 0, np.diff(starts)).astype(np.float64)
    return np.ones(len(ranks))


def per_document(marked: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return int64 [documents]: how many of each document's entries are marked (bool)."""
    return np.diff(np.concatenate([np.zeros(1, np.int64), np.cumsum(marked)])[starts])


def draw_negatives(
    documents: np.ndarray, starts: np.ndarray, weight: np.ndarray, names: Sequence[str], seed: int
) -> np.ndarray:
    """Draw one pseudo-query for each pair of a document and a query.

    Args:
        documents: int64 [pairs], number of the document of each pair.
        starts: int64 [documents + 1], the first pseudo-query of each document.
        weight: float64 [pseudo-queries], see `weights`.
        names: of each pair, document id U+001F query id, which names its random stream.

    Returns:
        int64 [pairs], the pseudo-query drawn; NONE where the document has none with a weight above 0.
    """
    keys = np.array([stream_key(seed, STAGE, name) for name in names], np.uint64).reshape(-1, 2)
    chosen = np.empty(len(documents), np.int64)
    _draw(np.asarray(documents, np.int64), np.asarray(starts, np.int64), weight, keys, chosen)
    return chosen


@compiled
def _draw(
    documents: np.ndarray, starts: np.ndarray, weight: np.ndarray, keys: np.ndarray, chosen: np.ndarray
) -> None:
    state = np.empty(STATE_WORDS, np.uint64)
    for pair in range(documents.shape[0]):
        start, end = starts[documents[pair]], starts[documents[pair] + 1]
        total = 0.0
        for query in range(start, end):
            total += weight[query]
        start_stream(state, keys[pair, 0], keys[pair, 1])
        left = next_uniform(state) * total
        chosen[pair] = NONE
        for query in range(start, end):
            if weight[query] > 0:
                chosen[pair] = query  # the last candidate where rounding leaves a rest
                left -= weight[query]
                if left < 0:
                    break


@dataclass(frozen=True)
class Candidates:
    """Judged queries of documents, and the pseudo-queries of these documents.

    Attributes:
        judged: float64 [pairs, 9], values of the judged queries, larger is better, in corpus order.
        documents: int64 [pairs], number of the document of each judged query.
        names: of each, document id U+001F query id.
        pseudo: float64 [pseudo-queries, 9], those of a document together, in the order of `sample`.
        ranks: int64 [pseudo-queries], RANK, 0 for +∞.
        starts: int64 [documents + 1], the first pseudo-query of each document.
        counts: what was read and left out.
    """

    judged: np.ndarray
    documents: np.ndarray
    names: list[str]
    pseudo: np.ndarray
    ranks: np.ndarray
    starts: np.ndarray
    counts: dict[str, Any]


@dataclass(frozen=True)
class Pairs:
    """Training pairs, in corpus order.

    Attributes:
        features: int8 [pairs, 9], with the judged query first.
        documents: int64 [pairs], number of the document of each pair.
        counts: how many there are, and what was left out.
    """

    features: np.ndarray
    documents: np.ndarray
    counts: dict[str, Any]

    def __len__(self) -> int:
        return len(self.documents)


def read_candidates(judged: str | Path, pseudo: Sequence[str | Path]) -> Candidates:
    """Read the values of judged queries, and those of the pseudo-queries of their documents.

    Args:
        judged: AXIOM_VALUES of judged queries; those without a term are left out.
        pseudo: AXIOM_VALUES shards of the collection, in any order; a corpus shard may be cut in any way.

    Raises:
        IntegrityError: a value is not a number, or a document's pseudo-queries occur twice.
    """
    table = AXIOM_VALUES.read(judged, ["document_id", "query_id", "terms", *VALUE_COLUMNS])
    kept = table.filter(pc.greater(table["terms"], 0)).combine_chunks()
    identifiers = pc.unique(kept["document_id"])
    documents = pc.index_in(kept["document_id"], value_set=identifiers).to_numpy().astype(np.int64)
    pairs = zip(kept["document_id"].to_pylist(), kept["query_id"].to_pylist(), strict=True)
    values, ranks, starts = _read_pseudo(pseudo, identifiers)
    return Candidates(
        judged=larger_is_better(kept, judged),
        documents=documents,
        names=[f"{document}\x1f{query}" for document, query in pairs],
        pseudo=values,
        ranks=ranks,
        starts=starts,
        counts={
            "judged_queries": table.num_rows,
            "judged_queries_without_terms": table.num_rows - kept.num_rows,
            "judged_documents": len(identifiers),
            "documents_without_pseudo_queries": int(np.count_nonzero(np.diff(starts) == 0)),
        },
    )


def make_pairs(candidates: Candidates, options: PredictorConfig, stm_2_threshold: float, seed: int) -> Pairs:
    """Draw a negative query for each judged one and compare the two.

    Returns:
        The pairs. Their counts tell documents that setting III ignores or that have no candidate in setting IV, and
        judged queries that are left without a negative one.
    """
    weight = weights(candidates.ranks, candidates.starts, options.setting, options.setting_iv_rank)
    negatives = draw_negatives(candidates.documents, candidates.starts, weight, candidates.names, seed)
    within = np.ones(len(negatives), bool)
    if options.setting == "IV" and options.setting_iv_judged == "limited":
        within = candidates.judged[:, RANK_COLUMN] >= -options.setting_iv_rank
    usable = np.flatnonzero(within & (negatives != NONE))
    chosen = _sample([candidates.names[pair] for pair in usable], options.most_pairs, seed)
    rows = usable[chosen]
    barred = (np.diff(candidates.starts) > 0) & (per_document(weight > 0, candidates.starts) == 0)
    return Pairs(
        features=preferences(
            np.concatenate([candidates.judged, candidates.pseudo]),
            rows,
            len(candidates.judged) + negatives[rows],
            stm_2_threshold,
        ),
        documents=candidates.documents[rows],
        counts={
            "documents_ignored_by_setting": int(np.count_nonzero(barred)),
            "judged_queries_beyond_rank": int(np.count_nonzero(~within)),
            "judged_queries_without_negative": int(np.count_nonzero(within & (negatives == NONE))),
            "pairs_not_sampled": len(usable) - len(rows),
            "pairs": len(rows),
            "documents": len(np.unique(candidates.documents[rows])),
        },
    )


def _read_pseudo(
    shards: Sequence[str | Path], identifiers: pa.Array
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return values, RANKs and starts of the pseudo-queries of some documents."""
    values, ranks = [np.empty((0, len(VALUE_COLUMNS)))], [np.empty(0, np.int64)]
    documents, samples = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for path in shards:
        for batch in AXIOM_VALUES.stream(path, ["sample", "document_id", *VALUE_COLUMNS]):
            number = pc.index_in(batch.column("document_id"), value_set=identifiers)
            listed = pc.is_valid(number)
            rows = batch.filter(listed)
            documents.append(number.filter(listed).to_numpy(zero_copy_only=False).astype(np.int64))
            samples.append(rows.column("sample").to_numpy().astype(np.int64))
            ranks.append(rows.column("rank").to_numpy().astype(np.int64))
            values.append(larger_is_better(rows, path))
    document, sample = np.concatenate(documents), np.concatenate(samples)
    order = np.lexsort((sample, document))
    document, sample = document[order], sample[order]
    if np.any((np.diff(document) == 0) & (np.diff(sample) == 0)):
        raise IntegrityError(
            shards[0],
            "the pseudo-queries of a document occur twice in these tables",
            remedy="Identifiers must be unique in a collection; rename those of one corpus.",
        )
    starts = np.searchsorted(document, np.arange(len(identifiers) + 1))
    return np.concatenate(values)[order], np.concatenate(ranks)[order], starts


def _sample(names: Sequence[str], most: int | None, seed: int) -> np.ndarray:
    """Return which of the pairs are used, in their own order; independent of how many others there are."""
    if most is None or len(names) <= most:
        return np.arange(len(names))
    lots = np.array([stream_key(seed, SAMPLE_STAGE, name)[0] for name in names], np.uint64)
    return np.sort(np.argsort(lots, kind="stable")[:most])
