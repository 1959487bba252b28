"""The tables that stages exchange: declared once, checked when written and when read.

A table is Parquet. Its schema names every column with type, unit and meaning; `docs/contracts.md` is generated from
here. TREC files (runs, qrels), Hugging Face model directories and Lucene indexes keep their own formats.
"""

import pyarrow as pa

from irpretrain.foundation.tables import LOCATION, Contract, ContractColumn, list_of, record

SECTION = record(level=pa.int16(), heading=pa.string(), start=pa.int32(), end=pa.int32(), role=pa.string())
LINK = record(target=pa.string(), fragment=pa.string(), start=pa.int32(), end=pa.int32(), section=pa.int16())

DOCUMENTS = Contract(
    "documents",
    "A corpus shard: one row per document, in corpus order (part, position).",
    ContractColumn("document_id", pa.string(), "unique in its collection"),
    *LOCATION,
    ContractColumn("title", pa.string(), "title, or empty"),
    ContractColumn("url", pa.string(), "address, or empty"),
    ContractColumn("body", pa.string(), "plain text with a newline between paragraphs"),
    ContractColumn(
        "sections",
        list_of(SECTION),
        "in order: level (0: lead section, 2: ==x==, …), heading, start and end of its "
        "text in the body, role (see-also, boilerplate, or empty). No sections: one "
        "lead section",
        "characters",
        default=[],
    ),
    ContractColumn(
        "links",
        list_of(LINK),
        "in order: linked title, fragment without #, start and end of the anchor in the "
        "body, number of its section",
        "characters",
        default=[],
    ),
    ContractColumn(
        "disambiguation", pa.bool_(), "the page only lists articles with similar names", default=False
    ),
)

REDIRECTS = Contract(
    "redirects",
    "Redirects of a corpus shard, in corpus order. The file's metadata `title_case` is the "
    "dump's rule for the case of titles.",
    *LOCATION,
    ContractColumn("title", pa.string(), "title of the redirect page"),
    ContractColumn("target", pa.string(), "target title as written"),
    ContractColumn("fragment", pa.string(), "section of the target without #, or empty"),
)

QUERIES = Contract(
    "queries",
    "Queries of a data set, in the order of their source.",
    ContractColumn("query_id", pa.string(), "used in runs and qrels"),
    ContractColumn("text", pa.string(), "query text"),
)

WORD_COUNTS = Contract(
    "word_counts",
    "Collection statistics: one row per word, sorted by word (code points).",
    ContractColumn("word", pa.string(), "lower-cased word"),
    ContractColumn("count", pa.int64(), "occurrences in the collection", "words"),
    ContractColumn("documents", pa.int64(), "documents with the word", "documents"),
    ContractColumn(
        "stem_documents",
        pa.int64(),
        "documents in which it is the first word of its Porter stem",
        "documents",
    ),
)

VOCABULARY = Contract(
    "vocabulary",
    "Vocabulary of a ranker over words, in the order of its vectors, from 1.",
    ContractColumn("word", pa.string(), "lower-cased word"),
    ContractColumn("number", pa.int64(), "row in WORD_COUNTS of the ranker's collection"),
)

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
)

_SIZES = (
    ContractColumn("words", pa.int32(), "words of the body, split at white space", "words"),
    ContractColumn("segments", pa.int32(), "number of segments, at least 1", "segments"),
    ContractColumn("disambiguation", pa.bool_(), "the page only lists meanings of its title"),
)

LINK_SOURCES = Contract(
    "link_sources",
    "Documents of a corpus shard as link sources, in corpus order.",
    *LOCATION,
    ContractColumn("document_id", pa.string(), "document"),
    ContractColumn("title", pa.string(), "its title"),
    ContractColumn("key", pa.string(), "normalised title; links match it"),
    *_SIZES,
)

LINKS = Contract(
    "links",
    "Links of a corpus shard in document order.",
    *LOCATION,
    ContractColumn("segment", pa.int16(), "segment of the anchor's first character in the source"),
    ContractColumn("section", pa.int16(), "section of the anchor in the source"),
    ContractColumn("start", pa.int32(), "start of the anchor in the source's body", "characters"),
    ContractColumn("end", pa.int32(), "end of the anchor in the source's body", "characters"),
    ContractColumn("target", pa.string(), "normalised title of the target, before redirects"),
    ContractColumn("see_also", pa.bool_(), "the anchor is in a See Also section"),
    ContractColumn("mention", pa.bool_(), "a mention of a title, made a link by option"),
)

NODES = Contract(
    "nodes",
    "Documents of a collection as graph nodes, by corpus in the order of the configuration, "
    "then by (part, position).",
    ContractColumn("node", pa.int32(), "document number, equal to the row number"),
    ContractColumn("document_id", pa.string(), "document"),
    ContractColumn("title", pa.string(), "its title"),
    ContractColumn("corpus", pa.int16(), "corpus of the collection, from 0"),
    *LOCATION,
    *_SIZES,
)

HYPERLINKS = Contract(
    "hyperlinks",
    "Links from segments to documents: one row per (source, segment, target), sorted by "
    "these ([groups D1 to D5](methods/wikipedia-graph.md)).",
    ContractColumn("source", pa.int32(), "node that links"),
    ContractColumn("segment", pa.int16(), "segment of the source"),
    ContractColumn("target", pa.int32(), "linked node, never the source"),
    ContractColumn("start", pa.int32(), "start of the target's first anchor in that segment", "characters"),
    ContractColumn("end", pa.int32(), "its end", "characters"),
    ContractColumn("symmetric", pa.bool_(), "the target links the source from any segment"),
    ContractColumn("back_segment", pa.int16(), "first segment of the target that links the source, or -1"),
    ContractColumn(
        "strong",
        pa.bool_(),
        "the target's first anchor of the source is in its first segment",
    ),
    ContractColumn("section", pa.int16(), "section of the first anchor in the source"),
)

SEE_ALSO = Contract(
    "see_also",
    "Edges of the See Also graph, distinct, sorted by (source, target).",
    ContractColumn("source", pa.int32(), "node with the link in See Also"),
    ContractColumn("target", pa.int32(), "linked node, never the source"),
)

ANCHOR_TEXTS = Contract(
    "anchor_texts",
    "Targets of each anchor text in a collection, distinct, sorted by (anchor, target).",
    ContractColumn("anchor", pa.string(), "anchor text, case folded, with single spaces"),
    ContractColumn("target", pa.int32(), "linked node"),
    ContractColumn("links", pa.int32(), "number of rows in HYPERLINKS", "links"),
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
    *_DOCUMENT_QUERY,
)

AXIOM_VALUES = Contract(
    "axiom_values",
    "DOCUMENT_QUERIES with one value per axiom ([definitions](methods/axioms.md)).",
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
)

AXIOM_PAIRS = Contract(
    "axiom_pairs",
    "Pairs of pseudo-queries for an axiom diagnosis, in random order.",
    ContractColumn("pair", pa.int32(), "pair number from 0, equal to the row number"),
    ContractColumn("document_id", pa.string(), "document"),
    ContractColumn("first", pa.string(), "words of one pseudo-query"),
    ContractColumn("second", pa.string(), "words of another, of equal length"),
    ContractColumn(
        "preferences",
        list_of(pa.int8()),
        "one per axiom, in the order of ARES's table 1: 1 prefers the first, -1 the second, 0 neither",
    ),
)

PAIR_SCORES = Contract(
    "pair_scores",
    "A re-ranker's scores of both pseudo-queries of each row of AXIOM_PAIRS.",
    ContractColumn("pair", pa.int32(), "pair number, equal to the row number"),
    ContractColumn("first", pa.float32(), "score of the first pseudo-query"),
    ContractColumn("second", pa.float32(), "score of the second"),
)

PROBE = Contract(
    "probe",
    "What a pre-trained model makes of held-out groups: one row per task and input, in "
    "`results/metrics/pretrained/<model>/seed-<n>.probe.csv`.",
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
    ContractColumn("p_value", pa.float64(), "of the difference from right, over groups (randomisation test)"),
)

_WEIGHTED_TEXT = (
    *LOCATION,
    ContractColumn("document_id", pa.string(), "document, or query if queries are weighted"),
)

TERM_TARGETS = Contract(
    "term_targets",
    "Targets of term weighting: one row per text (passage or query) or per (query, passage) "
    "pair, in text order ([definitions](methods/deepct.md)).",
    *_WEIGHTED_TEXT,
    ContractColumn("sample", pa.int32(), "row of that text, from 0; third key of the order"),
    ContractColumn("text", pa.string(), "text"),
    ContractColumn(
        "judged", pa.int32(), "number of relevant queries (of a passage) or documents (of a query)"
    ),
    ContractColumn("targets", list_of(pa.float32()), "target of each word, from 0 to 1"),
)

TERM_WEIGHTS = Contract(
    "term_weights",
    "Predicted weights for a corpus shard or a data set's queries: one row per text, in order.",
    *_WEIGHTED_TEXT,
    ContractColumn(
        "terms",
        list_of(record(term=pa.string(), weight=pa.float32())),
        "distinct lower-cased words, sorted",
    ),
)

TERM_VECTORS = Contract(
    "term_vectors",
    "Integer weights in place of term frequencies in an index: one row per text, in order.",
    *_WEIGHTED_TEXT,
    ContractColumn(
        "terms",
        list_of(record(term=pa.string(), weight=pa.int32())),
        "distinct lower-cased words with weight 1 or more, not stemmed, sorted",
    ),
)

SPAN_QUESTIONS = Contract(
    "span_questions",
    "One row per question of extractive question answering.",
    ContractColumn("role", pa.string(), "train, choose (epoch and learning rate) or test"),
    ContractColumn("question_id", pa.string(), "question"),
    ContractColumn("question", pa.string(), "its text"),
    ContractColumn("context", pa.string(), "text with the answer"),
    ContractColumn("answers", list_of(pa.string()), "every accepted answer"),
    ContractColumn("starts", list_of(pa.int32()), "start of each answer that occurs in the text"),
    ContractColumn("ends", list_of(pa.int32()), "end of each, exclusive"),
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
)

SCORES = Contract(
    "scores",
    "One row per mean, in `results/scores.csv` and `results/scores/<experiment>.csv`.",
    *_RUN,
    ContractColumn(
        "fold", pa.int32(), "test fold whose queries the mean is over, from 1; 0: all judged queries"
    ),
    ContractColumn("measure", pa.string(), "measure, in ir_measures' notation"),
    ContractColumn("value", pa.float64(), "mean; a judged query without documents counts 0"),
    ContractColumn("queries", pa.int32(), "number of queries", "queries"),
)

CLAIMS = Contract(
    "claims",
    "One row per [claim](methods/evaluation.md#claims) of a paper, in `results/claims.csv` and "
    "`results/claims/<paper>.csv`. Cells without a number are empty.",
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
        "measure, AUC of a predictor, gain of an axiom, agreement with one, or weight of the heaviest term",
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
    ContractColumn("p_holm", pa.float64(), "the same, corrected over the paper's claims that were tested"),
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
        "supported, contradicted, ruled out, undecided, not run, or not testable here",
    ),
    ContractColumn("reason", pa.string(), "why"),
    ContractColumn(
        "differs",
        pa.string(),
        "what the sides differ in, such as groups read in pre-training; empty: nothing but the method",
    ),
    ContractColumn(
        "counted",
        pa.string(),
        "what the interval counts: articles, queries, documents or passages, and seeds",
    ),
    ContractColumn(
        "qualification",
        pa.string(),
        "what belongs into the verdict's sentence: the result of another reading, unequal teaching, a choice of "
        "the best, an interval over seeds alone",
    ),
)

# All tables, in the order of docs/contracts.md.
CONTRACTS = [table for table in list(globals().values()) if isinstance(table, Contract)]
