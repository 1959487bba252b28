"""The pre-training objectives by name. A new one is a file in this package and a line here."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from irpretrain.config.base import Section
from irpretrain.near_names import instead_of

OBJECTIVES = {
    "rop": "irpretrain.objectives.rop",
    "srr": "irpretrain.objectives.srr",
    "rwi": "irpretrain.objectives.rwi",
    "ati": "irpretrain.objectives.ati",
    "ltm": "irpretrain.objectives.ltm",
    "hp": "irpretrain.objectives.hyperlink_prediction",
    "shp": "irpretrain.objectives.hyperlink_prediction",
    "mrds": "irpretrain.objectives.hyperlink_prediction",
    "ict": "irpretrain.objectives.ict",
    "bfs": "irpretrain.objectives.bfs",
    "wlp": "irpretrain.objectives.wlp",
    "rqp": "irpretrain.objectives.rqp",
    "qdm": "irpretrain.objectives.qdm",
    "rdp": "irpretrain.objectives.rdp",
    "acm": "irpretrain.objectives.acm",
    "ares": "irpretrain.objectives.ares",
}
"""Type of an objective → module with `Options` (its section of the configuration), `NEEDS` and `build_groups`."""

NEEDS = (
    "statistics",
    "positions",
    "graph",
    "collection",
    "collection_tokens",
    "anchor_texts",
    "axiom_values",
    "predictor",
)
"""What an objective may need beside documents and their word pieces, and is made only where one does: the collection's
statistics, the characters where word pieces begin, the graph of links, the documents of all shards of the collection,
their token stores, the texts of its anchors, the AXIOM_VALUES of the shard's pseudo-queries, the preference predictor
that `Options.predictor` names (None where it names none). All from the fourth on are keyword arguments of
`build_groups` in the objectives that need them; with `axiom_values` comes `axioms`, that section of the configuration.
"""


def read_options(name: str, given: Any) -> Section:
    """Return the checked options of the objective called `name` in the configuration."""
    from irpretrain.config.load import explain

    if isinstance(given, Section):
        return given
    if not isinstance(given, dict) or "type" not in given:
        raise ValueError(f"{name}: needs a type; allowed are {', '.join(OBJECTIVES)}")
    kind = given["type"]
    if kind not in list(OBJECTIVES):  # a list, for YAML may give what cannot be hashed
        meant = instead_of(str(kind), OBJECTIVES, "allowed are")
        raise ValueError(f"{name}.type: {kind!r} is unknown; {meant}")
    options: type[Section] = import_module(OBJECTIVES[kind]).Options
    return explain(options, given, name)


def load_objective(options: Any) -> Any:
    """Return the module of the objective that `options` (an `Options` of one of them) belongs to."""
    return import_module(OBJECTIVES[options.type])


def needs(options: Any) -> frozenset[str]:
    """Return which of `NEEDS` the objective that `options` belongs to asks for."""
    found: frozenset[str] = load_objective(options).NEEDS
    if unknown := found - set(NEEDS):
        raise ValueError(f"{OBJECTIVES[options.type]}.NEEDS: {', '.join(sorted(unknown))} is none of {NEEDS}")
    return found
