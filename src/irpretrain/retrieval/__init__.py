"""First-stage retrieval with Lucene, and re-ranking."""
