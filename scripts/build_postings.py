"""Build a collection's inverted index for the rank of one given document."""

from irpretrain.axioms.rank_engine import write_postings
from irpretrain.config.retrieval import Bm25Config
from irpretrain.foundation.stage import by_corpus, stage
from irpretrain.text.terms import read_terms
from irpretrain.text.word_store import WordStore

with stage(snakemake) as counts:
    terms = read_terms(snakemake.input.statistics, **snakemake.params.terms)
    term_of, size = terms.term_of, len(terms.names)
    del terms  # its strings need as much memory as the postings
    counts |= write_postings(
        by_corpus(map(WordStore, snakemake.input.words), snakemake.params.corpora),
        term_of,
        size,
        snakemake.output.postings,
        Bm25Config(**snakemake.params.bounds),
        **snakemake.params.memory,
    )
