"""Runs, measures, folds, significance."""
