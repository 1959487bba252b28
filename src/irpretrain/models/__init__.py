"""Encoders with heads."""
