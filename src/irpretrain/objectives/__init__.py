"""One pre-training objective a file: from documents to ranking groups."""
