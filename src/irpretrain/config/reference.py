"""Write docs/config.md and docs/config.schema.json from the models, so that they cannot drift.

`python -m irpretrain.config.reference docs` writes; with `--check` it only compares and fails on a difference.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from irpretrain.config.presets import PRESETS, RECIPES
from irpretrain.config.root import Config
from irpretrain.corpora.registry import FORMATS, Kind
from irpretrain.generated_pages import write_or_check
from irpretrain.objectives.registry import OBJECTIVES

HEADER = """# Configuration reference

Generated from the pydantic models by `make docs`; do not edit. The configuration is `config.yaml`, with overlays
laid over it (`--configfile`); mappings are merged, anything else is replaced, and a named entry set to `null` is
removed. Unknown keys are refused. A default marked *preset* comes from `preset`, see [Presets](#presets).
"""


def config_reference() -> str:
    """Return the reference page as Markdown."""
    parts = [HEADER]
    for title, model in _sections():
        parts.append(
            f"\n## {title}\n\n{_summary(model)}\n\n| key | type | default | unit | meaning |\n|---|---|---|---|---|"
        )
        parts += [_row(title, name, field) for name, field in model.model_fields.items()]
    parts.append(
        "\n## Presets\n\nPapers and their released code differ in these choices.\n\n"
        "| key | paper | released |\n|---|---|---|"
    )
    parts += [f"| `{key}` | {_shown(a)} | {_shown(b)} |" for key, a, b in _preset_rows()]
    parts.append(
        "\n## Recipes\n\n`finetuning.recipe` fills these keys; [training](methods/training.md#recipes-of-the-papers) "
        f"says which of them a paper states.\n\n| key | {' | '.join(RECIPES)} |\n|---|{'---|' * len(RECIPES)}"
    )
    parts += [f"| `{key}` | {' | '.join(values)} |" for key, values in _recipe_rows()]
    return "\n".join(parts) + "\n"


def config_schema() -> str:
    """Return the JSON schema, with each objective's options spelled out."""
    schema = Config.model_json_schema()
    options = {name: import_module(module).Options.model_json_schema() for name, module in OBJECTIVES.items()}
    schema["properties"]["objectives"]["additionalProperties"] = {"oneOf": list(options.values())}
    return json.dumps(schema, indent=1, sort_keys=True) + "\n"


def _sections() -> Iterator[tuple[str, type[BaseModel]]]:
    yield "Top level", Config
    seen: set[type[BaseModel]] = set()
    waiting: list[tuple[str, type[BaseModel]]] = list(_children("", Config))
    while waiting:
        title, model = waiting.pop(0)
        if model in seen:
            continue
        seen.add(model)
        yield title, model
        waiting = [*_children(f"{title}.", model), *waiting]
    for name, module in OBJECTIVES.items():
        yield f"objectives.<name> of type {name}", import_module(module).Options
    places: dict[Kind, str] = {
        "documents": "corpora.<name>",
        "topics": "datasets.<name>.queries",
        "judgements": "datasets.<name>.qrels",
        "runs": "first_stages.<name>.runs.<data set>",
    }
    for kind, place in places.items():
        formats = FORMATS[kind]
        for name, module in formats.items():
            options = import_module(module).Options
            if options.model_fields:
                yield f"{place}.options of format {name}", options
            for child, model in _children("", options):
                yield f"{place}.options.{child} of format {name}", model


def _children(prefix: str, model: type[BaseModel]) -> Iterator[tuple[str, type[BaseModel]]]:
    for name, field in model.model_fields.items():
        for part in _flatten(field.annotation):
            if isinstance(part, type) and issubclass(part, BaseModel) and part.model_fields:
                many = get_origin(field.annotation) in (dict, list)
                yield f"{prefix}{name}" + (".<name>" if many else "") + _of_type(part), part


def _of_type(model: type[BaseModel]) -> str:
    """What tells a section from others that may stand in its place; empty where there are none."""
    field = model.model_fields.get("type")
    kinds = get_args(field.annotation) if field is not None and field.is_required() else ()
    return f" of type {kinds[0]}" if len(kinds) == 1 else ""


def _flatten(annotation: Any) -> Iterator[Any]:
    yield annotation
    for argument in get_args(annotation):
        yield from _flatten(argument)


def _row(title: str, name: str, field: FieldInfo) -> str:
    extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
    meaning = (field.description or "").replace("|", "\\|")
    cells = (
        f"`{name}`",
        _type(field.annotation),
        _default(title, name, field),
        str(extra.get("unit", "")),
        meaning,
    )
    return f"| {' | '.join(cells)} |"


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
        return f"{'map' if origin is dict else 'list'} of {inner}"
    if origin is Annotated:
        return _type(arguments[0])
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
    if name in _preset_keys(title):
        return "*preset*"
    if field.is_required():
        return "required"
    if field.default_factory is not None or field.default is PydanticUndefined:
        is_section = isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)
        return "see its keys" if is_section else "empty"
    return _shown(field.default)


def _preset_keys(title: str) -> set[str]:
    """Scalar keys of a section (by its title on the page) that the presets fill."""
    if " of type " in title:
        section: Any = PRESETS["paper"]["objectives"].get(title.rpartition(" ")[2], {})
    else:
        section = PRESETS["paper"]
        for part in title.split("."):
            section = section.get(part, {}) if isinstance(section, dict) else {}
    return {key for key, value in section.items() if not isinstance(value, dict)}


def _shown(value: Any) -> str:
    text = json.dumps(value) if not isinstance(value, str) else value
    return f"`{text}`" if text else "empty"


def _preset_rows() -> Iterator[tuple[str, Any, Any]]:
    def walk(prefix: str, paper: Any, released: Any) -> Iterator[tuple[str, Any, Any]]:
        for key in paper:
            if isinstance(paper[key], dict):
                yield from walk(f"{prefix}{key}.", paper[key], released[key])
            else:
                yield f"{prefix}{key}", paper[key], released[key]

    yield from walk("", PRESETS["paper"], PRESETS["released"])


def _recipe_rows() -> Iterator[tuple[str, list[str]]]:
    def leaves(prefix: str, given: Any) -> Iterator[tuple[str, Any]]:
        for key, value in given.items():
            if isinstance(value, dict):
                yield from leaves(f"{prefix}{key}.", value)
            else:
                yield f"{prefix}{key}", value

    recipes = [dict(leaves("", recipe)) for recipe in RECIPES.values()]
    for key in dict.fromkeys(key for recipe in recipes for key in recipe):
        yield key, [_shown(recipe[key]) if key in recipe else "–" for recipe in recipes]


def _summary(model: type[BaseModel]) -> str:
    return " ".join((model.__doc__ or "").split())


def main(arguments: list[str]) -> int:
    """Write or check the two generated files in the given folder."""
    pages = {"config.md": config_reference(), "config.schema.json": config_schema()}
    return write_or_check(arguments, pages)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
