"""Tables of documents, of what links them, and of their words."""

import pyarrow as pa

from irpretrain.foundation.contracts.table import LOCATION, Contract, ContractColumn, list_of, record

SECTION = record(level=pa.int16(), heading=pa.string(), start=pa.int32(), end=pa.int32(), role=pa.string())
LINK = record(target=pa.string(), fragment=pa.string(), start=pa.int32(), end=pa.int32(), section=pa.int16())

DOCUMENTS = Contract(
    "documents",
    "A corpus shard: one row per document, in corpus order (part, position).",
    (
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
    ),
)

REDIRECTS = Contract(
    "redirects",
    "Redirects of a corpus shard, in corpus order. The file's metadata `title_case` is the "
    "dump's rule for the case of titles.",
    (
        *LOCATION,
        ContractColumn("title", pa.string(), "title of the redirect page"),
        ContractColumn("target", pa.string(), "target title as written"),
        ContractColumn("fragment", pa.string(), "section of the target without #, or empty"),
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
    (
        *LOCATION,
        ContractColumn("document_id", pa.string(), "document"),
        ContractColumn("title", pa.string(), "its title"),
        ContractColumn("key", pa.string(), "normalised title; links match it"),
        *_SIZES,
    ),
)

LINKS = Contract(
    "links",
    "Links of a corpus shard in document order.",
    (
        *LOCATION,
        ContractColumn("segment", pa.int16(), "segment of the anchor's first character in the source"),
        ContractColumn("section", pa.int16(), "section of the anchor in the source"),
        ContractColumn("start", pa.int32(), "start of the anchor in the source's body", "characters"),
        ContractColumn("end", pa.int32(), "end of the anchor in the source's body", "characters"),
        ContractColumn("target", pa.string(), "normalised title of the target, before redirects"),
        ContractColumn("see_also", pa.bool_(), "the anchor is in a See Also section"),
        ContractColumn("mention", pa.bool_(), "a mention of a title, made a link by option"),
    ),
)

NODES = Contract(
    "nodes",
    "Documents of a collection as graph nodes, by corpus in the order of the configuration, "
    "then by (part, position).",
    (
        ContractColumn("node", pa.int32(), "document number, equal to the row number"),
        ContractColumn("document_id", pa.string(), "document"),
        ContractColumn("title", pa.string(), "its title"),
        ContractColumn("corpus", pa.int16(), "corpus of the collection, from 0"),
        *LOCATION,
        *_SIZES,
    ),
)

HYPERLINKS = Contract(
    "hyperlinks",
    "Links from segments to documents: one row per (source, segment, target), sorted by "
    "these ([groups D1 to D5](methods/wikipedia-graph.md)).",
    (
        ContractColumn("source", pa.int32(), "node that links"),
        ContractColumn("segment", pa.int16(), "segment of the source"),
        ContractColumn("target", pa.int32(), "linked node, never the source"),
        ContractColumn(
            "start", pa.int32(), "start of the target's first anchor in that segment", "characters"
        ),
        ContractColumn("end", pa.int32(), "its end", "characters"),
        ContractColumn("symmetric", pa.bool_(), "the target links the source from any segment"),
        ContractColumn(
            "back_segment", pa.int16(), "first segment of the target that links the source, or -1"
        ),
        ContractColumn(
            "strong",
            pa.bool_(),
            "the target's first anchor of the source is in its first segment",
        ),
        ContractColumn("section", pa.int16(), "section of the first anchor in the source"),
    ),
)

SEE_ALSO = Contract(
    "see_also",
    "Edges of the See Also graph, distinct, sorted by (source, target).",
    (
        ContractColumn("source", pa.int32(), "node with the link in See Also"),
        ContractColumn("target", pa.int32(), "linked node, never the source"),
    ),
)

ANCHOR_TEXTS = Contract(
    "anchor_texts",
    "Targets of each anchor text in a collection, distinct, sorted by (anchor, target).",
    (
        ContractColumn("anchor", pa.string(), "anchor text, case folded, with single spaces"),
        ContractColumn("target", pa.int32(), "linked node"),
        ContractColumn("links", pa.int32(), "number of rows in HYPERLINKS", "links"),
    ),
)

QUERIES = Contract(
    "queries",
    "Queries of a data set, in the order of their source.",
    (
        ContractColumn("query_id", pa.string(), "used in runs and qrels"),
        ContractColumn("text", pa.string(), "query text"),
    ),
)

WORD_COUNTS = Contract(
    "word_counts",
    "Collection statistics: one row per word, sorted by word (code points).",
    (
        ContractColumn("word", pa.string(), "lower-cased word"),
        ContractColumn("count", pa.int64(), "occurrences in the collection", "words"),
        ContractColumn("documents", pa.int64(), "documents with the word", "documents"),
        ContractColumn(
            "stem_documents",
            pa.int64(),
            "documents in which it is the first word of its Porter stem",
            "documents",
        ),
    ),
)

VOCABULARY = Contract(
    "vocabulary",
    "Vocabulary of a ranker over words, in the order of its vectors, from 1.",
    (
        ContractColumn("word", pa.string(), "lower-cased word"),
        ContractColumn("number", pa.int64(), "row in WORD_COUNTS of the ranker's collection"),
    ),
)
