"""What the few templates show that prose depends on; their list is resources/wikipedia/templates.yaml."""

import re
from collections.abc import Collection, Mapping
from functools import cache

from irpretrain.wikipedia.titles import normal_title, spelt
from irpretrain.wikipedia.wikitext.arguments import (
    PARAMETER,
    Arguments,
    first_argument,
    split_arguments,
    unnamed,
)
from irpretrain.wikipedia.wikitext.dates import CALENDAR_FUNCTIONS, Calendar
from irpretrain.wikipedia.wikitext.images import cut_at_bars
from irpretrain.wikipedia.wikitext.marks import BREAK, DROPPED
from irpretrain.wikipedia.wikitext.quantities import currency_named, unit_named
from irpretrain.wikipedia.wikitext.template_functions import FUNCTIONS

_FIELD = re.compile(r"\{([^{}]*)\}")
_NO_TEXT = f" {DROPPED}"
# Stands for a template whose name is an ordinal, and in its pattern for that name.
ORDINAL = "<ordinal>"
# Those of French, the only edition whose list has them.
_ORDINAL = re.compile(
    r"(?:[0-9]{1,4}|[IVX][IVXLC]*)(?:er|[eè]?re|nde?|es?|ème)(?: siècles?(?: av\. J\.-C\.)?"
    r"| arrondissement(?: de [A-Z][a-z]+)?| (?:janv|févr|mars|avr|mai|jui|août|sept|oct|nov|déc)[a-zé]*)?"
    r"|(?:[A-ZÉ][a-zéèïç]+ (?:Ier|[IVX]+)|[IVX][IVXLC]+)"
)
# The pattern of templates that make a page a disambiguation page.
DISAMBIGUATION = "@disambiguation"
# Begins the pattern of an unlisted template that a unit names: what it shows depends on what stands before it.
_UNIT = "@unit "
_REST = re.compile(r"[1-9][0-9]?\*")


class Templates:
    """The templates that are shown.

    Args:
        patterns: name (small letters) → what it shows. `{1}` stands for the first argument, `{text|1}` for the argument
            called text or else the first, `{1|}` for the first, which may be missing, `{n*}` for this and all later
            ones joined by spaces. A pattern whose fields are all empty shows nothing, unless one may be missing.
            `@name` calls a function, `@name word` with that word. "" shows nothing. A name that ends in `*` stands
            for all names that begin so, `ORDINAL` for all that are one. Each field is used once at most: what is
            shown must not be longer than what was given.
        calendar: how dates are written.
        languages: codes, for templates of words in other languages.
    """

    def __init__(
        self, patterns: Mapping[str, str], calendar: Calendar | None = None, languages: Collection[str] = ()
    ) -> None:
        self.calendar, self.languages = calendar or Calendar(), languages
        self._patterns = {name: pattern for name, pattern in patterns.items() if not name.endswith("*")}
        self._prefixes = {name[:-1]: pattern for name, pattern in patterns.items() if name.endswith("*")}
        self._spelt: dict[str, str | None] = {}

    def pattern(self, name: str) -> str | None:
        """Return what a template shows: its pattern, "" if it is known to show nothing, None if it is not known.

        `name` is as written in the call.
        """
        if name in self._spelt:
            return self._spelt[name]
        pattern = self._look_up(name)
        if len(name) < 80 and len(self._spelt) < 100_000:
            self._spelt[name] = pattern
        return pattern

    def unit(self, pattern: str | None) -> str:
        """Return the unit that an unlisted template is named by, from its pattern; "" for all others."""
        return pattern[len(_UNIT) :] if pattern and pattern.startswith(_UNIT) else ""

    def show(self, pattern: str, name: str, arguments: str) -> str:
        """Return what a call shows, as wikitext; `arguments` is what follows the name's `|`."""
        function, colon, first = name.partition(":")
        if colon and f"{spelt(function)}:" in self._patterns:  # a parser function: no names
            words = cut_at_bars(f"{first}|{arguments}")
            parameters = {str(position): word.strip() for position, word in enumerate(words, 1)}
        else:
            parameters = split_arguments(arguments)
        if pattern.startswith("@"):
            function, _, parameter = pattern[1:].partition(" ")
            if function in CALENDAR_FUNCTIONS:
                return CALENDAR_FUNCTIONS[function](self.calendar, parameters)
            parameters[PARAMETER] = parameter
            return FUNCTIONS[function](parameters)
        return _fill(pattern, parameters)

    def _look_up(self, name: str) -> str | None:
        key = spelt(name).removeprefix("template:").lstrip()
        if ":" in key:
            key = key.partition(":")[0] + ":"
            if key not in self._patterns:
                return ""  # a parser function
        if key in self._patterns:
            return self._patterns[key]
        if ORDINAL in self._patterns and _ORDINAL.fullmatch(title := normal_title(name)):
            return self._patterns[ORDINAL].replace(ORDINAL, title.replace("ère", "re").replace("ème", "e"))
        if sign := currency_named(name):
            return sign + "{1|}"
        pattern = next(
            (pattern for prefix, pattern in self._prefixes.items() if key.startswith(prefix)), None
        )
        return f"{_UNIT}{unit}" if pattern is None and (unit := unit_named(name)) else pattern


def pattern_fault(pattern: str) -> str | None:
    """Say in words why `Templates` could not show by a pattern; None where it can."""
    if pattern.startswith("@"):
        functions = FUNCTIONS.keys() | CALENDAR_FUNCTIONS.keys()
        known = ", ".join(f"@{name}" for name in sorted(functions))
        return None if pattern[1:].partition(" ")[0] in functions else f"is no function; there are {known}"
    parts = _FIELD.split(pattern)
    if any(brace in text for text in parts[::2] for brace in "{}"):
        return "has a brace that is not of a field"
    names = [name for field in parts[1::2] for name in field.removesuffix("|").split("|")]
    rest = [name for name in names if name.endswith("*")]
    for name in names:
        if not name or (name in rest and not (name in parts and _REST.fullmatch(name))):
            return f"has the field {name!r}; fields are {{1}}, {{name}}, {{name|1}} and {{1*}}"
    again = [name for name in names if rest and name.isdecimal() and int(name) >= int(rest[0][:-1])]
    return "shows an argument twice" if again or len(rest) > 1 or len(set(names)) < len(names) else None


@cache
def _fields(pattern: str) -> tuple[str, ...]:
    return tuple(_FIELD.split(pattern.replace("\\n", f"{BREAK}\n")))


def _fill(pattern: str, parameters: Arguments) -> str:
    parts = _fields(pattern)
    if len(parts) == 1:
        return parts[0]
    values = [_value(field, parameters) for field in parts[1::2]]
    if not any(value.strip(_NO_TEXT) for value in values) and "|}" not in pattern:
        return ""
    rendered = parts[0] + "".join(value + text for value, text in zip(values, parts[2::2], strict=True))
    return rendered.strip(" ")


def _value(field: str, parameters: Arguments) -> str:
    if field.endswith("*"):
        return " ".join(unnamed(parameters)[int(field[:-1]) - 1 :])
    return first_argument(parameters, field.split("|"))
