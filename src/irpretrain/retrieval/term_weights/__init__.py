"""Weights of words of passages and queries, learned from words that queries share with relevant documents (DeepCT)."""
