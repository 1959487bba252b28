"""What depends on the language of texts (`text.language`): the rows of resources/languages.yaml."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from irpretrain.foundation.errors import ConfigError, nearest
from irpretrain.foundation.resources import parse_yaml, read_resource

# The default. Its words are cut as ever: combining marks separate, and a run of ideographs is one word.
ENGLISH = "english"

# The row of every language that has none of its own.
OTHER = "other"


@dataclass(frozen=True)
class Language:
    name: str  # value of `text.language`
    code: str = ""  # ISO 639-1; "" where there is none
    analyser: str = ""  # Lucene's class that makes the terms of an index; "" where terms are words
    stemmer: str = ""  # Snowball's algorithm; "" where stems are words
    stop_list: str = ""  # file in resources/stopwords; "" for English, whose lists options name
    abbreviations: frozenset[str] = frozenset()  # words after which a full stop ends no sentence
    unspaced: bool = False  # whether no white space stands between words, so that lengths count letters
    ordinals: bool = False  # whether a full stop after a number of one or two digits ends none


def language(name: str) -> Language:
    """Return a row of the table; ConfigError if the name is unknown."""
    languages = read_languages()
    if name not in languages:
        raise ConfigError(f"text.language: {unknown_language(name)}")
    return languages[name]


def with_language(options: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return options of a job with the language of its texts; English is not named, so it changes no job."""
    return {**options, **({} if name == ENGLISH else {"language": name})}


def without_language(options: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    other_options = {key: value for key, value in options.items() if key != "language"}
    return other_options, options.get("language", ENGLISH)


def unknown_language(name: str) -> str:
    languages = read_languages()
    names_by_code = {row.code: row.name for row in languages.values() if row.code}
    near_names = [names_by_code[name.lower()]] if name.lower() in names_by_code else nearest(name, languages)
    suggestion = (
        f"did you mean {' or '.join(near_names)}?" if near_names else f"there are {', '.join(languages)}."
    )
    return f"{name!r} is not a language of resources/languages.yaml; {suggestion} Any other language is {OTHER!r}"


@cache
def read_languages() -> Mapping[str, Language]:
    rows = parse_yaml(read_resource("languages.yaml"))
    for row in rows.values():
        row["abbreviations"] = frozenset(row.get("abbreviations", "").split())
    return {name: Language(name, **row) for name, row in rows.items()}
