"""Presets: the choices in which a paper and its authors' released code differ; and the papers' recipes of fine-tuning.

Both only fill keys that the user leaves out. `docs/methods/` gives the reasons; the facts were read
from the papers and from the public repositories.
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

SEQUENCE = {"max_length": 512, "query_length": 64}
"""PROP (section 4.2), ARES (5.1.4) and PHP (4.3.3) state the length of query and document together. How much of it a
query may take they do not say: 64 is ours."""

SHORT_QUERIES = {"max_length": 512, "query_length": 30}
"""Wikiformer ("Implementation Details"), of its tasks of pre-training: queries of 30 pieces, documents of 480. No key
cuts documents: beside a shorter query they have more."""

LONG_QUERIES = {"max_length": 512, "query_length": 255}
"""Wikiformer, of its task on long texts (LTM): 255 and 255."""

WIKIFORMER = {
    "loss": "listwise",
    "negatives": 7,
    "batch_sizes": [32],
    "few_shot_batch_sizes": [8],
    "learning_rates": [1e-5],
    "epochs": 1,
}
"""Wikiformer says nothing of fine-tuning but its data. The loss and the lengths are those of its pre-training, the rest
is as PHP's."""

RECIPES: dict[str, dict[str, dict[str, Any]]] = {
    # Section 4.4.3, and 4.9 of few queries. The paper states neither loss nor negatives: they are what the authors said
    # of MS MARCO in their public repository. What its batches count it does not say either: here groups, as 16
    # sequences would hold one query with its 12 documents.
    "prop": {
        "finetuning": {
            "loss": "listwise",
            "negatives": 11,
            "batch_sizes": [16, 32],
            "few_shot_batch_sizes": [4, 8, 16],
            "few_shot_queries": "first",
            "learning_rates": [1e-5, 2e-5],
            "epochs": 10,
            "optimiser": {"weight_decay": 0.0, "clip": None},
            **SEQUENCE,
        },
        "reranking": SEQUENCE,
    },
    # Section 5.1.4: 40 sequences on each of 8 GPUs, hence 160 pairs (the released loader halves its batch size), and a
    # pairwise loss as in pre-training (equation 11). Few queries have the settings of all (5.3.2).
    "ares": {
        "finetuning": {
            "loss": "hinge",
            "margin": 1.0,
            "negatives": 1,
            "batch_sizes": [160],
            "few_shot_batch_sizes": [160],
            "learning_rates": [1e-5],
            "epochs": 20,
            **SEQUENCE,
        },
        "reranking": SEQUENCE,
    },
    "wikiformer": {"finetuning": {**WIKIFORMER, **SHORT_QUERIES}, "reranking": SHORT_QUERIES},
    "wikiformer-legal": {"finetuning": {**WIKIFORMER, **LONG_QUERIES}, "reranking": LONG_QUERIES},
    # Section 4.3.3, whose batch of 32 excepts neither few nor many queries (Figure 4). The loss is that of its
    # pre-training; the number of negatives is not stated.
    "php": {
        "finetuning": {
            "loss": "listwise",
            "negatives": 7,
            "batch_sizes": [32],
            "few_shot_batch_sizes": [32],
            "learning_rates": [1e-5],
            "epochs": 1,
            "optimiser": {"warmup": 0.01, "weight_decay": 0.1},
            **SEQUENCE,
        },
        "reranking": SEQUENCE,
    },
}
"""How the papers fine-tuned. What a paper does not state is ours; `docs/methods/training.md` says which that is."""
