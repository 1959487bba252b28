"""Tables of words and their weights, of questions and sentences, and of scores."""

import pyarrow as pa

from irpretrain.contracts.table import PLACE, Column, Contract, list_of, record

TERM_TARGETS = Contract(
    "term_targets",
    "Targets of term weighting: one row per text (passage or query) or per (query, passage) "
    "pair, in text order ([definitions](methods/deepct.md)).",
    (
        *PLACE,
        Column("document_id", pa.string(), "document, or query if queries are weighted"),
        Column("sample", pa.int32(), "row of that text, from 0; third key of the order"),
        Column("text", pa.string(), "text"),
        Column("judged", pa.int32(), "number of relevant queries (of a passage) or documents (of a query)"),
        Column("targets", list_of(pa.float32()), "target of each word, from 0 to 1"),
    ),
)

TERM_WEIGHT = record(term=pa.string(), weight=pa.float32())
TERM_WEIGHTS = Contract(
    "term_weights",
    "Predicted weights for a corpus shard or a data set's queries: one row per text, in order.",
    (
        *PLACE,
        Column("document_id", pa.string(), "document, or query if queries are weighted"),
        Column(
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
        *PLACE,
        Column("document_id", pa.string(), "document, or query if queries are weighted"),
        Column(
            "terms",
            list_of(TERM_COUNT),
            "distinct lower-cased words with weight 1 or more, not stemmed, sorted",
        ),
    ),
)

EXPANSIONS = Contract(
    "expansions",
    "Queries that a model wrote: one row per document, in order.",
    (
        *PLACE,
        Column("document_id", pa.string(), "document"),
        Column(
            "queries",
            list_of(pa.string()),
            "queries in the order of their draws, or best first",
        ),
    ),
)

SPAN_QUESTIONS = Contract(
    "span_questions",
    "One row per question of extractive question answering.",
    (
        Column("role", pa.string(), "train, choose (epoch and learning rate) or test"),
        Column("question_id", pa.string(), "question"),
        Column("question", pa.string(), "its text"),
        Column("context", pa.string(), "text with the answer"),
        Column("answers", list_of(pa.string()), "every accepted answer"),
        Column("starts", list_of(pa.int32()), "start of each answer that occurs in the text"),
        Column("ends", list_of(pa.int32()), "end of each, exclusive"),
    ),
)

LABELLED_SENTENCES = Contract(
    "labelled_sentences",
    "One row per example of a GLUE task.",
    (
        Column("role", pa.string(), "train, choose (epoch and learning rate), test or mismatched"),
        Column(
            "example_id", pa.string(), "<file>-<line>: file train, development or mismatched, line from 1"
        ),
        Column("texts", list_of(pa.string()), "one or two sentences"),
        Column("label", pa.string(), "class, or a number as written"),
    ),
)

_RUN = (
    Column("dataset", pa.string(), "data set"),
    Column("candidates", pa.string(), "first-stage run that is re-ranked"),
    Column("model", pa.string(), "model, or the first stage itself"),
    Column("regime", pa.string(), "zero-shot, few-shot-<n> or full; first-stage for the candidates' own run"),
    Column("seed", pa.int32(), "seed; 0 without training"),
)

PER_QUERY = Contract(
    "per_query",
    "One row per query, measure and run.",
    (
        *_RUN,
        Column("fold", pa.int32(), "test fold of the query, from 1; 0 without folds"),
        Column("query_id", pa.string(), "query"),
        Column("measure", pa.string(), "measure, in ir_measures' notation"),
        Column("value", pa.float64(), "its value"),
    ),
)

SCORES = Contract(
    "scores",
    "One row per mean, in `results/scores.csv` and `results/scores/<experiment>.csv`.",
    (
        *_RUN,
        Column("fold", pa.int32(), "test fold whose queries the mean is over, from 1; 0: all judged queries"),
        Column("measure", pa.string(), "measure, in ir_measures' notation"),
        Column("value", pa.float64(), "mean; a judged query without documents counts 0"),
        Column("queries", pa.int32(), "number of queries", "queries"),
    ),
)

CLAIMS = Contract(
    "claims",
    "One row per [claim](claims.md) of a paper, in `results/claims.csv` and "
    "`results/claims/<paper>.csv`. Cells without a number are empty.",
    (
        Column("paper", pa.string(), "key of the paper"),
        Column("claim", pa.string(), "key of the claim in `resources/claims/<paper>.yaml`"),
        Column("says", pa.string(), "the claim"),
        Column("place", pa.string(), "section and table of the paper"),
        Column("better", pa.string(), "the side that is claimed to be better"),
        Column("worse", pa.string(), "the other side, or the share of it to reach"),
        Column("dataset", pa.string(), "data set"),
        Column("candidates", pa.string(), "first-stage run that is re-ranked"),
        Column(
            "measure",
            pa.string(),
            "measure, AUC of a predictor, gain of an axiom, agreement with one, or weight "
            "of the heaviest term",
        ),
        Column(
            "queries",
            pa.int32(),
            "number of queries that the test pairs; of other measures pairs, passages or seeds",
        ),
        Column(
            "seeds",
            pa.int32(),
            "seeds of training that both sides share; 0 where nothing was trained with one",
        ),
        Column("difference", pa.float64(), "better minus worse, mean over seeds and queries"),
        Column("low", pa.float64(), "lower end of its 95 % interval"),
        Column("high", pa.float64(), "upper end"),
        Column("p", pa.float64(), "two-tailed p-value"),
        Column("p_holm", pa.float64(), "the same, corrected over the paper's claims that were tested"),
        Column(
            "effect",
            pa.float64(),
            "smallest effect of interest; for a share, (1 - share) of the worse side",
        ),
        Column("power", pa.float64(), "probability of an interval above 0 if the difference is that effect"),
        Column(
            "verdict",
            pa.string(),
            "supported, contradicted, too small, undecided, not run, or not testable here",
        ),
        Column("reason", pa.string(), "why"),
    ),
)
