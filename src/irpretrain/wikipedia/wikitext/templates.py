"""What the few templates show that prose depends on; their list is resources/wikipedia/templates.yaml."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache

from irpretrain.wikipedia.titles import spelt
from irpretrain.wikipedia.wikitext.marks import BREAK, DROPPED

Arguments = dict[str, str]
"""Arguments of a call by name; those without one are called "1", "2", ..."""

_SEPARATOR = re.compile(r"(\[\[)|(\]\])|(\|)|=")
_FIELD = re.compile(r"\{([^{}]*)\}")
_NO_TEXT = f" {DROPPED}"
_REST = re.compile(r"[1-9][0-9]?\*")
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"


class Templates:
    """The templates that are shown.

    Args:
        patterns: name (small letters) → what it shows. `{1}` stands for the first argument, `{text|1}` for the argument
            called text or else the first, `{n*}` for this and all later ones joined by spaces. A pattern whose fields
            are all empty shows nothing. `@name` calls a function of this module. A name that ends in `*` stands for all
            names that begin so. Each field is used once at most: what is shown must not be longer than what was given.
    """

    def __init__(self, patterns: Mapping[str, str]) -> None:
        self._patterns = {name: pattern for name, pattern in patterns.items() if not name.endswith("*")}
        self._prefixes = {name[:-1]: pattern for name, pattern in patterns.items() if name.endswith("*")}
        self._spelt: dict[str, str] = {}

    def known(self, name: str) -> bool:
        """Whether the template is shown; `name` as written in the call."""
        return self._pattern(name) != ""

    def show(self, name: str, arguments: str) -> str:
        """Return what a call shows, as wikitext; `arguments` is what follows the name's `|`."""
        pattern = self._pattern(name)
        if ":" in name and name.strip()[-1:] != ":":
            arguments = name.partition(":")[2] + "|" + arguments  # a parser function's first argument
        given = split_arguments(arguments)
        if pattern.startswith("@"):
            return FUNCTIONS[pattern[1:]](given)
        return _fill(pattern, given)

    def _pattern(self, name: str) -> str:
        found = self._spelt.get(name)
        if found is None:
            found = self._look_up(name)
            if len(name) < 80 and len(self._spelt) < 100_000:
                self._spelt[name] = found
        return found

    def _look_up(self, name: str) -> str:
        key = spelt(name)
        if ":" in key:
            key = key.partition(":")[0] + ":"
        found = self._patterns.get(key)
        if found is not None:
            return found
        return next((pattern for prefix, pattern in self._prefixes.items() if key.startswith(prefix)), "")


def split_arguments(text: str) -> Arguments:
    """Cut the arguments of a call at the bars and first equal signs outside of links."""
    arguments: Arguments = {}
    start, links, equal, unnamed = 0, 0, -1, 0
    for mark in _SEPARATOR.finditer(text + "|"):
        kind = mark.lastindex
        if kind == 1:
            links += 1
        elif kind == 2:
            links = max(0, links - 1)
        elif kind is None:
            if equal < 0 and not links:
                equal = mark.start()
        elif not links or mark.start() == len(text):
            if equal >= 0:
                arguments[text[start:equal].strip()] = text[equal + 1 : mark.start()].strip()
            else:
                unnamed += 1
                arguments[str(unnamed)] = text[start : mark.start()].strip()
            start, equal = mark.end(), -1
    return arguments


def pattern_fault(pattern: str) -> str | None:
    """Say in words why `Templates` could not show by a pattern; None where it can."""
    if pattern.startswith("@"):
        known = ", ".join(f"@{name}" for name in FUNCTIONS)
        return None if pattern[1:] in FUNCTIONS else f"is no function; there are {known}"
    parts = _FIELD.split(pattern)
    if any(brace in text for text in parts[::2] for brace in "{}"):
        return "has a brace that is not of a field"
    names = [name for field in parts[1::2] for name in field.split("|")]
    rest = [name for name in names if name.endswith("*")]
    for name in names:
        if not name or (name in rest and not (name in parts and _REST.fullmatch(name))):
            return f"has the field {name!r}; fields are {{1}}, {{name}}, {{name|1}} and {{1*}}"
    again = [name for name in names if rest and name.isdecimal() and int(name) >= int(rest[0][:-1])]
    return "shows an argument twice" if again or len(rest) > 1 or len(set(names)) < len(names) else None


@cache
def _fields(pattern: str) -> tuple[str, ...]:
    """Cut a pattern into literal texts (even places) and fields (odd places)."""
    return tuple(_FIELD.split(pattern.replace("\\n", f"{BREAK}\n")))


def _fill(pattern: str, given: Arguments) -> str:
    parts = _fields(pattern)
    if len(parts) == 1:
        return parts[0]
    values = [_value(field, given) for field in parts[1::2]]
    if not any(value.strip(_NO_TEXT) for value in values):
        return DROPPED if DROPPED in "".join(values) else ""
    return parts[0] + "".join(value + text for value, text in zip(values, parts[2::2], strict=True))


def _value(field: str, given: Arguments) -> str:
    if field.endswith("*"):
        return " ".join(_unnamed(given)[int(field[:-1]) - 1 :])
    return next((given[name] for name in field.split("|") if given.get(name)), "")


def _unnamed(given: Arguments) -> list[str]:
    return [value for name, value in given.items() if name.isdecimal() and value]


def _convert(given: Arguments) -> str:
    """The amount and unit that were given, without the converted ones: `{{convert|5|to|7|km}}` shows "5 to 7 km"."""
    words = _unnamed(given)
    shown, place = "", 0
    while place < len(words) and _NUMBER.fullmatch(words[place]):
        following = words[place + 1] if place + 1 < len(words) else ""
        between = _BETWEEN.get(following.lower())
        shown += words[place] + (between or f" {following} ")
        place += 2
        if between is None and (following not in _COMPOUND or place + 1 >= len(words)):
            break  # what comes now is the unit to convert to, or the number of digits
    return shown.strip() or " ".join(words[:2])


_NUMBER = re.compile(r"[-−+]?[\d.,/ +e]{1,40}")
_COMPOUND = frozenset({"ft", "yd", "mi", "st", "lb", "oz", "LT", "long ton", "h", "min"})
"""Units that a smaller one may follow: `{{convert|5|ft|8|in}}`."""
_BETWEEN = {
    **{word: f" {word} " for word in ("to", "and", "or", "by")},
    "-": "–",
    "–": "–",
    "x": " × ",
    "×": " × ",
    "+/-": " ± ",
    "±": " ± ",
}


def _date(given: Arguments) -> str:
    """`{{start date|1990|5|12}}` shows "May 12, 1990", with df=y "12 May 1990"; without month or day what there is."""
    parts = _unnamed(given)[:3]
    if not parts:
        return ""
    if not parts[0].isdecimal():
        return " ".join(parts)
    month = int(parts[1]) if len(parts) > 1 and parts[1].isdecimal() and len(parts[1]) < 3 else 0
    if not 1 <= month <= 12:
        return parts[0]
    name = _MONTHS.split("|")[month - 1]
    if len(parts) < 3 or not parts[2].isdecimal():
        return f"{name} {parts[0]}"
    day = parts[2].lstrip("0")
    return f"{day} {name} {parts[0]}" if given.get("df") else f"{name} {day}, {parts[0]}"


def _as_of(given: Arguments) -> str:
    """`{{as of|2015|6|30}}` shows "As of 30 June 2015", with df=US "As of June 30, 2015", with lc=y "as of ...".

    The month may be a number or a name, cut after three letters or more. With since=y the words are "Since ...", with
    bare=y only the date is shown; what is given as alt= is shown instead of all this.
    """
    if given.get("alt"):
        return given["alt"]
    year, month, day = (*_unnamed(given), "", "", "")[:3]
    if not year:
        return ""
    words = "" if given.get("bare") else "Since " if given.get("since") else "As of "
    american = given.get("df", "").upper() == "US"
    date = _date({"1": year, "2": _month_number(month), "3": day, "df": "" if american else "y"})
    return (words.lower() if given.get("lc") else words) + date


def _month_number(month: str) -> str:
    beginning = month.lower().rstrip(".")
    if len(beginning) < 3:
        return month
    months = enumerate(_MONTHS.lower().split("|"), 1)
    return next((str(number) for number, name in months if name.startswith(beginning)), month)


def _nihongo(given: Arguments) -> str:
    """`{{nihongo|English|kanji|romaji|more}}` shows "English (kanji, romaji, more)"."""
    parts = [given.get(name, "") for name in ("1", "2", "3", "4", "extra")]
    first, rest = (
        parts[0] or parts[2],
        ", ".join(part for part in (parts[1:] if parts[0] else parts[1:2]) if part),
    )
    return f"{first} ({rest})" if rest else first


def _fraction(given: Arguments) -> str:
    parts = _unnamed(given)
    if len(parts) == 1:
        return f"1/{parts[0]}"
    return " ".join([*parts[:-2], "/".join(parts[-2:])])


def _interlanguage(given: Arguments) -> str:
    """A link to an article that is missing here: `{{ill|Title|de}}`, formerly `{{ill|de|Title}}`."""
    first, second = given.get("1", ""), given.get("2", "")
    if _LANGUAGE.fullmatch(first) and second and not _LANGUAGE.fullmatch(second):
        first = second
    label = given.get("lt", "")
    return f"[[{first}|{label}]]" if label else f"[[{first}]]"


_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z]+)*")


def _lines(given: Arguments) -> str:
    """Each argument as a list item."""
    return "".join(f"\n* {value}" for value in _unnamed(given)) + "\n"


def _joined(given: Arguments) -> str:
    return "".join(_unnamed(given))


def _last(given: Arguments) -> str:
    return (_unnamed(given) or [""])[-1]


FUNCTIONS: dict[str, Callable[[Arguments], str]] = {
    "convert": _convert,
    "date": _date,
    "asof": _as_of,
    "nihongo": _nihongo,
    "fraction": _fraction,
    "interlanguage": _interlanguage,
    "lines": _lines,
    "joined": _joined,
    "last": _last,
}
"""What a pattern `@name` calls. None returns a lot more than it was given, nor any of it twice."""
