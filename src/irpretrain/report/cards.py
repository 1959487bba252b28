"""What cards of models and of data have in common: sources with their licences, blocks of options."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import yaml

HUB_LICENCES = {
    "Apache-2.0": "apache-2.0",
    "CC BY-SA 3.0": "cc-by-sa-3.0",
    "CC BY-SA 4.0": "cc-by-sa-4.0",
    "Apache-2.0.": "apache-2.0",
    "MIT": "mit",
}
"""A licence as the manifest and the catalogue name it → the Hub's identifier."""


class Source(NamedTuple):
    """Data or weights that something was made from: name, licence as far as it is known, and its name on the Hugging
    Face Hub, or nothing."""

    name: str
    licence: str
    hub: str = ""


def with_sources(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return facts of a card, whose `encoder` and `corpora` came as plain lists, with sources in their place."""
    corpora = [Source(*corpus) for corpus in facts["corpora"]]
    return {**facts, "encoder": Source(*facts["encoder"]), "corpora": corpora}


def hub_licence(sources: Sequence[Source]) -> dict[str, Any]:
    """Return the Hub's fields for a licence: the one that all sources share, or the advice to read the card."""
    shared = {HUB_LICENCES.get(source.licence) for source in sources}
    licence = shared.pop() if len(shared) == 1 else None
    return {"license": licence} if licence else {"license": "other", "license_name": "see-the-card"}


def hub_names(sources: Sequence[Source]) -> list[str] | None:
    """Return the names that sources have on the Hub, each once; None where there are none."""
    return list(dict.fromkeys(source.hub for source in sources if source.hub)) or None


def write_sections(title: str, front: str, introduction: str, sections: Mapping[str, str]) -> str:
    """Return a card: the Hub's fields as YAML, a title, and sections by their titles."""
    body = "\n\n".join(f"## {name}\n\n{text}" for name, text in sections.items())
    return f"---\n{front.rstrip()}\n---\n\n# {title}\n\n{introduction}\n\n{body}\n"


def yaml_block(content: Mapping[str, Any]) -> str:
    """Return options as a block of YAML."""
    return (
        f"```yaml\n{yaml.safe_dump(json.loads(json.dumps(content)), sort_keys=False, allow_unicode=True)}```"
    )


def source_table(kind: str, sources: Sequence[Source]) -> str:
    """Return sources and their licences as a table."""
    rows = [f"| {cell(source.name)} | {cell(source.licence)} |" for source in sources]
    return "\n".join([f"| {kind} | licence |", "|---|---|", *rows])


def cell(text: str) -> str:
    """Return a text as a cell of a table holds it."""
    return " ".join(text.split()).replace("|", "\\|")
