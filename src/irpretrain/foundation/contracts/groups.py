"""Tables that models are pre-trained on: ranking groups, and what ARES makes them of."""

import pyarrow as pa

from irpretrain.foundation.contracts.table import LOCATION, Contract, ContractColumn, list_of, record

SPAN = record(
    document_id=pa.string(), start=pa.int32(), end=pa.int32(), gap_start=pa.int32(), gap_end=pa.int32()
)
QUERY_PART = record(text=pa.string(), document_id=pa.string(), start=pa.int32(), end=pa.int32())
ANCHOR = record(start=pa.int32(), end=pa.int32())

# Start and end of the anchor of a sequence whose query does not link its document.
NO_ANCHOR = (-1, -1)

GROUPS = Contract(
    "groups",
    "Ranking groups: lists of (query, document) sequences, the preferred one first. Queries "
    "or documents hold one entry that all sequences share; the other list has one per "
    "sequence.",
    (
        *LOCATION,
        ContractColumn("sample", pa.int32(), "group of that document; third key of the order"),
        ContractColumn(
            "queries",
            list_of(QUERY_PART),
            "a literal text, or tokens start to end of the document document_id",
        ),
        ContractColumn(
            "documents",
            list_of(SPAN),
            "tokens start to end of a document (end -1: to its end), without gap_start to "
            "gap_end (both 0: no gap)",
            "word pieces",
        ),
        ContractColumn(
            "scores",
            list_of(pa.float32()),
            "score behind the preference, one per sequence",
        ),
        ContractColumn(
            "anchors",
            list_of(ANCHOR),
            "empty, or one per sequence: tokens start to end of the anchor that links its "
            "document; -1 and -1 without a link",
            "word pieces",
        ),
    ),
)

_DOCUMENT_QUERY = (
    *LOCATION,
    ContractColumn("sample", pa.int32(), "query of that document, from 0; third key of the order"),
    ContractColumn("document_id", pa.string(), "document"),
    ContractColumn(
        "query_id",
        pa.string(),
        "id in the data set: of the query, or of the judged query that a pseudo-query was drawn for; "
        "empty for any other pseudo-query",
    ),
    ContractColumn("query", pa.string(), "query text, or the words of a pseudo-query"),
)

DOCUMENT_QUERIES = Contract(
    "document_queries",
    "Pseudo-queries of a corpus shard or of judged queries, or queries with their relevant documents, in corpus order.",
    _DOCUMENT_QUERY,
)

AXIOM_VALUES = Contract(
    "axiom_values",
    "DOCUMENT_QUERIES with one value per axiom ([definitions](methods/axioms.md)).",
    (
        *_DOCUMENT_QUERY,
        ContractColumn("terms", pa.int32(), "distinct query terms", "terms"),
        ContractColumn("rank", pa.int32(), "RANK, smaller is better; 0 stands for +∞", "documents"),
        ContractColumn("rep_ql", pa.float64(), "REP-QL: mean log-likelihood of a term, natural logarithm"),
        ContractColumn("rep_tfidf", pa.float64(), "REP-TFIDF: mean tf·idf"),
        ContractColumn(
            "prox_1", pa.float64(), "PROX-1: mean words between two terms, smaller is better", "words"
        ),
        ContractColumn(
            "prox_2", pa.float64(), "PROX-2: mean place of first occurrences, smaller is better", "words"
        ),
        ContractColumn("reg", pa.float64(), "REG: occurrences of the most diverse term", "words"),
        ContractColumn("stm_1", pa.float64(), "STM-1: cosine of query and document"),
        ContractColumn("stm_2", pa.float64(), "STM-2: share of terms in the document"),
        ContractColumn("stm_3", pa.float64(), "STM-3: share of terms similar to the document"),
    ),
)

AXIOM_PAIRS = Contract(
    "axiom_pairs",
    "Pairs of pseudo-queries for an axiom diagnosis, in random order.",
    (
        ContractColumn("pair", pa.int32(), "pair number from 0, equal to the row number"),
        ContractColumn("document_id", pa.string(), "document"),
        ContractColumn("first", pa.string(), "words of one pseudo-query"),
        ContractColumn("second", pa.string(), "words of another, of equal length"),
        ContractColumn(
            "preferences",
            list_of(pa.int8()),
            "one per axiom, in the order of ARES's table 1: 1 prefers the first, -1 the second, 0 neither",
        ),
    ),
)

PAIR_SCORES = Contract(
    "pair_scores",
    "A re-ranker's scores of both pseudo-queries of each row of AXIOM_PAIRS.",
    (
        ContractColumn("pair", pa.int32(), "pair number, equal to the row number"),
        ContractColumn("first", pa.float32(), "score of the first pseudo-query"),
        ContractColumn("second", pa.float32(), "score of the second"),
    ),
)

PROBE = Contract(
    "probe",
    "What a pre-trained model makes of held-out groups: one row per task and input, in "
    "`results/metrics/pretrained/<model>/seed-<n>.probe.csv`.",
    (
        ContractColumn("task", pa.string(), "objective; from the second task on with #<its place, from 0>"),
        ContractColumn(
            "input",
            pa.string(),
            "right, swapped, none, or before ([training](methods/training.md#held-out-groups-and-the-probe))",
        ),
        ContractColumn("groups", pa.int32(), "groups tested", "groups"),
        ContractColumn(
            "accuracy",
            pa.float64(),
            "share of pairs in the right order, mean over groups",
        ),
        ContractColumn("low", pa.float64(), "lower end of the 95% interval (Wilson, over groups)"),
        ContractColumn("high", pa.float64(), "upper end"),
        ContractColumn(
            "p_value", pa.float64(), "of the difference from right, over groups (randomisation test)"
        ),
    ),
)
