"""Functions that patterns of templates call as `@name`: dates, links, lists and the like."""

import re
from collections.abc import Callable

from irpretrain.wikipedia.wikitext import dates, quantities
from irpretrain.wikipedia.wikitext.arguments import PARAMETER, Arguments, unnamed

_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"


def _date(given: Arguments) -> str:
    """`{{start date|1990|5|12}}` shows "May 12, 1990", with df=y "12 May 1990"; without month or day what there is.

    The month may be a name.
    """
    parts = unnamed(given)[:3]
    if not parts:
        return ""
    if not parts[0].isdecimal():
        return " ".join(parts)
    number = _month_number(parts[1]) if len(parts) > 1 else ""
    month = int(number) if number.isdecimal() and len(number) < 3 else 0
    if month and number != parts[1] and len(parts[0]) < 3:
        return " ".join(parts)  # the day comes first
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
    year, month, day = (*unnamed(given), "", "", "")[:3]
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
    return "".join(f"\n* {value}" for value in unnamed(given)) + "\n"


def _joined(given: Arguments) -> str:
    """All arguments, with what stands behind the function's name between them: `@joined +`."""
    return given.get(PARAMETER, "").join(unnamed(given))


def _last(given: Arguments) -> str:
    return (unnamed(given) or [""])[-1]


def _red_link(given: Arguments) -> str:
    """A link to an article that is missing here, with the words to show: Russian `{{нп5|Title|words|de|Titel}}`.

    A number behind the function's name is the title's place: Chinese `{{tsl|de|Titel|Title|words}}`, `@red-link 3`.
    """
    parameter = given.get(PARAMETER, "")
    place = int(parameter) if parameter.isdecimal() else 1
    title, label = given.get(str(place), ""), given.get(str(place + 1), "")
    return f"[[{title}|{label}]]" if title and label else f"[[{title}]]" if title else ""


def _ship(given: Arguments) -> str:
    """`{{HMS|Ajax|22|6}}` shows "HMS Ajax"; the prefix may be the first argument.

    The last argument says what is shown: 1 the number, 2 the name, 3 both, 6 prefix and name, else all.
    """
    words = [given.get(place, "") for place in ("1", "2", "3", "4")]
    prefix = given.get(PARAMETER) or words.pop(0)
    name, number, shown = words[:3]
    behind = f" ({number})" if number else ""
    title = f"{prefix} {name}".strip()
    labels = {"1": number or name, "2": name, "3": name + behind, "6": title}
    return labels.get(shown, title + behind) if name else ""


def _siglo(given: Arguments) -> str:
    """Spanish: `{{siglo|XVI||s}}` shows "siglo XVI", `{{siglo|V|a}}` "V a. C."; S is a capital."""
    number = given.get("1", "")
    word = {"s": "siglo ", "S": "Siglo "}.get(given.get("3", ""), "")
    era = {"a": " a. C.", "d": " d. C."}.get(given.get("2", "").lower()[:1], "")
    return word + number + era if number else ""


def _aside(given: Arguments) -> str:
    """French: `{{incise|words}}` shows "– words –", with a second argument (stop, fin) the first dash alone."""
    words = given.get("1", "")
    return (f"– {words}" if given.get("2") else f"– {words} –") if words else ""


def _music(given: Arguments) -> str:
    return {"flat": "♭", "sharp": "♯", "natural": "♮", "b": "♭", "#": "♯"}.get(given.get("1", ""), "")


FUNCTIONS: dict[str, Callable[[Arguments], str]] = {
    **quantities.FUNCTIONS,
    **dates.FUNCTIONS,
    "date": _date,
    "asof": _as_of,
    "nihongo": _nihongo,
    "interlanguage": _interlanguage,
    "lines": _lines,
    "joined": _joined,
    "aside": _aside,
    "music": _music,
    "red-link": _red_link,
    "ship": _ship,
    "siglo": _siglo,
    "last": _last,
}
"""What a pattern `@name` calls. None returns a lot more than it was given, nor any of it twice."""
