"""Words, word pieces, collection statistics and language models."""
