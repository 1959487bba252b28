"""What templates of dates and centuries show; English dates of numbers are in `template_functions`."""

import re
from collections.abc import Callable

from irpretrain.wikipedia.wikitext.arguments import PARAMETER, Arguments, unnamed

_MONTHS = {
    "es": "enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre",
    "fr": "janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre",
    "pt": "janeiro|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro",
}
_BETWEEN = {"es": " de ", "fr": " ", "pt": " de "}
_YEAR = re.compile("[0-9]{3}")
_ROMAN = re.compile("[IVXLC]+", re.IGNORECASE)
_ENDINGS = frozenset({"e", "er", "re", "ème", "s"})


def day(given: Arguments) -> str:
    """Day, month and year: Spanish `{{fecha|1|1|2000}}` shows "1 de enero de 2000".

    What follows the year is not shown: French `{{date|14 juillet 1789|en musique}}`.
    """
    language = given.get(PARAMETER, "")
    months = _MONTHS[language].split("|") if language in _MONTHS else []
    shown = []
    year_first = _YEAR.fullmatch(given.get("1", "")[:3]) and given.get("2", "").isdecimal()
    for place in ("3", "2", "1") if year_first else ("1", "2", "3"):
        part = given.get(place, "")
        if place == "2" and part.isdecimal() and len(part) < 3 and 1 <= int(part) <= len(months):
            part = months[int(part) - 1]
        shown += [part] if part else []
        if " " in part or _YEAR.search(part):
            break
    return _BETWEEN.get(language, " ").join(shown)


def circa(given: Arguments) -> str:
    """`{{circa|1500|1600}}` shows "c. 1500 – c. 1600"."""
    return " – ".join(f"c. {year}" for year in unnamed(given)[:2]) or "c."


def years(given: Arguments) -> str:
    """A word and one or two years: `{{fl.|1200|1250}}` shows "fl. 1200–1250"."""
    return f"{given.get(PARAMETER, '')} {'–'.join(unnamed(given)[:2])}".strip()


def century(given: Arguments) -> str:
    """French: `{{s|XIX|e}}` shows "XIXe siècle", `{{s2|III|e|IX|e}}` "IIIe et IXe siècles"."""
    words = unnamed(given)
    numbers = [word for word in words if _ROMAN.fullmatch(word)] or words[:1]
    between = [word for word in words if word not in numbers and word not in _ENDINGS]
    shown = f" {between[0] if between else 'et'} ".join(
        number + ("er" if number.upper() == "I" else "e") for number in numbers
    )
    several = len(numbers) > 1 and (not between or "s" in words)
    noun = "siècles" if several else "siècle"
    return f"{shown} {noun} {given.get(PARAMETER, '')}".strip() if numbers else ""


FUNCTIONS: dict[str, Callable[[Arguments], str]] = {
    "century": century,
    "circa": circa,
    "day": day,
    "years": years,
}
