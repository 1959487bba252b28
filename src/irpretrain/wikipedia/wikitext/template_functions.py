"""Functions that patterns of templates call as `@name`: links, lists and the like."""

import re
from collections.abc import Callable

from irpretrain.wikipedia.wikitext import quantities
from irpretrain.wikipedia.wikitext.arguments import (
    PARAMETER,
    Arguments,
    first_argument,
    quoted_arguments,
    unnamed,
)
from irpretrain.wikipedia.wikitext.dates import FUNCTIONS as DATE_FUNCTIONS
from irpretrain.wikipedia.wikitext.marks import BREAK, DROPPED


def _nihongo(given: Arguments) -> str:
    """`{{nihongo|English|kanji|romaji|more}}` shows "English (kanji, romaji, more)"."""
    parts = [given.get(name, "") for name in ("1", "2", "3", "4", "extra")]
    first, rest = parts[0] or parts[2], ", ".join(filter(None, parts[1:] if parts[0] else parts[1:2]))
    return f"{first} ({rest})" if rest else first


def _interlanguage(given: Arguments) -> str:
    """A link to an article that is missing here: `{{ill|Title|de}}`, formerly `{{ill|de|Title}}`.

    French names all arguments: `{{lien|langue=en|trad=Title|fr=Titre|texte=words}}`.
    """
    first = given.get("1") or given.get("fr") or given.get("trad", "")
    second = given.get("2", "")
    if _LANGUAGE.fullmatch(first) and second and not _LANGUAGE.fullmatch(second):
        first = second
    label = given.get("lt") or given.get("texte", "")
    return f"[[{first}|{label}]]" if label else f"[[{first}]]" if first else ""


_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z]+)*")


def _quote(given: Arguments) -> str:
    """A quotation, its German translation and "— Author, Title, Source", each as a paragraph of its own.

    The numbers behind the function's name are the positions of who is quoted, if not 2 to 5: `@quote 4 5`.
    """
    lines = [words for words in (first_argument(given), given.get("Übersetzung")) if words]
    if lines and (quoted := quoted_arguments(given, given.get(PARAMETER) or "2 3 4 5")):
        lines.append(f"— {quoted}")
    return "".join(f"{BREAK}\n{words}" for words in lines) + f"{BREAK}\n" if lines else ""


def _red_link(given: Arguments) -> str:
    """A link to an article that is missing here, with the words to show: Russian `{{нп5|Title|words|de|Titel}}`.

    A number behind the function's name is the title's place: Chinese `{{tsl|de|Titel|Title|words}}`, `@red-link 3`.
    """
    parameter = given.get(PARAMETER, "")
    position = int(parameter) if parameter.isdecimal() else 1
    title, label = given.get(str(position), ""), given.get(str(position + 1), "")
    return f"[[{title}|{label}]]" if title and label else f"[[{title}]]" if title else ""


def _ship(given: Arguments) -> str:
    """`{{HMS|Ajax|22|6}}` shows "HMS Ajax"; the prefix may be the first argument.

    The last argument says what is shown: 1 the number, 2 the name, 3 both, 6 prefix and name, else all.
    """
    words = [given.get(position, "") for position in ("1", "2", "3", "4")]
    prefix = given.get(PARAMETER) or words.pop(0)
    name, number, form = words[:3]
    behind = f" ({number})" if number else ""
    title = f"{prefix} {name}".strip()
    labels = {"1": number or name, "2": name, "3": name + behind, "6": title}
    return labels.get(form, title + behind) if name else ""


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


def _case(given: Arguments) -> str:
    """MediaWiki's lc, uc, lcfirst, ucfirst: `@case lower`, `@case upper`, `@case first-lower`, `@case first-upper`."""
    words, parameter = given.get("1", ""), given.get(PARAMETER, "")
    changed = words.lower() if parameter.endswith("lower") else words.upper()
    return changed[:1] + words[1:] if parameter.startswith("first") else changed


def _if_equal(given: Arguments) -> str:
    first, second = given.get("1", ""), given.get("2", "")
    return "" if DROPPED in first + second else given.get("3" if _same(first, second) else "4", "")


def _same(first: str, second: str) -> bool:
    if first == second or not (_NUMBER.fullmatch(first) and _NUMBER.fullmatch(second)):
        return first == second
    return float(first) == float(second)


def _switch(given: Arguments) -> str:
    """`{{#switch:b|a|b=x|c=y|z}}` shows "x"; where no case is the first word, it shows "z"."""
    word, *cases = [value for name, value in given.items() if name != PARAMETER]
    words, is_case, is_default, default = "", False, False, ""
    for case in cases if DROPPED not in word else ():
        name, equals, words = map(str.strip, case.partition("="))
        is_case = is_case or _same(name, word)
        is_default = is_default or name == "#default"
        if equals and is_case:
            return words
        if equals and is_default:
            default, is_default = words, False
    return default if not cases or "=" in cases[-1] or DROPPED in word else cases[-1]


_NUMBER = re.compile(r"[-+]?[0-9]{1,15}(?:\.[0-9]{1,15})?")


_SIGNS = {"flat": "♭", "sharp": "♯", "natural": "♮", "b": "♭", "#": "♯"}

# What a pattern `@name` calls. None returns a lot more than it was given, nor any of it twice.
FUNCTIONS: dict[str, Callable[[Arguments], str]] = {
    **quantities.FUNCTIONS,
    **DATE_FUNCTIONS,
    "nihongo": _nihongo,
    "interlanguage": _interlanguage,
    "lines": lambda given: "".join(f"\n* {value}" for value in unnamed(given)) + "\n",
    # What stands behind the function's name comes between the arguments: `@joined +`.
    "joined": lambda given: given.get(PARAMETER, "").join(unnamed(given)),
    "aside": _aside,
    "case": _case,
    "if": lambda given: given.get("2" if given.get("1", "").strip(DROPPED) else "3", ""),
    "if-equal": _if_equal,
    "switch": _switch,
    "music": lambda given: _SIGNS.get(given.get("1", ""), ""),
    "red-link": _red_link,
    "ship": _ship,
    "siglo": _siglo,
    "last": lambda given: (unnamed(given) or [""])[-1],
    "quote": _quote,
}
