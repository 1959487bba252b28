"""What templates of dates and centuries show, and how numbers are written."""

import re
from collections.abc import Callable

from irpretrain.wikipedia.wikitext.arguments import PARAMETER, Arguments, unnamed
from irpretrain.wikipedia.wikitext.quantities import MINUS

_YEAR = re.compile("[0-9]{3}")
_ISO = re.compile(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})")
_NUMBERS = re.compile(r"([0-9]{1,2})[ /]([0-9]{1,2})[ /]([0-9]{3,4})")
_HIDDEN_YEAR = re.compile(" [0-9]{3,4}-$")
_FIRST = re.compile(r"^0?1(?= [^\W\d])")
_DAY = re.compile(r"0?([1-9]|[12][0-9]|3[01])(er|º|ª|\.)?")
_FIELD = re.compile("'([^']*)'|MMMM|[Mdy]")
_DAY_FIRST = "d MMMM y"
_SHORTEST_MONTH = 3
_DECIMAL = re.compile(r"(?<![0-9])(-?)([0-9]{1,40})(?:\.([0-9]+))?(?![0-9])")
_ROMAN = re.compile("[IVXLC]+", re.IGNORECASE)
_ENDINGS = frozenset({"e", "er", "re", "ème", "s"})


class Calendar:
    """How an edition writes dates and numbers.

    Args:
        pattern: of a long date, as CLDR writes it: `d 'de' MMMM 'de' y`.
        months: names of the twelve months within a date, joined by bars.
        numbers: marks between thousands (_ for a space) and before decimals, then what else differs: 2, where numbers
            of four digits have no mark, lakh, where one stands before each two digits, or the digit zero.
        first_day: of a month, as it is written.
    """

    def __init__(
        self,
        pattern: str = "MMMM d, y",
        months: str = "January|February|March|April|May|June|July|August|September|October|November|December",
        numbers: str = ",.",
        first_day: str = "1",
    ) -> None:
        self._pattern, self._months, self._first_day = pattern, months.split("|"), first_day
        marks, *self._style = numbers.replace("_", "\xa0").split(" ")
        self._group, self._point = marks[0], marks[1]
        self._month_year = _without_day(pattern)

    def month(self, month: str) -> str:
        """Return the number of a month that is a number, a name or the beginning of one; "" for anything else."""
        if month.isdecimal():
            return str(int(month)) if 1 <= int(month) <= 12 and len(month) < 3 else ""
        month_beginning = month.lower().rstrip(".")
        if len(month_beginning) < _SHORTEST_MONTH:
            return ""
        names = enumerate(self._months, 1)
        return next((str(number) for number, name in names if name.lower().startswith(month_beginning)), "")

    def date(self, arguments: Arguments) -> str:
        """Year, month and day in any order: `{{start date|1990|5|12}}` shows "May 12, 1990", with df=y "12 May 1990",
        Spanish `{{fecha|1|1|2000}}` "1 de enero de 2000"; without month or day what there is.

        What follows the year is not shown: French `{{date|14 juillet 1789|en musique}}`; neither is a year before a
        hyphen: `{{date-|14 juillet 1789-}}`.
        """
        date_parts = [arguments.get(name, "") for name in ("1", "2", "3")]
        date_parts[0] = _HIDDEN_YEAR.sub("", date_parts[0])
        date_parts[0] = _FIRST.sub(self._first_day, date_parts[0])
        if date := _ISO.fullmatch(date_parts[0]) or _NUMBERS.fullmatch(date_parts[0]):
            date_parts = list(date.groups())
        if year_first := _YEAR.match(date_parts[0]) is not None and bool(self.month(date_parts[1])):
            date_parts.reverse()
        date_words: list[str] = []
        for date_part in date_parts:
            date_words += [date_part] if date_part else []
            if date_part and (" " in date_part or _YEAR.search(date_part)):
                break
        has_day = len(date_words) == 3 and _DAY.fullmatch(date_words[0])
        if not (has_day or len(date_words) == 2) or not (month := self.month(date_words[-2])):
            return " ".join(date_words)
        # A month that is written as a word may be in another case, or cut.
        name = self._months[int(month) - 1] if date_words[-2].isdecimal() or year_first else date_words[-2]
        if not has_day:
            if not _YEAR.search(date_words[1]) or (date_words[0].isdecimal() and not year_first):
                return " ".join(date_words)
            return _write(self._month_year, {"MMMM": name, "M": month, "y": date_words[1]})
        day_first = arguments.get("df", "").upper() not in ("", "US") or not year_first
        pattern = _DAY_FIRST if day_first and self._pattern[0] == "M" else self._pattern
        day = self._first_day if date_words[0] in ("1", "01") else _DAY.sub(r"\1\2", date_words[0])
        return _write(pattern, {"d": day, "MMMM": name, "M": month, "y": date_words[2]})

    def as_of(self, arguments: Arguments) -> str:
        """`{{as of|2015|6|30}}` shows "As of 30 June 2015", with df=US "As of June 30, 2015", with lc=y "as of ...".

        With since=y the words are "Since ...", with bare=y only the date is shown; what is given as alt= is shown
        instead of all this.
        """
        if arguments.get("alt"):
            return arguments["alt"]
        if not unnamed(arguments):
            return ""
        words = "" if arguments.get("bare") else "Since " if arguments.get("since") else "As of "
        date_form = "US" if arguments.get("df", "").upper() == "US" else "y"
        return (words.lower() if arguments.get("lc") else words) + self.date({**arguments, "df": date_form})

    def old_style(self, arguments: Arguments) -> str:
        """A date by the Gregorian and the Julian calendar.

        `{{OldStyleDate|February 2|1905|January 20}}` shows "February 2 [O.S. January 20] 1905", Russian
        `{{OldStyleDate|5|3|1865|21|2}}` "21 февраля [5 марта] 1865".
        """
        new_day, *other_arguments = (arguments.get(str(position), "") for position in range(1, 7))
        if not new_day.isdecimal():
            return f"{new_day} [O.S. {other_arguments[1]}] {other_arguments[0]}"
        month, year, old_day, old_month, old_year = other_arguments
        if old_year not in ("", year):
            return f"{old_day} {self._name(old_month)} {old_year} [{new_day} {self._name(month)} {year}]"
        if old_month in ("", month):
            return f"{old_day} [{new_day}] {self._name(month)} {year}"
        return f"{old_day} {self._name(old_month)} [{new_day} {self._name(month)}] {year}"

    def number(self, arguments: Arguments) -> str:
        """MediaWiki's formatnum: `{{formatnum:-1234.5}}` shows "−1,234.5", with NOSEP "−1234.5"; R is the way back."""
        text, mode = arguments.get("1", ""), arguments.get("2", "")
        zero_code = next((ord(style) for style in self._style if style > "~"), ord("0"))
        digits = {ord("0") + digit: zero_code + digit for digit in range(10)}
        if mode == "R":
            plain_number = text.replace(self._group, "").replace(" ", "").replace(self._point, ".")
            return plain_number.translate({local: digit for digit, local in digits.items()})

        def write_number(number: re.Match[str]) -> str:
            whole_digits, decimals = number[2], number[3]
            if mode != "NOSEP" and len(whole_digits) > 3 + ("2" in self._style):
                groups_to_end = r"(?:\d\d)*\d{3}$" if "lakh" in self._style else r"(?:\d{3})+$"
                whole_digits = re.sub(rf"(?<=\d)(?={groups_to_end})", self._group, whole_digits)
            return number[1].replace("-", MINUS) + whole_digits + (self._point + decimals if decimals else "")

        return _DECIMAL.sub(write_number, text).translate(digits)

    def _name(self, month: str) -> str:
        month_number = self.month(month)
        return self._months[int(month_number) - 1] if month_number else month

    def is_date(self, arguments: Arguments) -> bool:
        """Whether the first arguments are a day, a month and a year, or a month's name and a year, in any order; or the
        first alone is."""
        first, second, third = (arguments.get(name, "") for name in ("1", "2", "3"))
        if len(words := first.replace(",", "").split()) > 2:
            if self.month(words[0]) and not words[0].isdecimal():  # May 12, 1990
                words[:2] = words[1::-1]
            return (
                _DAY.fullmatch(words[0]) is not None
                and _is_year(words[-1])
                and any(map(self.month, words[1:-1]))
            )
        if _ISO.fullmatch(first) and self.month(first[5:7]):
            return True
        if _is_year(first):
            first, third = third, first
        if not _is_year(third):
            return _is_year(second) and not first.isdecimal() and bool(self.month(first))
        return _DAY.fullmatch(first) is not None and bool(self.month(second))


def _is_year(text: str) -> bool:
    return text.isdecimal() and len(text) in (3, 4)


def _without_day(pattern: str) -> str:
    year, month, day = pattern.index("y"), pattern.index("M"), pattern.index("d")
    if month < day < year:
        return "MMMM y"
    if day < month:
        return pattern[month:]
    return re.sub("[^My년年月]*$", "", pattern[:day])


def _write(pattern: str, values: dict[str, str]) -> str:
    return _FIELD.sub(lambda field: field[1] if field[1] is not None else values[field[0]], pattern)


def circa(arguments: Arguments) -> str:
    """`{{circa|1500|1600}}` shows "c. 1500 – c. 1600"."""
    return " – ".join(f"c. {year}" for year in unnamed(arguments)[:2]) or "c."


def years(arguments: Arguments) -> str:
    """A word and one or two years: `{{fl.|1200|1250}}` shows "fl. 1200–1250"."""
    return f"{arguments.get(PARAMETER, '')} {'–'.join(unnamed(arguments)[:2])}".strip()


def century(arguments: Arguments) -> str:
    """French: `{{s|XIX|e}}` shows "XIXe siècle", `{{s2|III|e|IX|e}}` "IIIe et IXe siècles", `@century mini` no noun."""
    words, era = unnamed(arguments), arguments.get(PARAMETER, "")
    numerals = [word for word in words if _ROMAN.fullmatch(word)] or words[:1]
    joining_words = [word for word in words if word not in numerals and word not in _ENDINGS]
    numerals_text = f" {joining_words[0] if joining_words else 'et'} ".join(
        number + ("er" if number.upper() == "I" else "e") for number in numerals
    )
    is_plural = len(numerals) > 1 and (not joining_words or "s" in words)
    noun = "" if era.startswith("mini") else " siècles" if is_plural else " siècle"
    return f"{numerals_text}{noun} {era.removeprefix('mini').strip()}".strip() if numerals else ""


FUNCTIONS: dict[str, Callable[[Arguments], str]] = {"century": century, "circa": circa, "years": years}
CALENDAR_FUNCTIONS: dict[str, Callable[[Calendar, Arguments], str]] = {
    "asof": Calendar.as_of,
    "date": Calendar.date,
    "number": Calendar.number,
    "old-style": Calendar.old_style,
}
