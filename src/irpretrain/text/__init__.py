"""Words, word pieces, collection statistics and word vectors."""
