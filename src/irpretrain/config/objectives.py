"""The pre-training objectives by name, and options that several share. A new one is a file of `objectives`, and a line
here."""

from importlib import import_module
from typing import Any

from irpretrain.config.base import Section, explain, option
from irpretrain.foundation.errors import instead_of

# Type of an objective → module with `OPTIONS` (its section of the configuration), `NEEDS` (a frozenset of those
# below) and `make_groups(shard, options, counts)`, which yields the groups of a shard (`objectives.shard`).
OBJECTIVES = {
    "rop": "irpretrain.objectives.prop.rop",
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

# What a `Shard` may hold beside documents and their word pieces, and is made only where an objective needs it. With
# `positions`, its token store knows the characters where word pieces begin.
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


def read_options(name: str, values: Any) -> Section:
    if isinstance(values, Section):
        return values
    if not isinstance(values, dict) or "type" not in values:
        raise ValueError(f"{name}: needs a type; allowed are {', '.join(OBJECTIVES)}")
    objective_type = values["type"]
    if objective_type not in list(OBJECTIVES):  # a list, for YAML may give what cannot be hashed
        suggestion = instead_of(str(objective_type), OBJECTIVES, "allowed are")
        raise ValueError(f"{name}.type: {objective_type!r} is unknown; {suggestion}")
    return explain(options_class(objective_type), values, name)


def options_class(objective_type: str) -> type[Section]:
    options: type[Section] = import_module(OBJECTIVES[objective_type]).OPTIONS
    return options


def load_objective(options: Any) -> Any:
    """Return the module of the objective that `options` (an `OPTIONS` of one of them) belongs to."""
    return import_module(OBJECTIVES[options.type])


def needs(options: Any) -> frozenset[str]:
    """Return which of `NEEDS` the objective that `options` belongs to asks for."""
    names: frozenset[str] = load_objective(options).NEEDS
    if unknown_needs := names - set(NEEDS):
        raise ValueError(
            f"{OBJECTIVES[options.type]}.NEEDS: {', '.join(sorted(unknown_needs))} is none of {NEEDS}"
        )
    return names


class AnchorOptions(Section):
    """What HARP's four objectives share."""

    groups_per_document: int | None = option(4, "Maximum groups per article; null: all.", unit="groups", ge=1)
