"""IR-Pretrain: pre-training objectives and term weighting for ad-hoc retrieval, as a workflow and as a library.

The names below are the library; docs/library.md shows each in a few lines.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from irpretrain.foundation import __version__ as __version__

if TYPE_CHECKING:
    from irpretrain.axioms.predictor import load_predictor
    from irpretrain.evaluation.evaluate import read_scores
    from irpretrain.evaluation.significance import bootstrap_interval, holm, paired_t_test, randomisation_test
    from irpretrain.library.collection import Collection
    from irpretrain.library.documents import parse_wikitext, read_documents
    from irpretrain.library.groups import Groups
    from irpretrain.library.models import CrossEncoder, TermWeigher, finetune, pretrain
    from irpretrain.library.options import Options
    from irpretrain.library.own_groups import own_groups, read_groups
    from irpretrain.wikipedia.article import build_tree

# Name → module, imported when the name is first used: every start of the workflow imports this package.
_MODULES = {
    "Collection": "library.collection",
    "CrossEncoder": "library.models",
    "Groups": "library.groups",
    "Options": "library.options",
    "TermWeigher": "library.models",
    "bootstrap_interval": "evaluation.significance",
    "build_tree": "wikipedia.article",
    "finetune": "library.models",
    "holm": "evaluation.significance",
    "load_predictor": "axioms.predictor",
    "own_groups": "library.own_groups",
    "paired_t_test": "evaluation.significance",
    "parse_wikitext": "library.documents",
    "pretrain": "library.models",
    "randomisation_test": "evaluation.significance",
    "read_documents": "library.documents",
    "read_groups": "library.own_groups",
    "read_scores": "evaluation.evaluate",
}

__all__ = [
    "Collection",
    "CrossEncoder",
    "Groups",
    "Options",
    "TermWeigher",
    "bootstrap_interval",
    "build_tree",
    "finetune",
    "holm",
    "load_predictor",
    "own_groups",
    "paired_t_test",
    "parse_wikitext",
    "pretrain",
    "randomisation_test",
    "read_documents",
    "read_groups",
    "read_scores",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
