"""IR-Pretrain: pre-training objectives and term weighting for ad-hoc retrieval, as a workflow and as a library.

The names below are the library; docs/library.md shows each in a few lines.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from irpretrain.foundation import __version__ as __version__

if TYPE_CHECKING:
    from irpretrain.axioms.predictor import load_predictor as load_predictor
    from irpretrain.evaluation.evaluate import read_scores as read_scores
    from irpretrain.evaluation.significance import bootstrap_interval as bootstrap_interval
    from irpretrain.evaluation.significance import holm as holm
    from irpretrain.evaluation.significance import paired_t_test as paired_t_test
    from irpretrain.evaluation.significance import randomisation_test as randomisation_test
    from irpretrain.library.collection import Collection as Collection
    from irpretrain.library.cross_encoder import CrossEncoder as CrossEncoder
    from irpretrain.library.documents import parse_wikitext as parse_wikitext
    from irpretrain.library.documents import read_documents as read_documents
    from irpretrain.library.groups import Groups as Groups
    from irpretrain.library.models import TermWeigher as TermWeigher
    from irpretrain.library.models import finetune as finetune
    from irpretrain.library.models import pretrain as pretrain
    from irpretrain.library.options import Options as Options
    from irpretrain.library.own_groups import own_groups as own_groups
    from irpretrain.library.own_groups import read_groups as read_groups
    from irpretrain.wikipedia.article import build_tree as build_tree

# Name → module, imported when the name is first used: every start of the workflow imports this package.
_MODULES = {
    "Collection": "library.collection",
    "CrossEncoder": "library.cross_encoder",
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

__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*(name for name in globals() if name.startswith("__")), *__all__})
