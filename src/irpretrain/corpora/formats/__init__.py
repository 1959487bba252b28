"""One file a format of documents, topics, judgements, runs and tasks; `corpora.registry` has their names."""
