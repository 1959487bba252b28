"""From YAML files to a checked `Config`; every fault in one message, none as a traceback."""

import copy
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from irpretrain.config.base import VALUE_REPR, deep_merge, explain, listing_error
from irpretrain.config.consistency import cross_faults
from irpretrain.config.labels import label_faults
from irpretrain.config.papers import read_preset, read_recipe
from irpretrain.config.root import ENTRY_SECTIONS, Config
from irpretrain.config.yaml_files import read_yaml
from irpretrain.corpora.catalogue.completion import complete, naming_keys
from irpretrain.corpora.formats.ir_datasets import PREFIX, corpus_identifier
from irpretrain.foundation.errors import ConfigError, instead_of
from irpretrain.foundation.resources import resources_directory

# The key under which an overlay names those that lie under it.
LAYERS_KEY = "layers"

# The key under which an overlay selects what it inherits from all that lies under it.
INHERIT_KEY = "inherit"

# Keys that request results, or allow to leave some out; others describe what may be requested.
REQUEST_KEYS = (
    "experiments",
    "downstream",
    "diagnoses",
    "weight_distributions",
    "term_weight_pages",
    "attributions",
    "report",
    "skip_absent",
)

# Sections whose entries have names in tables, by default their keys.
LABELLED = ("datasets", "models")


def load_config(base: str | Path, *overlays: str | Path) -> Config:
    """Read YAML files and return the checked `Config` of `lay_overlays`."""
    return parse_config(lay_overlays(base, overlays), " + ".join(str(path) for path in (base, *overlays)))


def lay_overlays(
    base: str | Path, overlays: Iterable[str | Path], command_line: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the merged content of YAML files: later overlays over earlier ones, all over the base, `command_line`
    over all.

    Overlays that an overlay names under `layers`, relative to itself, lie under it, each once. `inherit: definitions`
    takes only descriptions from all that lies under, not requests (`REQUEST_KEYS`); `inherit: nothing` begins anew.
    So does an encoder with another path.

    Raises:
        ConfigError: a file cannot be read, an entry without a value removes nothing, or an overlay that begins anew
            lies over another one.
    """
    base_content: dict[str, Any] = read_yaml(Path(base))
    # As with Snakemake's `--configfile`, an entry that one overlay removes and a later one makes anew keeps the
    # base's keys.
    overlay_content: dict[str, Any] = {}
    seen_paths = set[Path]()
    contents: list[tuple[str | Path, dict[str, Any]]] = []
    for path in overlays:
        contents += _with_layers(Path(path), seen_paths, is_listed=True)
    for position, (source, content) in enumerate((*contents, ("--config", dict(command_line or {})))):
        inheritance = _check_inheritance(source, content.pop(INHERIT_KEY, "all"))
        if inheritance == "nothing":
            if position:
                raise ConfigError(
                    f"{source}: starts from nothing ({INHERIT_KEY}: nothing), so the content of "
                    f"{contents[0][0]} would be lost; list it before the others"
                )
            base_content = {}
        elif inheritance == "definitions":
            predictor_names = _named_predictors(base_content, overlay_content, content)
            base_content, overlay_content = (
                _definitions(lower_layer, predictor_names) for lower_layer in (base_content, overlay_content)
            )
        base_content, overlay_content = (
            _without_other_encoder(lower_layer, content) for lower_layer in (base_content, overlay_content)
        )
        _refuse_empty_entries(source, content, (base_content, overlay_content))
        overlay_content = deep_merge(overlay_content, content)
    return deep_merge(base_content, overlay_content)


def _check_inheritance(source: str | Path, value: Any) -> str:
    if value not in ("all", "definitions", "nothing"):
        raise ConfigError(
            f"{source}: {INHERIT_KEY} must be all, definitions or nothing; given was {VALUE_REPR.repr(value)}"
        )
    return str(value)


def _definitions(inherited: dict[str, Any], predictor_names: set[str]) -> dict[str, Any]:
    """What lies under an overlay without what it asks for, and without predictors that only a table would show."""
    definitions = {key: value for key, value in inherited.items() if key not in REQUEST_KEYS}
    if isinstance(predictors := definitions.get("predictors"), dict):
        definitions["predictors"] = {
            name: value for name, value in predictors.items() if name in predictor_names
        }
    return definitions


def _without_other_encoder(inherited: dict[str, Any], content: dict[str, Any]) -> dict[str, Any]:
    """What lies under an overlay without an encoder that it replaces: name, layers and vocabulary are of that one."""
    encoders = (layer.get("encoder") for layer in (inherited, content))
    old_path, new_path = (encoder.get("path") if isinstance(encoder, dict) else None for encoder in encoders)
    if new_path is None or old_path == new_path:
        return inherited
    return {key: value for key, value in inherited.items() if key != "encoder"}


def _named_predictors(*contents: dict[str, Any]) -> set[str]:
    objectives = [content.get("objectives") for content in contents]
    entries = [entry for section in objectives if isinstance(section, dict) for entry in section.values()]
    return {str(entry["predictor"]) for entry in entries if isinstance(entry, dict) and "predictor" in entry}


def _refuse_empty_entries(
    source: str | Path, content: dict[str, Any], inherited: tuple[dict[str, Any], ...]
) -> None:
    """Raise ConfigError for an entry without a value that removes nothing: its keys were forgotten."""
    for section in ENTRY_SECTIONS:
        entries = content.get(section)
        sections = [
            inherited_layer[section]
            for inherited_layer in inherited
            if isinstance(inherited_layer.get(section), dict)
        ]
        inherited_names = list(dict.fromkeys(str(name) for names in sections for name in names))
        for name, value in entries.items() if isinstance(entries, dict) else ():
            if value is None and str(name) not in inherited_names:
                raise ConfigError(
                    f"{source}: {section}.{name}: is empty; give its keys, or leave it out. An empty "
                    "entry removes the entry of this name below the overlay, and there is none; "
                    + instead_of(str(name), inherited_names)
                )


def _with_layers(
    path: Path, seen_paths: set[Path], is_listed: bool = False
) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the layers of an overlay with their content, lowest first, and then the overlay itself."""
    if path.resolve() in seen_paths and not is_listed:
        return
    seen_paths.add(path.resolve())
    content = read_yaml(path)
    layers = content.pop(LAYERS_KEY, [])
    if not isinstance(layers, list) or not all(isinstance(layer, str) for layer in layers):
        raise ConfigError(f"{path}: {LAYERS_KEY} must be a list of overlays' paths; given was {layers!r}")
    for layer in layers:
        if not os.path.exists(path.parent / layer):  # Path's own raises where the name is too long
            raise ConfigError(_missing_layer_text(path, layer))
        yield from _with_layers(path.parent / layer, seen_paths)
    yield path, content


def _missing_layer_text(path: Path, layer: str) -> str:
    project_path = resources_directory().parent / "configs" / layer
    suggestion = (
        f"did you mean {os.path.relpath(project_path, path.parent)}?"
        if os.path.isfile(project_path)
        else "check the path."
    )
    return (
        f"{path}: {LAYERS_KEY}: {path.parent / layer}: there is no such configuration file; {suggestion} "
        "A layer's path is relative to the folder of the overlay that names it."
    )


def parse_config(content: dict[str, Any], source: str = "config.yaml") -> Config:
    """Return the checked `Config` of a mapping, with the preset and what the catalogue of data sets knows."""
    completed_content = _with_labels(complete(with_ir_datasets(_drop_removed(content))))
    config = explain(Config, apply_recipe(apply_preset(completed_content)), source, top=True)
    try:
        # Labels are made of names that other sections have.
        faults = list(dict.fromkeys(cross_faults(config))) or list(label_faults(config))
    except ValueError as error:  # of options that a model has of its own
        faults = [str(error)]
    if faults:
        raise listing_error(source, faults)
    return config


def _with_labels(content: dict[str, Any]) -> dict[str, Any]:
    """Return the configuration with the key of an entry as its name in tables, where it gives none."""

    def with_label(name: str, entry: dict[str, Any]) -> dict[str, Any]:
        return {**entry, "label": name} if entry.get("label") is None else entry

    for section in LABELLED:
        content = _change_entries(content, section, with_label)
    return content


def _change_entries(
    content: dict[str, Any], section: str, change: Callable[[str, dict[str, Any]], dict[str, Any]]
) -> dict[str, Any]:
    """Return the configuration with each entry of a section changed; what is no mapping is refused later."""
    if not isinstance(content.get(section), dict):
        return content
    entries = content[section].items()
    changed_entries = {
        key: change(str(key), entry) if isinstance(entry, dict) else entry for key, entry in entries
    }
    return {**content, section: changed_entries}


def _drop_removed(content: dict[str, Any]) -> dict[str, Any]:
    """Leave out named entries that an overlay set to null: `experiments: {few-shot: null}`."""
    return {
        key: {name: entry for name, entry in value.items() if entry is not None}
        if key in ENTRY_SECTIONS and isinstance(value, dict)
        else value
        for key, value in content.items()
    }


def apply_preset(content: dict[str, Any]) -> dict[str, Any]:
    """Fill keys that `content` leaves out from its preset.

    Objectives take theirs by type; models take theirs by the type of their objectives.
    """
    # Of an unknown preset, which is refused later, the missing keys would be reported too.
    preset = read_preset("released" if content.get("preset") == "released" else "paper")
    presets_of_types = preset["objectives"]
    result = dict(content)
    result = _change_entries(result, "models", lambda _, model: _with_model_preset(model, content, preset))
    result = _change_entries(
        result,
        "objectives",
        lambda _, options: deep_merge(presets_of_types.get(str(options.get("type")), {}), options),
    )
    weights = preset["term_weights"]["<name>"]
    result = _change_entries(result, "term_weights", lambda _, weighting: deep_merge(weights, weighting))
    for section in ("text", "pseudo_queries", "pretraining"):
        if isinstance(content.get(section, {}), dict):
            result[section] = deep_merge(preset[section], content.get(section) or {})
    return result


def apply_recipe(content: dict[str, Any]) -> dict[str, Any]:
    """Fill keys of `finetuning` and `reranking` that `content` leaves out, or takes back by null, from the recipe."""
    finetuning = content.get("finetuning")
    name = finetuning.get("recipe", "none") if isinstance(finetuning, dict) else "none"
    recipe = read_recipe(name) if isinstance(name, str) else None
    if recipe is None:
        return content  # the model refuses an unknown name with the allowed ones
    result = dict(content)
    for section, recipe_values in recipe.items():
        section_keys = content.get(section, {})
        if isinstance(section_keys, dict):
            set_values = {key: value for key, value in section_keys.items() if value is not None}
            result[section] = deep_merge(recipe_values, set_values)
    return result


def _with_model_preset(
    model: dict[str, Any], content: dict[str, Any], preset: dict[str, Any]
) -> dict[str, Any]:
    """Return a model with the preset's keys of `training` that neither it nor `pretraining` has, if its types agree."""
    try:
        types = {content["objectives"][task["objective"]]["type"] for task in model["tasks"]}
    except (KeyError, TypeError):  # without tasks, or refused where sections are checked
        return model
    if len(types) != 1 or model.get("neural") or model.get("cross_encoder"):  # which are not pre-trained here
        return model
    preset_values = preset["models"].get(types.pop(), {})
    pretraining = content.get("pretraining") or {}
    if (
        not preset_values
        or not isinstance(pretraining, dict)
        or not isinstance(model.get("training", {}), dict)
    ):
        return model
    return deep_merge({"training": _values_not_set(preset_values["training"], pretraining)}, model)


def _values_not_set(preset_values: dict[str, Any], set_values: dict[str, Any]) -> dict[str, Any]:
    unset_values = {}
    for key, value in preset_values.items():
        set_value = set_values.get(key)
        if isinstance(value, dict) and isinstance(set_value, dict):
            unset_values[key] = _values_not_set(value, set_value)
        elif key not in set_values:
            unset_values[key] = value
    return unset_values


# `ir_datasets:<id>` in place of a name: the entries of `corpora`, `datasets` and `first_stages` that it stands for.


def with_ir_datasets(content: dict[str, Any]) -> dict[str, Any]:
    """Return an unchecked configuration with an entry for each `ir_datasets:<id>` of a corpus, data set or first stage.

    Configured keys of the entry win.

    Raises:
        ConfigError: ir_datasets has no such data set.
        SetupError: ir_datasets is not installed.
    """
    result = copy.deepcopy(content)
    for naming_entry, key, target in naming_keys(result):
        naming_entry[key] = _with_entries(result, target, naming_entry[key], naming_entry.get("dataset"))
    return result


def _with_entries(content: dict[str, Any], section: str, value: Any, dataset: Any = None) -> Any:
    """Return the names in a value, after adding the entries that `ir_datasets:<id>` stands for; first stages rank for
    `dataset`."""
    if isinstance(value, list):
        return [_with_entries(content, section, item, dataset) for item in value]
    if not (isinstance(value, str) and value.startswith(PREFIX)):
        return value
    identifier, source = value.removeprefix(PREFIX), {"path": value}
    if section == "corpora":
        entry: dict[str, Any] = source
    elif section == "datasets":
        corpus = _with_entries(content, "corpora", PREFIX + corpus_identifier(identifier))
        entry = {"label": identifier, "corpus": corpus, "queries": source, "qrels": source}
    elif section == "first_stages" and isinstance(dataset, str):
        entry = {
            "label": f"scoreddocs of {identifier}",
            "runs": {_with_entries(content, "datasets", dataset): source},
        }
    else:
        return value  # refused as an unknown name
    name = "ir-datasets-" + re.sub("[^a-z0-9]+", "-", identifier.lower()).strip("-")
    entries = content.setdefault(section, {})
    entries[name] = deep_merge(entry, entries.get(name) or {})
    return name
