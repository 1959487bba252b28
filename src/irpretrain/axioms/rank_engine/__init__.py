"""At which rank BM25 finds a given document under a query, without a search, and the best documents
under it: postings, bounds of scores, ranks.

The workflow builds postings out of core from word stores (`build_postings.write_postings`) and ranks by numbers of
terms (`document_rank.document_ranks`). docs/methods/document-rank.md has method and speed.
"""

from irpretrain.axioms.rank_engine.build_postings import write_postings
from irpretrain.axioms.rank_engine.document_rank import document_ranks, top_documents
from irpretrain.axioms.rank_engine.postings import Postings

__all__ = [
    "Postings",
    "document_ranks",
    "top_documents",
    "write_postings",
]
