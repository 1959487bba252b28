"""Presets: the choices in which a paper and its authors' released code differ.

They only fill keys that the user leaves out, as recipes do (`papers.files.read_recipe`). `docs/methods/` gives the
reasons; the facts were read from the papers and from the public repositories.
"""

from __future__ import annotations

from typing import Any

PRESETS: dict[str, dict[str, Any]] = {
    "paper": {
        "text": {"words": "alphanumeric"},
        # How often a word must occur ARES does not say; PROP does, of whose word sets pseudo-queries are a variant.
        "pseudo_queries": {"minimum_count": 50},
        "pretraining": {
            "loss": "hinge",
            "head": "mlp",
            "masking": {"unit": "token", "most": None},
            "optimiser": {
                "learning_rate": 2e-5,
                "warmup": 0.1,
                "bias_correction": True,
                "epsilon": 1e-8,
                "clip_by": "all",
            },
        },
        "term_weights": {
            "<name>": {
                "labels": {"rows": "per-text"},
                "training": {
                    "reduction": "sum",
                    "optimiser": {"bias_correction": True, "epsilon": 1e-8},
                },
            },
        },
        "objectives": {
            "rop": {
                "stop_list": "inquery",
                "background": "word-counts",
                "minimum_count": 50,
                "rare_words": "excluded",
                "subsampling_threshold": 1e-5,
                "subsampling_minimum_count": 0,
                "subsampling_keep": "word2vec-code",  # the footnote of section 4.4.2 cites the code
                "support": "vocabulary",
                "score_smoothing": "normalised",
                "pairs_per_document": 5,
                "generated_pairs": None,
                "short_document_pieces": 0,
                "short_document_skip": 0.0,
            },
            "srr": {
                "candidates": "siblings",
                "positive": "random",
                "minimum_words": 1,
                "minimum_candidates": 2,
                "minimum_sections": 0,
            },
            "ares": {"draw": "until-accepted", "ties": "drop"},
        },
        "models": {
            # PROP, section 4.4.2: Adam; of weight decay and clipping it says nothing. ICT has PROP's settings (4.2).
            "rop": {"training": {"optimiser": {"weight_decay": 0.0, "clip": None}}},
            "ict": {"training": {"optimiser": {"weight_decay": 0.0, "clip": None}}},
            # ARES, section 4.3: an MLP over the pooled output; 5.1.4: words of the input sequence are masked; AdamW.
            "ares": {
                "training": {
                    "head": "pooled",
                    "masking": {"scope": "sequence"},
                    "optimiser": {"bias_correction": True, "epsilon": 1e-8, "clip_by": "all"},
                },
            },
        },
    },
    "released": {
        "text": {"words": "letters"},
        "pseudo_queries": {"minimum_count": 10},
        "pretraining": {
            "loss": "pair-softmax",
            "head": "pooled",
            "masking": {"unit": "word", "most": 60},
            "optimiser": {
                "learning_rate": 2e-5,
                "warmup": 0.1,
                "bias_correction": False,
                "epsilon": 1e-6,
                "clip_by": "tensor",
            },
        },
        "term_weights": {
            "<name>": {
                "labels": {"rows": "per-pair"},
                "training": {
                    "reduction": "mean",
                    "optimiser": {"bias_correction": False, "epsilon": 1e-6},
                },
            },
        },
        "objectives": {
            "rop": {
                "stop_list": "nltk+inquery",
                "background": "document-frequencies",
                "minimum_count": 10,
                "rare_words": "counted",
                "subsampling_threshold": 1e-4,
                "subsampling_minimum_count": 100,
                "subsampling_keep": "word2vec-code",
                "support": "document-and-sample",
                "score_smoothing": "unnormalised",
                "pairs_per_document": 5,
                "generated_pairs": 10,
                "short_document_pieces": 100,
                "short_document_skip": 0.8,
            },
            "srr": {
                "candidates": "article",
                "positive": "deepest-first",
                "minimum_words": 21,
                "minimum_candidates": 4,
                "minimum_sections": 6,
            },
            "ares": {"draw": "first", "ties": "keep"},
        },
        "models": {
            "rop": {"training": {"optimiser": {"weight_decay": 0.01, "clip": 1.0}}},
            "ict": {"training": {"optimiser": {"weight_decay": 0.01, "clip": 1.0}}},
            # The optimiser of ARES's code is not PROP's.
            "ares": {
                "training": {
                    "head": "pooled",
                    "masking": {"scope": "document"},
                    "optimiser": {"bias_correction": True, "epsilon": 1e-8, "clip_by": "all"},
                },
            },
        },
    },
}
