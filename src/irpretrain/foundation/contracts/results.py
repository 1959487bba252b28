"""Tables of words and their weights, of questions and sentences, and of scores."""

import pyarrow as pa

from irpretrain.foundation.contracts.table import LOCATION, Contract, ContractColumn, list_of, record

TERM_TARGETS = Contract(
    "term_targets",
    "Targets of term weighting: one row per text (passage or query) or per (query, passage) "
    "pair, in text order ([definitions](methods/deepct.md)).",
    (
        *LOCATION,
        ContractColumn("document_id", pa.string(), "document, or query if queries are weighted"),
        ContractColumn("sample", pa.int32(), "row of that text, from 0; third key of the order"),
        ContractColumn("text", pa.string(), "text"),
        ContractColumn(
            "judged", pa.int32(), "number of relevant queries (of a passage) or documents (of a query)"
        ),
        ContractColumn("targets", list_of(pa.float32()), "target of each word, from 0 to 1"),
    ),
)

TERM_WEIGHT = record(term=pa.string(), weight=pa.float32())
TERM_WEIGHTS = Contract(
    "term_weights",
    "Predicted weights for a corpus shard or a data set's queries: one row per text, in order.",
    (
        *LOCATION,
        ContractColumn("document_id", pa.string(), "document, or query if queries are weighted"),
        ContractColumn(
            "terms",
            list_of(TERM_WEIGHT),
            "distinct lower-cased words, sorted",
        ),
    ),
)

TERM_COUNT = record(term=pa.string(), weight=pa.int32())
TERM_VECTORS = Contract(
    "term_vectors",
    "Integer weights in place of term frequencies in an index: one row per text, in order.",
    (
        *LOCATION,
        ContractColumn("document_id", pa.string(), "document, or query if queries are weighted"),
        ContractColumn(
            "terms",
            list_of(TERM_COUNT),
            "distinct lower-cased words with weight 1 or more, not stemmed, sorted",
        ),
    ),
)

SPAN_QUESTIONS = Contract(
    "span_questions",
    "One row per question of extractive question answering.",
    (
        ContractColumn("role", pa.string(), "train, choose (epoch and learning rate) or test"),
        ContractColumn("question_id", pa.string(), "question"),
        ContractColumn("question", pa.string(), "its text"),
        ContractColumn("context", pa.string(), "text with the answer"),
        ContractColumn("answers", list_of(pa.string()), "every accepted answer"),
        ContractColumn("starts", list_of(pa.int32()), "start of each answer that occurs in the text"),
        ContractColumn("ends", list_of(pa.int32()), "end of each, exclusive"),
    ),
)

_RUN = (
    ContractColumn("dataset", pa.string(), "data set"),
    ContractColumn("candidates", pa.string(), "first-stage run that is re-ranked"),
    ContractColumn("model", pa.string(), "model, or the first stage itself"),
    ContractColumn(
        "regime", pa.string(), "zero-shot, few-shot-<n> or full; first-stage for the candidates' own run"
    ),
    ContractColumn("seed", pa.int32(), "seed; 0 without training"),
)

PER_QUERY = Contract(
    "per_query",
    "One row per query, measure and run.",
    (
        *_RUN,
        ContractColumn("fold", pa.int32(), "test fold of the query, from 1; 0 without folds"),
        ContractColumn("query_id", pa.string(), "query"),
        ContractColumn(
            "article",
            pa.string(),
            "article of SQuAD that its first relevant document belongs to (`Super_Bowl_50` of `Super_Bowl_50/12`); "
            "empty in other corpora",
            default="",
        ),
        ContractColumn("measure", pa.string(), "measure, in ir_measures' notation"),
        ContractColumn("value", pa.float64(), "its value"),
    ),
)

SCORES = Contract(
    "scores",
    "One row per mean, in `results/scores.csv` and `results/scores/<experiment>.csv`.",
    (
        *_RUN,
        ContractColumn(
            "fold", pa.int32(), "test fold whose queries the mean is over, from 1; 0: all judged queries"
        ),
        ContractColumn("measure", pa.string(), "measure, in ir_measures' notation"),
        ContractColumn("value", pa.float64(), "mean; a judged query without documents counts 0"),
        ContractColumn("queries", pa.int32(), "number of queries", "queries"),
    ),
)

CLAIMS = Contract(
    "claims",
    "One row per [claim](methods/evaluation.md#claims) of a paper, in `results/claims.csv` and "
    "`results/claims/<paper>.csv`. Cells without a number are empty.",
    (
        ContractColumn("paper", pa.string(), "key of the paper"),
        ContractColumn("claim", pa.string(), "key of the claim in `resources/claims/<paper>.yaml`"),
        ContractColumn("says", pa.string(), "the claim"),
        ContractColumn("place", pa.string(), "section and table of the paper"),
        ContractColumn("better", pa.string(), "the side that is claimed to be better"),
        ContractColumn("worse", pa.string(), "the other side, or the share of it to reach"),
        ContractColumn("dataset", pa.string(), "data set"),
        ContractColumn("candidates", pa.string(), "first-stage run that is re-ranked"),
        ContractColumn(
            "measure",
            pa.string(),
            "measure, AUC of a predictor, gain of an axiom, agreement with one, or weight "
            "of the heaviest term",
        ),
        ContractColumn(
            "queries",
            pa.int32(),
            "number of queries that the test pairs; of other measures pairs, passages or seeds",
        ),
        ContractColumn(
            "seeds",
            pa.int32(),
            "seeds of training that both sides share; 0 where nothing was trained with one",
        ),
        ContractColumn("difference", pa.float64(), "better minus worse, mean over seeds and queries"),
        ContractColumn("low", pa.float64(), "lower end of its 95 % interval"),
        ContractColumn("high", pa.float64(), "upper end"),
        ContractColumn("p", pa.float64(), "two-tailed p-value"),
        ContractColumn(
            "p_holm", pa.float64(), "the same, corrected over the paper's claims that were tested"
        ),
        ContractColumn(
            "effect",
            pa.float64(),
            "smallest effect of interest; for a share, (1 - share) of the worse side",
        ),
        ContractColumn(
            "power", pa.float64(), "probability of an interval above 0 if the difference is that effect"
        ),
        ContractColumn(
            "verdict",
            pa.string(),
            "supported, contradicted, too small, undecided, not run, or not testable here",
        ),
        ContractColumn("reason", pa.string(), "why"),
        ContractColumn(
            "differs",
            pa.string(),
            "what the sides differ in, such as groups read in pre-training; empty: nothing but the method",
        ),
    ),
)
