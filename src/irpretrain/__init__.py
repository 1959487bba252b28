"""IR-Pretrain: pre-training objectives and term weighting for ad-hoc retrieval, as one reproducible workflow."""

__version__ = "0.1.0"
