"""Weights of the words of passages and queries, learned from which words queries and relevant documents share
(DeepCT)."""
