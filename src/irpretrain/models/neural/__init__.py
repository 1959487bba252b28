"""Rankers without pre-training, over words: one architecture a file."""
