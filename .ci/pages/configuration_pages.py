"""docs/reference/config and docs/config.schema.json, from the models of the configuration."""

import inspect
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Any, Literal, get_args, get_origin

from configuration_examples import EXAMPLES
from generated_pages import literal
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from irpretrain.config.base import changed_keys
from irpretrain.config.objectives import OBJECTIVES
from irpretrain.config.papers import read_preset
from irpretrain.config.root import Config
from irpretrain.corpora.registry import FORMATS, Kind, format_of

FOLDER = "reference/config"

# The page with the top level; hosts of repositories show it with the folder.
INDEX = "README.md"
TOP = "Top level"

# Page → its heading, and the top-level keys that it describes.
PAGES = {
    "corpora.md": ("Corpora and data sets", "corpora", "datasets"),
    "formats.md": ("Options of formats",),
    "text.md": ("Text, links and word vectors", "text", "graph", "word_vectors", "encoder"),
    "axioms.md": ("Pseudo-queries and axioms", "pseudo_queries", "axioms", "predictors", "diagnoses"),
    "objectives.md": ("Objectives", "objectives"),
    "models.md": ("Models", "models"),
    "training.md": ("Pre-training and fine-tuning", "pretraining", "finetuning", "reranking"),
    "term-weights.md": ("Weights of words", "term_weights", "indexes"),
    "retrieval.md": ("First stages", "retrieval", "first_stages"),
    "downstream.md": (
        "Other tasks",
        "downstream_tasks",
        "downstream",
        "question_answering",
    ),
    "report.md": (
        "Experiments and pages",
        "experiments",
        "report",
        "attributions",
        "weight_distributions",
        "term_weight_pages",
    ),
}

HEADER = """# Configuration reference

Generated from the pydantic models by `make docs`; do not edit. The configuration is `config.yaml`. Overlays
(`--configfile`) change it: mappings are merged, other values are replaced, and `null` removes a named entry.
An unknown key is an error.

Files are YAML 1.2: `true` and `false` are truth values, `off` and `no` are texts, 0200 is 200.

Two keys stand in overlays alone. `layers` lists overlays that lie under this one; their paths are relative to it.
`inherit` says what it takes from all that lies under it: `all`, the default; `nothing`; or `definitions`, which leaves
out what asks for results (`experiments`, `downstream`, `diagnoses`, `weight_distributions`, `term_weight_pages`,
`attributions`, `report`), `skip_absent`, and predictors that no objective names. An `encoder` with
another `path` takes nothing from the one below.

An entry reads: `key` (default and unit): meaning. Where only a type stands, the default is null or empty. Of listed
values the bold one is the default. *preset* `a` or `b`: `a` with preset paper, `b` with released ([Presets](#presets)).
"""

CLOSING = """
## Presets

Papers and their released code differ in the keys marked *preset*. The values are `presets` of the papers'
files in `resources/published`. For models whose objectives have one type, `models` there gives keys of `training` too.

## Recipes

`finetuning.recipe` fills the keys of `finetuning` and `reranking` that `recipes` of the paper's file in
`resources/published` gives;
[training](../../methods/training.md#recipes-of-the-papers) says which of them the paper states.
"""

# Words from which on a description is not repeated.
LONG_LINE = 12


@dataclass
class _Locations:
    """Where things are described."""

    headings: dict[type[BaseModel], str]  # the title of each section that has a heading of its own
    # Title under which each key was described first, filled while the pages are written.
    entries: dict[tuple[type[BaseModel] | None, str], str]


def config_reference() -> dict[str, str]:
    """Return the pages of the reference as Markdown, by their path in the folder of the documentation."""
    sections = list(_sections())
    locations = _Locations({model: title for title, model in sections}, {})
    parts: dict[str, list[str]] = {page: [] for page in (INDEX, *PAGES)}
    examples = dict(EXAMPLES)
    for title, model in sections:
        written = parts[_page(title)]
        written.append(f"\n## {_code(title)}\n")
        if " of format " not in title:
            written.append(f"{_summary(model)}\n")
        if example := examples.pop(title.split(".")[0].split(" ")[0], None):
            written.append(f"```yaml\n{example}\n```\n")
        written += _entries(title, model, locations)
    for page, (heading, *_) in PAGES.items():
        parts[page].insert(0, f"# {heading}\n\nGenerated; [how to read it]({INDEX}).")
    contents = [f"- [{heading}]({page}){_keys(keys)}" for page, (heading, *keys) in PAGES.items()]
    parts[INDEX] = [HEADER, *contents, *parts[INDEX], CLOSING]
    return {f"{FOLDER}/{page}": "\n".join(lines).rstrip() + "\n" for page, lines in parts.items()}


def _keys(names: list[str]) -> str:
    return f": {', '.join(f'`{name}`' for name in names)}" if names else ""


def _page(title: str) -> str:
    """The page of a section, by its title."""
    if " of format " in title:
        return "formats.md"
    top = title.partition(".")[0]
    return next((page for page, (_, *sections) in PAGES.items() if top in sections), INDEX)


def _entries(title: str, model: type[BaseModel], locations: _Locations) -> Iterator[str]:
    """The keys of a section as lines; a key that an earlier section describes equally is only named."""
    required: list[str] = []
    above: dict[str, list[str]] = {}
    lines: list[str] = []
    for name, entry in model.model_fields.items():
        if name == "type" and " of type " in title:
            continue  # the title has it
        if _is_filled_in(entry):
            continue
        if title == TOP and any(name in keys for _, *keys in PAGES.values()):
            if entry.is_required():
                required.append(f"`{name}`")
            continue  # its page describes it
        if isinstance(entry.annotation, type) and issubclass(entry.annotation, BaseModel):
            if own := _own_defaults(entry):
                lines.append(f"- Section `{name}` has defaults of its own: {', '.join(own)}.")
            location = locations.headings[entry.annotation]
            if location.removeprefix(f"{title}.") != name:
                above.setdefault(location, []).append(f"section `{name}`")
            elif entry.is_required():
                required.append(f"`{name}`")
            continue
        line = _line(title, name, entry)
        is_long = len(line.split()) >= LONG_LINE
        location = locations.entries.setdefault((None if is_long else _declaring(model, name), line), title)
        if location == title:
            lines.append(line)
        else:
            above.setdefault(location, []).append(f"`{name}`")
    yield from lines
    if above:
        locations_above = (
            f"[{_named_from(location, title)}]({_address(location, title)}): {', '.join(names)}"
            for location, names in above.items()
        )
        yield f"- As in {'; '.join(locations_above)}."
    if required:
        yield f"- Required sections: {', '.join(required)}."


def _own_defaults(entry: FieldInfo) -> list[str]:
    """Keys of a section, with their values, whose default differs here from the description."""
    if entry.is_required() or entry.default is None:
        return []
    section = entry.default
    changed = [key for key in changed_keys(section, ()) if not _is_filled_in(type(section).model_fields[key])]
    return [f"`{key}` `{getattr(section, key)}`" for key in changed]


def _code(title: str) -> str:
    """A title with the key as code: a host would take the `<name>` of others for a tag of HTML."""
    if title == TOP:
        return title
    key, of, kind = title.partition(" of ")
    return f"`{key}`{of}{kind}"


def _named_from(location: str, reader: str) -> str:
    """A section as another one names it: beside its sibling by its type or format alone."""
    key, _, kind = location.partition(" of ")
    return kind if kind and reader.startswith(f"{key} of ") else _code(location)


def _address(location: str, reader: str) -> str:
    """The link to the section `location` from the section `reader`."""
    page = _page(location)
    return f"{page if page != _page(reader) else ''}#{_anchor(location)}"


def _declaring(model: type[BaseModel], name: str) -> type[BaseModel]:
    """The class, among a model and its bases, that declares a field."""
    return next(base for base in model.__mro__ if name in inspect.get_annotations(base))


def _anchor(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def config_schema() -> str:
    """Return the JSON schema, with each objective's options spelled out."""
    schema = Config.model_json_schema()
    # Several types of objectives may share a module, but no two schemas of `oneOf` may allow the same content.
    options = [import_module(module).OPTIONS for module in dict.fromkeys(OBJECTIVES.values())]
    schema["properties"]["objectives"]["additionalProperties"] = {
        "oneOf": [section.model_json_schema() for section in options]
    }
    return json.dumps(schema, indent=1, sort_keys=True) + "\n"


def _sections() -> Iterator[tuple[str, type[BaseModel]]]:
    """Yield the title and the model of each section; of several places the one with the shortest path is its title."""
    yield TOP, Config
    titles: dict[type[BaseModel], list[str]] = {}
    for title, model in _descendants("", Config):
        titles.setdefault(model, []).append(title)
    shortest = {model: min(locations, key=_length_of_path) for model, locations in titles.items()}
    yield from ((title, model) for title, model in _descendants("", Config) if shortest[model] == title)
    types: dict[type[BaseModel], list[str]] = {}
    for name, module in OBJECTIVES.items():
        types.setdefault(import_module(module).OPTIONS, []).append(name)
    for options, names in types.items():
        yield f"objectives.<name> of type {', '.join(names)}", options
    locations: dict[Kind, str] = {
        "documents": "corpora.<name>",
        "topics": "datasets.<name>.queries",
        "judgements": "datasets.<name>.qrels",
        "runs": "first_stages.<name>.runs.<data set>",
    }
    for kind, location in locations.items():
        for name in FORMATS[kind]:
            options = format_of(kind, name).options
            if options.model_fields:
                yield f"{location}.options of format {name}", options
            for child, model in _children("", options):
                yield f"{location}.options.{child} of format {name}", model


def _descendants(prefix: str, model: type[BaseModel]) -> Iterator[tuple[str, type[BaseModel]]]:
    """Yield every section below `model`, those in several places several times."""
    for title, child in _children(prefix, model):
        yield title, child
        yield from _descendants(f"{title}.", child)


def _length_of_path(title: str) -> tuple[bool, int]:
    """Order of places: those of one type among several last."""
    return " of type " in title, title.count(".")


def _children(prefix: str, model: type[BaseModel]) -> Iterator[tuple[str, type[BaseModel]]]:
    for name, field in model.model_fields.items():
        for part in () if _is_filled_in(field) else _flatten(field.annotation):
            if isinstance(part, type) and issubclass(part, BaseModel) and part.model_fields:
                many = get_origin(field.annotation) in (dict, list)
                yield f"{prefix}{name}" + (".<name>" if many else "") + _of_type(part), part


def _is_filled_in(entry: FieldInfo) -> bool:
    """Whether the program sets a key that no file may give."""
    return (entry.description or "").startswith("Filled in by the program")


def _of_type(model: type[BaseModel]) -> str:
    """What distinguishes a section from its alternatives; empty without any."""
    field = model.model_fields.get("type")
    kinds = get_args(field.annotation) if field is not None and field.is_required() else ()
    return f" of type {kinds[0]}" if len(kinds) == 1 else ""


def _flatten(annotation: Any) -> Iterator[Any]:
    yield annotation
    for argument in get_args(annotation):
        yield from _flatten(argument)


def _line(title: str, name: str, field: FieldInfo) -> str:
    extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
    unit, default = str(extra.get("unit", "")), _default(title, name, field)
    if unit in name.split("_"):
        unit = ""  # the name has it
    if type(field.default) in (bool, int, float, str) and default == _displayed(field.default) != "empty":
        # The default shows the type. Where only some values are allowed it is the bold one of these.
        choices = _type(field.annotation)
        if _plain(field.annotation):
            facts = default
        elif default in choices:
            facts = choices.replace(default, f"**{default}**", 1)
        else:
            facts = f"{choices}; {default}"
        facts = f"{facts} {unit}".rstrip()
    else:
        kind = _type(field.annotation)
        if field.default is None:
            kind = kind.removesuffix(" or null")
        if default == f"*preset* {kind.replace(', ', ' or ')}":
            kind, displayed = default, ""  # the presets show every value
        elif default.replace('"', "`").strip("`") == f"[{kind.removeprefix('list of ')}]":  # every value
            displayed = "; all"
        else:
            displayed = "" if default in ("`null`", "empty") else f"; {default}"
        facts = f"{kind}{', ' * bool(unit)}{unit}{displayed}"
    return f"- `{name}` ({facts}): {_linked(literal(field.description or ''))}".rstrip(": ")


def _linked(description: str) -> str:
    """A description, whose links start in the folder of the documentation, on a page of the reference."""
    up = "../" * len(FOLDER.split("/"))
    named = re.sub(r"docs/((?:\w+/)*([\w-]+)\.md)", rf"[\2]({up}\1)", description)
    return re.sub(r"\]\((?!\.\.|#)", f"]({up}", named).replace("](#", f"]({INDEX}#")


def _plain(annotation: Any) -> bool:
    """Whether any text, any number, or either truth value is allowed."""
    return _type(annotation) in ("text", "integer", "number", "true/false")


def _type(annotation: Any) -> str:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return ", ".join(f"`{value}`" for value in arguments)
    if origin is Annotated:
        return _type(arguments[0])
    if annotation is type(None):
        return "null"
    if origin in (dict, list, tuple):
        inner = _type(arguments[-1]) if arguments else "any"
        kind = "map" if origin is dict else "list"
        if inner in ("any", "section"):
            return kind
        return (
            f"{inner}s"
            if origin is not dict and inner in ("text", "integer", "number")
            else f"{kind} of {inner}"
        )
    if arguments and origin is not None and not isinstance(annotation, type):
        return " or ".join(dict.fromkeys(_type(argument) for argument in arguments))
    if isinstance(annotation, type):
        if issubclass(annotation, BaseModel):
            return "section"
        return {"str": "text", "int": "integer", "float": "number", "bool": "true/false"}.get(
            annotation.__name__, "any"
        )
    return "any"


def _default(title: str, name: str, field: FieldInfo) -> str:
    if name in (keys := _preset_keys(title)):
        paper, released = map(_displayed, keys[name])
        return f"*preset* {paper}" if paper == released else f"*preset* {paper} or {released}"
    if field.is_required():
        return "required"
    if field.default in ([], {}):
        return "empty"
    return _displayed(field.default)


def _preset_keys(title: str) -> dict[str, tuple[Any, Any]]:
    """Values of the scalar keys of a section (by its title on the page) that the presets fill: paper's, released."""
    sections = []
    for preset in ("paper", "released"):
        section: Any = read_preset(preset)
        path = ["objectives", title.rpartition(" ")[2]] if " of type " in title else title.split(".")
        for part in path:
            section = section.get(part, {}) if isinstance(section, dict) else {}
        sections.append({key: value for key, value in section.items() if not isinstance(value, dict)})
    paper, released = sections
    return {key: (paper[key], released[key]) for key in paper}


def _displayed(value: Any) -> str:
    text = json.dumps(value) if not isinstance(value, str) else value
    return f"`{text}`" if text else "empty"


def _summary(model: type[BaseModel]) -> str:
    return " ".join((model.__doc__ or "").split())
