"""What the few templates show that prose depends on; their list is resources/wikipedia/templates.yaml."""

import re
from collections.abc import Callable, Collection, Mapping
from functools import cache

from irpretrain.wikipedia.titles import normal_name, normal_title
from irpretrain.wikipedia.wikitext import quantities
from irpretrain.wikipedia.wikitext.arguments import (
    CALLS,
    PARAMETER,
    Arguments,
    first_argument,
    quoted_arguments,
    split_arguments,
    unnamed,
)
from irpretrain.wikipedia.wikitext.dates import CALENDAR_FUNCTIONS, Calendar
from irpretrain.wikipedia.wikitext.dates import FUNCTIONS as DATE_FUNCTIONS
from irpretrain.wikipedia.wikitext.images import cut_at_bars
from irpretrain.wikipedia.wikitext.marks import BREAK, DROPPED
from irpretrain.wikipedia.wikitext.quantities import currency_named, unit_named

# Functions that patterns of templates call as `@name`: links, lists and the like.


def _nihongo(arguments: Arguments) -> str:
    """`{{nihongo|English|kanji|romaji|more}}` shows "English (kanji, romaji, more)"."""
    names = [arguments.get(name, "") for name in ("1", "2", "3", "4", "extra")]
    first_name = names[0] or names[2]
    other_names = ", ".join(filter(None, names[1:] if names[0] else names[1:2]))
    return f"{first_name} ({other_names})" if other_names else first_name


def _interlanguage(arguments: Arguments) -> str:
    """A link to an article that is missing here: `{{ill|Title|de}}`, formerly `{{ill|de|Title}}`."""
    # French names all arguments: `{{lien|langue=en|trad=Title|fr=Titre|texte=words}}`.
    title = first_argument(arguments, _TITLES)
    second = arguments.get("2", "")
    if _LANGUAGE.fullmatch(title) and second and not _LANGUAGE.fullmatch(second):
        title = second
    return _link(title, first_argument(arguments, _LABELS))


def _link(title: str, label: str) -> str:
    return f"[[{title}|{label}]]" if title and label else f"[[{title}]]" if title else label


# Names of a missing article's title, last those of its title in the other language.
_TITLES = ("1", "fr", "عر", "надо", "треба", "trad", "تر")
# What is shown is called lt in English, label in Japanese, and text in many languages.
_LABELS = ("lt", "label", *(name for name in CALLS["text"] if not name.isdecimal()))
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z]+)*")


def _quote(arguments: Arguments) -> str:
    """A quotation, its German translation and "— Author, Title, Source", each as a paragraph of its own."""
    # The numbers behind the function's name are the positions of who is quoted, if not 2 to 5: `@quote 4 5`.
    lines = [words for words in (first_argument(arguments), arguments.get("Übersetzung")) if words]
    if lines and (attribution := quoted_arguments(arguments, arguments.get(PARAMETER) or "2 3 4 5")):
        lines.append(f"— {attribution}")
    return "".join(f"{BREAK}\n{words}" for words in lines) + f"{BREAK}\n" if lines else ""


def _red_link(arguments: Arguments) -> str:
    """A link to an article that is missing here, with the words to show: Russian `{{нп5|Title|words|de|Titel}}`."""
    # Numbers behind the function's name are the places of the title, if not 1, and of the words, if they do not follow
    # it: Chinese `{{link-de|Title|Titel|words}}` is `@red-link 1 3`, `{{tsl|de|Titel|Title|words}}` `@red-link 3`,
    # where the title may be that of the other language.
    argument_positions = [
        int(number) for number in arguments.get(PARAMETER, "").split() if number.isdecimal()
    ]
    title = argument_positions[0] if argument_positions else 1
    label = argument_positions[1] if argument_positions[1:] else title + 1
    return _link(
        first_argument(arguments, (str(title), str(title - 1), *_TITLES[1:])),
        first_argument(arguments, (str(label), *_LABELS)),
    )


def _ship(arguments: Arguments) -> str:
    """`{{HMS|Ajax|22|6}}` shows "HMS Ajax"; the prefix may be the first argument."""
    # The last argument says what is shown: 1 the number, 2 the name, 3 both, 6 prefix and name, else all.
    words = [arguments.get(position, "") for position in ("1", "2", "3", "4")]
    prefix = arguments.get(PARAMETER) or words.pop(0)
    name, number, form = words[:3]
    number_text = f" ({number})" if number else ""
    title = f"{prefix} {name}".strip()
    labels = {"1": number or name, "2": name, "3": name + number_text, "6": title}
    return labels.get(form, title + number_text) if name else ""


def _siglo(arguments: Arguments) -> str:
    """Spanish: `{{siglo|XVI||s}}` shows "siglo XVI", `{{siglo|V|a}}` "V a. C."; S is a capital."""
    number = arguments.get("1", "")
    word = {"s": "siglo ", "S": "Siglo "}.get(arguments.get("3", ""), "")
    era = {"a": " a. C.", "d": " d. C."}.get(arguments.get("2", "").lower()[:1], "")
    return word + number + era if number else ""


def _aside(arguments: Arguments) -> str:
    """French: `{{incise|words}}` shows "– words –", with a second argument (stop, fin) the first dash alone."""
    words = arguments.get("1", "")
    return (f"– {words}" if arguments.get("2") else f"– {words} –") if words else ""


def _case(arguments: Arguments) -> str:
    """MediaWiki's lc, uc, lcfirst, ucfirst: `@case lower`, `@case upper`, `@case first-lower`, `@case first-upper`."""
    words, parameter = arguments.get("1", ""), arguments.get(PARAMETER, "")
    changed_words = words.lower() if parameter.endswith("lower") else words.upper()
    return changed_words[:1] + words[1:] if parameter.startswith("first") else changed_words


def _if_equal(arguments: Arguments) -> str:
    first, second = arguments.get("1", ""), arguments.get("2", "")
    return "" if DROPPED in first + second else arguments.get("3" if _are_equal(first, second) else "4", "")


def _are_equal(first: str, second: str) -> bool:
    if first == second or not (_NUMBER.fullmatch(first) and _NUMBER.fullmatch(second)):
        return first == second
    return float(first) == float(second)


def _switch(arguments: Arguments) -> str:
    """`{{#switch:b|a|b=x|c=y|z}}` shows "x"; where no case is the first word, it shows "z"."""
    word, *cases = [value for name, value in arguments.items() if name != PARAMETER]
    result, is_matched, awaits_default, default = "", False, False, ""
    for case in cases if DROPPED not in word else ():
        name, equals, result = map(str.strip, case.partition("="))
        is_matched = is_matched or _are_equal(name, word)
        awaits_default = awaits_default or name == "#default"
        if equals and is_matched:
            return result
        if equals and awaits_default:
            default, awaits_default = result, False
    return default if not cases or "=" in cases[-1] or DROPPED in word else cases[-1]


_NUMBER = re.compile(r"[-+]?[0-9]{1,15}(?:\.[0-9]{1,15})?")


_SIGNS = {"flat": "♭", "sharp": "♯", "natural": "♮", "b": "♭", "#": "♯"}

# What a pattern `@name` calls. None returns a lot more than it was given, nor any of it twice.
FUNCTIONS: dict[str, Callable[[Arguments], str]] = {
    **quantities.FUNCTIONS,
    **DATE_FUNCTIONS,
    "nihongo": _nihongo,
    "interlanguage": _interlanguage,
    "lines": lambda arguments: "".join(f"\n* {value}" for value in unnamed(arguments)) + "\n",
    # What stands behind the function's name comes between the arguments: `@joined +`.
    "joined": lambda arguments: arguments.get(PARAMETER, "").join(unnamed(arguments)),
    "aside": _aside,
    "case": _case,
    "if": lambda arguments: arguments.get("2" if arguments.get("1", "").strip(DROPPED) else "3", ""),
    "if-equal": _if_equal,
    "switch": _switch,
    "music": lambda arguments: _SIGNS.get(arguments.get("1", ""), ""),
    "red-link": _red_link,
    "ship": _ship,
    "siglo": _siglo,
    "last": lambda arguments: (unnamed(arguments) or [""])[-1],
    "quote": _quote,
}


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
_REST_FIELD = re.compile(r"[1-9][0-9]?\*")


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
        self._pattern_of_name: dict[str, str | None] = {}

    def pattern(self, name: str) -> str | None:
        """Return what a template shows: its pattern, "" if it is known to show nothing, None if it is not known.

        `name` is as written in the call.
        """
        if name in self._pattern_of_name:
            return self._pattern_of_name[name]
        pattern = self._look_up(name)
        if len(name) < 80 and len(self._pattern_of_name) < 100_000:
            self._pattern_of_name[name] = pattern
        return pattern

    def unit(self, pattern: str | None) -> str:
        """Return the unit that an unlisted template is named by, from its pattern; "" for all others."""
        return pattern[len(_UNIT) :] if pattern and pattern.startswith(_UNIT) else ""

    def show(self, pattern: str, name: str, arguments: str) -> str:
        """Return what a call shows, as wikitext; `arguments` is what follows the name's `|`."""
        function, colon, first_argument = name.partition(":")
        if colon and f"{normal_name(function)}:" in self._patterns:  # a parser function: no names
            words = cut_at_bars(f"{first_argument}|{arguments}")
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
        key = normal_name(name).removeprefix("template:").lstrip()
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
        if pattern[1:].partition(" ")[0] in functions:
            return None
        return f"is no function; there are {', '.join(f'@{name}' for name in sorted(functions))}"
    texts_and_fields = _FIELD.split(pattern)
    if any(brace in text for text in texts_and_fields[::2] for brace in "{}"):
        return "has a brace that is not of a field"
    names = [name for field in texts_and_fields[1::2] for name in field.removesuffix("|").split("|")]
    rest_fields = [name for name in names if name.endswith("*")]
    for name in names:
        is_whole_field = name in texts_and_fields and _REST_FIELD.fullmatch(name)
        if not name or (name in rest_fields and not is_whole_field):
            return f"has the field {name!r}; fields are {{1}}, {{name}}, {{name|1}} and {{1*}}"
    repeated_fields = [
        name for name in names if rest_fields and name.isdecimal() and int(name) >= int(rest_fields[0][:-1])
    ]
    is_repeated = repeated_fields or len(rest_fields) > 1 or len(set(names)) < len(names)
    return "shows an argument twice" if is_repeated else None


@cache
def _fields(pattern: str) -> tuple[str, ...]:
    return tuple(_FIELD.split(pattern.replace("\\n", f"{BREAK}\n")))


def _fill(pattern: str, parameters: Arguments) -> str:
    texts_and_fields = _fields(pattern)
    if len(texts_and_fields) == 1:
        return texts_and_fields[0]
    values = [_value(field, parameters) for field in texts_and_fields[1::2]]
    if not any(value.strip(_NO_TEXT) for value in values) and "|}" not in pattern:
        return ""
    rendered = texts_and_fields[0] + "".join(
        value + text for value, text in zip(values, texts_and_fields[2::2], strict=True)
    )
    return rendered.strip(" ")


def _value(field: str, parameters: Arguments) -> str:
    if field.endswith("*"):
        return " ".join(unnamed(parameters)[int(field[:-1]) - 1 :])
    return first_argument(parameters, field.split("|"))
