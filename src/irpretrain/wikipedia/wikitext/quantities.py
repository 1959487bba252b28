"""What templates of numbers show: `{{val|9.11|e=-31|u=kg}}` is "9.11×10^−31 kg".

A power is written with ^: MediaWiki raises the exponent, and in plain text "10−31" and "1024" would be other numbers.
Nothing is computed: converted amounts, rounding and percentages are left out.
"""

import re
import unicodedata
from collections.abc import Callable
from itertools import takewhile

from irpretrain.wikipedia.titles import normal_name
from irpretrain.wikipedia.wikitext.arguments import (
    CALLS,
    PARAMETER,
    Arguments,
    first_argument,
    split_arguments,
    unnamed,
)

MINUS = "−"
_NUMBER = re.compile(r"[-−+±~]?[\d.,/ +e]{1,40}")
# Units that a smaller one may follow: `{{convert|5|ft|8|in}}`.
_COMPOUND = frozenset({"ft", "yd", "mi", "st", "lb", "oz", "LT", "long ton", "h", "min"})
_JOINERS = {
    **{word: f" {word} " for word in ("to", "to about", "and", "or", "by")},
    **dict.fromkeys(("-", "–", "to(-)"), "–"),
    **dict.fromkeys(("x", "×", "*", "xx"), " × "),
    **dict.fromkeys(("+/-", "±", "+-"), " ± "),
    **dict.fromkeys((",", ", "), ", "),
}
# The same of Romance languages.
_ROMANCE_JOINERS = {**_JOINERS, **{word: f" {word} " for word in ("à", "ou", "et", "a", "o", "y", "e", "/")}}
_UNITS: dict[str, str] = CALLS["units"]
_MULTIPLE = re.compile(r"e([369]|1[258])(?=\D)")
_SYMBOL_BY_NAME = {symbol.lower(): symbol for symbol in CALLS["symbols"]}
# Such as "m s.l.m.", "m n. m." and "m ü. NN", in small letters.
_SEA_LEVEL = re.compile(r"m(?: ?[a-zü]{1,4}\.?){1,4}")
_AMOUNT = re.compile(r"[-−+±~]?[0-9][0-9.,\xa0 ]*(?:/[0-9]+)?")
_BEHIND_NUMBER = re.compile(r"[0-9][\])'’]*(\s|&nbsp;|&#160;)*$")
# Characters before a unit that are looked at.
LONGEST_AMOUNT = 16
_COMPASS = frozenset("NSEWO")
_WITHOUT_SPACE = frozenset({"%", "°", "′", "″", "'", '"', "‰", "deg"})
# Codes of units of `value`; a bare C and F are coulomb and farad there.
_DEGREES = {"degC": "°C", "degF": "°F"}


def convert(arguments: Arguments) -> str:
    """Return the amount and unit that were given: `{{convert|5|to|7|km|mi}}` shows "5 to 7 km"."""
    words = unnamed(arguments)
    text, position = "", 0
    while position < len(words) and _NUMBER.fullmatch(words[position]):
        next_word = words[position + 1] if position + 1 < len(words) else ""
        joiner = _JOINERS.get(next_word.lower())
        amount = re.sub(r"(?<=\d)\+(?=\d+/)", " ", words[position])
        text += amount + (joiner or _unit_of_code(next_word) + " ")
        position += 2
        if joiner is None and (next_word not in _COMPOUND or position + 1 >= len(words)):
            break  # what comes now is the unit to convert to, or the number of digits
    return text.strip() or " ".join(words[:2])


def _unit_of_code(code: str) -> str:
    multiple = _MULTIPLE.match(code)
    if multiple:
        return f"×10^{multiple[1]} {_UNITS.get(code[multiple.end() :], code[multiple.end() :])}"
    return _with_unit("", _UNITS.get(code, code))


def _with_unit(number: str, unit: str) -> str:
    return number + ("" if not unit or unit in _WITHOUT_SPACE else " ") + ("°" if unit == "deg" else unit)


def power(exponent: str) -> str:
    """Return "×10^24" for 24, with a minus sign for a hyphen."""
    return f"×10^{exponent.strip().replace('-', MINUS)}" if exponent.strip() else ""


def exponent(arguments: Arguments) -> str:
    """`5.98{{e|24}}` and `{{exp|5.98|24}}` show "5.98×10^24"."""
    *number, exponent_text = unnamed(arguments)[:2] or [""]
    return "".join(number) + power(exponent_text)


def value(arguments: Arguments) -> str:
    """A number with its uncertainty, power of ten and unit: `{{val|1.5|0.3|e=3|u=m}}` shows "(1.5±0.3)×10^3 m"."""
    words = unnamed(arguments)
    text, needs_brackets = "", False
    # Italian: `{{M|5||km}}`
    unit = words.pop() if len(words) > 1 and not re.search("[0-9]", words[-1]) else ""
    if words:
        text, needs_brackets = _with_uncertainty(words)
    exponent_text = arguments.get("e") or ""
    if exponent_text:
        text = f"({text})" if needs_brackets else text
        text = text + power(exponent_text) if text else power(exponent_text)[1:]
    unit = unit or first_argument(arguments, ("u", "ul", "um", "unit", "unité", "unidad", "up", "upl"))
    if denominator := first_argument(arguments, ("up", "upl")):
        unit = first_argument(arguments, ("u", "ul")) + "/" + denominator
    return arguments.get("p", "") + _with_unit(text, _DEGREES.get(unit, unit)) + arguments.get("s", "")


def _with_uncertainty(words: list[str]) -> tuple[str, bool]:
    """Return the number as it is shown, and whether a power of ten needs brackets around it."""
    number = words[0].replace("-", MINUS) if words[0].startswith("-") else words[0]
    if len(words) == 1:
        return number, False
    position = 1
    while position + 1 < len(words) and (joiner := _JOINERS.get(words[position].lower())):
        number += joiner + words[position + 1]
        position += 2
    if position > 1:
        return number, True
    if words[1].startswith("("):
        return number + words[1], False
    if len(words) > 2 and _NUMBER.fullmatch(words[2]):
        return f"{number}+{words[1].lstrip('+')}{MINUS}{words[2].lstrip('-−')}", True
    return f"{number}±{words[1]}", True


def plus_minus(arguments: Arguments) -> str:
    """`{{±|0.3}}` shows "±0.3", `{{±|0.3|0.2}}` "+0.3−0.2"."""
    words = unnamed(arguments)
    if len(words) < 2:
        return "±" + "".join(words)
    return f"+{words[0].lstrip('+')}{MINUS}{words[1].lstrip('-−')}"


def grouped(arguments: Arguments) -> str:
    """`{{gaps|6.022|140|e=23}}` shows "6.022140×10^23"."""
    return value({**_named(arguments), "1": "".join(unnamed(arguments))})


def _named(arguments: Arguments) -> Arguments:
    return {name: text for name, text in arguments.items() if not name.isdecimal()}


def fraction(arguments: Arguments) -> str:
    """`{{frac|1|2|3}}` shows "1 2/3", `{{frac|3}}` "1/3"."""
    numbers = unnamed(arguments)
    if len(numbers) < 2:
        return "".join(f"1/{number}" for number in numbers)
    return " ".join([*numbers[:-2], "/".join(numbers[-2:])])


def measure(arguments: Arguments) -> str:
    """Numbers, a unit, and exponents behind units: French `{{unité|1,5|m|2|s|-1}}` shows "1,5 m2 s^−1".

    Exponents of 2 and 3 stand as they do in "km2". `{{unité|2|à|3|km}}` and `{{unité|2|à=3|km}}` show "2 à 3 km".
    Other arguments (e=24) are those of `value`.
    """
    words = unnamed(arguments)
    text, position = "".join(words[:1]), 1
    while (
        position + 1 < len(words)
        and words[position] in _ROMANCE_JOINERS
        and _NUMBER.fullmatch(words[position + 1])
    ):
        text += _ROMANCE_JOINERS[words[position]] + words[position + 1]
        position += 2
    text += "".join(f" {word} {arguments[word]}" for word in ("à", "et", "ou") if arguments.get(word))
    units: list[str] = []
    for word in words[position:]:
        if re.fullmatch(r"[-−]?\d", word) and units:
            units[-1] += word if word in ("2", "3") else "^" + word.replace("-", MINUS)
        else:
            units.append(word)
    return value(
        {
            **_named(arguments),
            "1": text,
            "u": " ".join(units) or first_argument(arguments, ("u", "ul", "unité")),
        }
    )


def ordinal(arguments: Arguments) -> str:
    """English: `{{ordinal|22}}` shows "22nd"."""
    number = arguments.get("1", "")
    if not number[-2:].isdecimal():
        return number
    ending_digit = "" if number[-2:-1] == "1" else number[-1]
    return number + {"1": "st", "2": "nd", "3": "rd"}.get(ending_digit, "th")


def height(arguments: Arguments) -> str:
    """English: `{{height|ft=5|in=7}}` shows "5 ft 7 in"."""
    return " ".join(f"{arguments[unit]} {unit}" for unit in ("m", "cm", "ft", "in") if arguments.get(unit))


def elevation(arguments: Arguments) -> str:
    """German: `{{Höhe|300|DE-NN}}` shows "300 m ü. NN"; the second argument is where heights are measured from."""
    number, origin = arguments.get("1", ""), _ORIGINS.get(arguments.get("2", "").upper(), "")
    return f"{number} m {origin}".rstrip() if number else ""


_ORIGINS = {"DE-NN": "ü. NN", "DE-NHN": "ü. NHN", "DE-HN": "ü. HN", "AT": "ü. A.", "CH": "ü. M."}


def unit_named(name: str) -> str:
    """Return the unit that a template's name is, "" for other names."""
    key = normal_name(name)
    if key in _SYMBOL_BY_NAME:
        return _SYMBOL_BY_NAME[key]
    return key if " " in key and _SEA_LEVEL.fullmatch(key) else ""


def currency_named(name: str) -> str:
    """Return the sign that a template's name is, such as NZ$, "" for other names."""
    sign = name.strip().upper()
    return sign if len(sign) < 5 and unicodedata.category(sign[-1:] or " ") == "Sc" else ""


def unit_behind(text_before: str, unit: str) -> str:
    """Return what a call without arguments that is named by a unit shows behind a number; elsewhere ""."""
    number = _BEHIND_NUMBER.search(text_before)
    return "" if number is None else unit if number[1] else _with_unit("", unit)


def amount(unit: str, arguments: Arguments) -> str:
    """Return the amount that an unlisted call shows: one number, with units that are its name or arguments."""
    words = unnamed(arguments)
    if not words or len(words) > 4 or not _AMOUNT.fullmatch(words[0]) or _COMPASS.intersection(words):
        return ""
    units = [word for word in words[1:] if normal_name(word) in _SYMBOL_BY_NAME]
    exponents = [word for word in words[1:] if word not in units and re.fullmatch(r"[-−]?[0-9]", word)]
    if len(units) + len(exponents) < len(words) - 1 or (exponents and not units):
        return ""
    return measure({**arguments, "unité": unit} if unit and not units else arguments)


def coordinates(arguments: Arguments) -> str:
    """`{{coord|52|31|N|13|24|E}}` shows "52°31′N 13°24′E"; where they stand beside the page's title alone, nothing.

    German `{{Coordinate|NS=52/31/7.5/N|EW=13/24/0/E|text=DMS}}` shows "52°31′7,5″N 13°24′0″O", without text= nothing.
    Its decimal mark and letter of the east stand behind the function's name: `@coordinates ,O`.
    """
    if arguments.get("display") in ("title", "t"):
        return ""
    if direction_letters := arguments.get(PARAMETER, ""):
        if arguments.get("text", "ICON").startswith("ICON"):
            return ""
        joined_coordinates = "|".join(arguments.get(name, "") for name in ("NS", "EW")).replace("/", "|")
        return (
            coordinates(split_arguments(joined_coordinates))
            .replace(".", direction_letters[0])
            .replace("E", direction_letters[1:])
        )
    words = list(takewhile(lambda word: word in _COMPASS or _AMOUNT.fullmatch(word), unnamed(arguments)[:8]))
    if len(words) == 2:  # degrees with signs
        south, west = (word[0] in "-−" for word in words)
        words = [words[0].lstrip("-−"), "NS"[south], words[1].lstrip("-−"), "EW"[west]]
    text, signs = "", iter("°′″")
    for word in words:
        text += word + (" " if word in _COMPASS else next(signs, ""))
        signs = iter("°′″") if word in _COMPASS else signs
    return text.strip()


FUNCTIONS: dict[str, Callable[[Arguments], str]] = {
    "convert": convert,
    "coordinates": coordinates,
    "elevation": elevation,
    "exponent": exponent,
    "fraction": fraction,
    "grouped": grouped,
    "height": height,
    "measure": measure,
    "ordinal": ordinal,
    "plus-minus": plus_minus,
    "value": value,
}
