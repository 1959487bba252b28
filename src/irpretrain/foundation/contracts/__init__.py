"""The tables that stages exchange: declared once, checked when written and when read.

A table is Parquet. Its schema names every column with type, unit and meaning; `docs/contracts.md` is generated from
here. TREC files (runs, qrels), Hugging Face model directories and Lucene indexes keep their own formats.
"""

from irpretrain.foundation.contracts.collections import (
    ANCHOR_TEXTS,
    DOCUMENTS,
    HYPERLINKS,
    LINK,
    LINK_SOURCES,
    LINKS,
    NODES,
    QUERIES,
    REDIRECTS,
    SECTION,
    SEE_ALSO,
    VOCABULARY,
    WORD_COUNTS,
)
from irpretrain.foundation.contracts.groups import (
    ANCHOR,
    AXIOM_PAIRS,
    AXIOM_VALUES,
    DOCUMENT_QUERIES,
    GROUPS,
    NO_ANCHOR,
    PAIR_SCORES,
    PROBE,
    QUERY_PART,
    SPAN,
)
from irpretrain.foundation.contracts.results import (
    CLAIMS,
    PER_QUERY,
    SCORES,
    SPAN_QUESTIONS,
    TERM_TARGETS,
    TERM_VECTORS,
    TERM_WEIGHTS,
)
from irpretrain.foundation.contracts.table import (
    BYTES_PER_GROUP,
    ROWS_AS_OBJECTS,
    ROWS_PER_GROUP,
    Contract,
    ContractColumn,
    ContractWriter,
    parquet_file,
    row_group,
)

# All tables, in the order of docs/contracts.md.
CONTRACTS = (
    DOCUMENTS,
    REDIRECTS,
    QUERIES,
    WORD_COUNTS,
    VOCABULARY,
    GROUPS,
    LINK_SOURCES,
    LINKS,
    NODES,
    HYPERLINKS,
    SEE_ALSO,
    ANCHOR_TEXTS,
    DOCUMENT_QUERIES,
    AXIOM_VALUES,
    AXIOM_PAIRS,
    PAIR_SCORES,
    PROBE,
    TERM_TARGETS,
    TERM_WEIGHTS,
    TERM_VECTORS,
    SPAN_QUESTIONS,
    PER_QUERY,
    SCORES,
    CLAIMS,
)
