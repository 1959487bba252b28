"""What stands within a line: HTML tags, bold and italics, entities, magic words."""

from __future__ import annotations

import re
from html import unescape
from html.entities import html5
from typing import TYPE_CHECKING

from irpretrain.wikipedia.wikitext.hidden import DROPPED_ELEMENTS, LITERAL_ELEMENTS
from irpretrain.wikipedia.wikitext.images import PageRendering
from irpretrain.wikipedia.wikitext.lines import apostrophes, change_lines
from irpretrain.wikipedia.wikitext.marks import (
    ANCHOR,
    ANCHOR_END,
    BREAK,
    DROPPED,
    FRACTION,
    LOWERED,
    LOWERED_END,
    NOTHING,
    RAISED,
    RAISED_END,
)

if TYPE_CHECKING:
    from irpretrain.wikipedia.languages import WikiLanguage

LINE_ELEMENTS = (
    "br|p|div|li|dt|dd|ul|ol|dl|blockquote|center|poem|tr|td|th|caption|hr|h1|h2|h3|h4|h5|h6|table|pre"
)
INLINE_ELEMENTS = (
    "abbr|b|bdi|bdo|big|cite|code|data|del|dfn|em|font|i|ins|kbd|mark|meta|link|q|rb|rp|rt|rtc|ruby|s|"
    "samp|section|small|span|strike|strong|sub|sup|time|tt|u|var|wbr|tbody|thead|tfoot|colgroup|col|phonos|nobr"
)
_LINE_NAMES = frozenset(LINE_ELEMENTS.split("|"))
_TAG = re.compile(
    rf"</?((?i:{LINE_ELEMENTS}|{INLINE_ELEMENTS}|{DROPPED_ELEMENTS}|{LITERAL_ELEMENTS}))(?=[\s/>])[^<>]*+>"
)
_SCRIPT_MARKS = {"sup": (RAISED, RAISED_END), "sub": (LOWERED, LOWERED_END)}
_FRACTION = re.compile(
    r"<(?i:sup)>\s*([0-9]{1,6})\s*</(?i:sup)>\s*(?:/|⁄|&frasl;)\s*<(?i:sub)>\s*([0-9]{1,6})\s*</(?i:sub)>"
)
# Of five, three or two.
_QUOTES = re.compile("''(?:'(?:'')?)?")
_POEM_TAG = re.compile(r"(</?(?i:poem)(?=[\s/>])[^<>]*+>)")
_VARIANT = re.compile(r"-\{([^{}]*+)\}-")
# So deep may variants stand in variants.
_MAX_NESTED_VARIANTS = 3
_VARIANT_FLAGS = re.compile(r"([\sA-Za-z;+-]*)\|")
# Languages that MediaWiki converts; in others -{ is text.
_CONVERTED = "ban|crh|gan|iu|kk|ku|mni|sh|shi|sr|tg|tly|uz|wuu|zgh|zh"
_CONVERTED_EDITIONS = frozenset({*_CONVERTED.split("|"), ""})
_VARIANT_NAME = re.compile(rf"\s*(?:{_CONVERTED}|en-x|ike)(?:-[a-z]+)*\s*:", re.IGNORECASE)
# The codes of BCP 47 that MediaWiki reads beside its own (LanguageCode::bcp47), in small letters.
_VARIANT_CODES = {
    **{f"zh-hans-{country}": f"zh-{country}" for country in ("cn", "my", "sg")},
    **{f"zh-hant-{country}": f"zh-{country}" for country in ("hk", "mo", "tw")},
    "sr-cyrl": "sr-ec",
    "sr-latn": "sr-el",
}
# A semicolon may also end an entity: &amp;.
_NEXT_VARIANT = re.compile(rf";(?={_VARIANT_NAME.pattern}|\s*+\Z)", re.IGNORECASE)
# Variants to read, best first: one script in all of an edition. Without one of them the first is read.
_PREFERRED_VARIANTS = (
    *("zh", "zh-hans", "zh-cn", "zh-sg", "zh-my", "gan-hans", "wuu-hans", "sr-ec", "sh-latn"),
    *("kk-cyrl", "ku-latn", "uz-latn", "crh-latn", "tg-cyrl", "shi-latn", "ike-cans"),
)
_ONE_WAY_RULE = re.compile(rf"=>{_VARIANT_NAME.pattern}", re.IGNORECASE)


def choose_variants(text: str, code: str) -> str:
    """Return `text` with one variant of each text in several scripts, in editions that have such texts."""
    for _ in range(_MAX_NESTED_VARIANTS if code in _CONVERTED_EDITIONS else 0):
        text = _VARIANT.sub(_variant, text)
    return text


def remove_tags(text: str) -> str:
    """Return `text` with BREAK for tags that make a line, marks for <sup> and <sub> and nothing for others.

    A raised number over a lowered one is a fraction, behind FRACTION. What is no tag of wikitext stays.
    """
    text = _FRACTION.sub(rf"{FRACTION}\1/\2", text)
    return _TAG.sub(_tag, _with_lines_of_poems(text))


def _tag(tag: re.Match[str]) -> str:
    name = tag[1].lower()
    if name in _LINE_NAMES:
        return BREAK
    if name in _SCRIPT_MARKS:
        return _SCRIPT_MARKS[name][tag[0][1] == "/"]
    # Apostrophes on both sides are two marks of italics, letters behind a link and a tag no part of its anchor; an
    # address ends before a tag.
    previous_character = tag.string[tag.start() - 1]
    return (
        NOTHING if previous_character in "'[]/" or (previous_character.isalnum() and tag[0][1] != "/") else ""
    )


def _with_lines_of_poems(text: str) -> str:
    pieces = _POEM_TAG.split(text)
    for position in range(2, len(pieces), 2):
        if pieces[position - 1][1] != "/":
            pieces[position] = pieces[position].replace("\n", f"{BREAK}\n")
    return "".join(pieces)


def _variant(markup: re.Match[str]) -> str:
    """Return one variant of a text in several scripts, `-{zh-hant:…; zh-hans:…}-`; conversion rules show nothing."""
    content = markup[1]
    if flags_match := _VARIANT_FLAGS.match(content):
        flags = {flag.strip() for flag in flags_match[1].split(";")}
        content = content[flags_match.end() :]
        if "R" in flags:
            return content
        if flags & {"H", "-"} or flags & {"A", "D", "T"} == {"T"}:
            return ""
    if one_way := _ONE_WAY_RULE.search(content):  # a text, and what another variant writes for it
        is_preferred = _variant_code(one_way[0][2:-1]) in _PREFERRED_VARIANTS
        shown_text = (
            _NEXT_VARIANT.split(content[one_way.end() :])[0] if is_preferred else content[: one_way.start()]
        )
        return shown_text.strip()
    if not _VARIANT_NAME.match(content):
        return content
    variants: dict[str, str] = {}
    for rule in _NEXT_VARIANT.split(content):
        name, _, variant = rule.partition(":")
        variants[_variant_code(name)] = variant.strip()
    variant_code = next((name for name in _PREFERRED_VARIANTS if name in variants), next(iter(variants)))
    return variants[variant_code]


def _variant_code(name: str) -> str:
    code = name.strip().lower()
    return _VARIANT_CODES.get(code, code)


def remove_magic_words(text: str, language: WikiLanguage, page: PageRendering) -> str:
    """Return `text` without the wiki's behaviour switches such as __NOTOC__; a heading may follow one in its line."""
    if "__" not in text and "＿＿" not in text:
        return text

    def drop_switch(switch: re.Match[str]) -> str:
        page.disambiguation = page.disambiguation or switch.lastgroup == "disambiguation"
        return ""

    return language.switches.sub(drop_switch, text)


def remove_quotes(text: str) -> str:
    """Return `text` without marks of bold and italics."""
    if "''" not in text:
        return text
    if "'''" in text:
        text = change_lines(text, "'''", apostrophes)
    return _QUOTES.sub("", text)


# Entities and character references, as HTML 5 and MediaWiki's Sanitizer read them.

_ENTITY = re.compile(
    r"&(?:([a-zA-Z][a-zA-Z0-9]{1,30};|רלמ;|رلم;)|#0*([0-9]{1,7});|#[xX]0*([0-9a-fA-F]{1,6});)"
)
# Those that MediaWiki adds, for writers of Hebrew and Arabic.
_ALIASES = {"רלמ;": "rlm;", "رلم;": "rlm;"}
# Of numbers: no control characters, surrogates or noncharacters.
_ALLOWED = re.compile("[\t\n -~\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def decode_entities(text: str) -> str:
    """Return `text` with characters for entities and character references; what HTML 5 does not know or allow stays."""
    if "&" not in text:
        return text
    return _ENTITY.sub(_character_of, text.replace("&nbsp;", " "))


def _character_of(reference: re.Match[str]) -> str:
    if reference[1]:
        character = html5.get(_ALIASES.get(reference[1], reference[1]), reference[0])
    else:
        code_point = int(reference[2]) if reference[2] else int(reference[3], 16)
        character = chr(code_point) if code_point < 0x110000 else ""
        character = character if _ALLOWED.match(character) else reference[0]
    return " " if character.isspace() else character


# Raised and lowered numbers: "10^24", "101_2" and "5 1/2" for what would be other numbers: 1024, 1012 and 51/2.
#
# Whether a number stands before is decided on what a reader sees: `'''10'''<sup>6</sup>`, `[[10]]<sup>[[6]]</sup>`.
# So this step comes when links and lines are done. Bold and italics are not: they tell a variable from an ordinal's
# end.

_MARKS = RAISED + RAISED_END + LOWERED + LOWERED_END + FRACTION
_MARK = re.compile(f"([{_MARKS}])")
_START_AND_SIGN = {RAISED_END: (RAISED, "^"), LOWERED_END: (LOWERED, "_")}
_INVISIBLE = f"'{NOTHING}{ANCHOR}{ANCHOR_END}"
_NOT_SEEN = re.compile(f"'{{2,}}|[{NOTHING}{ANCHOR}{ANCHOR_END}{DROPPED}]")
# An integer, a charge (SO4^2−), a variable; what else is raised needs brackets.
_BARE_SCRIPT = re.compile(r"[+−–-]?[0-9]+|[0-9]+[+−–-]|[^\W\d_]")
_FIRST_DIGIT = re.compile(f"[{_INVISIBLE}]*[0-9]")
_OPERATORS = "-+−–±×·*/^"
# Letters alone, not words, and a number, an operator or italics. What else is raised are ends of ordinals, units
# (13th, 5h) and footnotes.
_EXPRESSION = re.compile(
    rf"(?!.*[^\W\d_]{{2}})(?=[0-9]|.*''|.*[{_OPERATORS}]\s*[\w(])[\w\s.,()'{_OPERATORS}]+"
)
_IN_BRACKETS = re.compile(r"\([^()]*(?:\([^()]*\)[^()]*)*\)")
_LONGEST_SHIFTED = 80
_MAX_PIECES = 24
# Bounds for hostile text, so that time stays linear.
_PIECES_BEFORE = 6


def write_raised(text: str) -> str:
    """Return `text` without marks of what is raised, lowered or a fraction.

    Exponents get a ^, indices behind a digit a _, fractions behind a digit a blank, and so do digits behind any of
    them.
    """
    if not any(mark in text for mark in _MARKS):  # faster than the split
        return text
    text_before, *marks_and_texts = _MARK.split(text)
    pieces = [text_before]
    open_indices: dict[str, list[int]] = {RAISED: [], LOWERED: []}
    for mark, text_after in zip(marks_and_texts[::2], marks_and_texts[1::2], strict=True):
        if mark == FRACTION:
            pieces.append(" " if _seen_before(pieces, len(pieces)).isdecimal() else "")
        elif mark in open_indices:
            open_indices[mark].append(len(pieces))
        elif indices := open_indices[_START_AND_SIGN[mark][0]]:
            index = indices.pop()
            if len(pieces) - index <= _MAX_PIECES:
                shifted_text = "".join(pieces[index:])
                previous_character = _seen_before(pieces, index)
                joins_digits = (
                    shifted_text.rstrip(_INVISIBLE)[-1:].isdecimal()
                    and _FIRST_DIGIT.match(text_after) is not None
                )
                if previous_character.isdecimal() or (joins_digits and previous_character.isalpha()):
                    shifted_text = _in_line(shifted_text, _START_AND_SIGN[mark][1])
                pieces[index:] = [shifted_text + " " if joins_digits else shifted_text]
        # Apostrophes on both sides of a tag are two marks of italics.
        pieces.append(NOTHING + text_after if pieces[-1].endswith("'") else text_after)
    return "".join(pieces)


def _seen_before(pieces: list[str], index: int) -> str:
    for piece in reversed(pieces[max(0, index - _PIECES_BEFORE) : index]):
        if visible_text := piece.rstrip(_INVISIBLE):
            return visible_text[-1]
    return ""


def _in_line(shifted_text: str, sign: str) -> str:
    if len(shifted_text) > _LONGEST_SHIFTED:
        return shifted_text
    visible_text = unescape(
        _NOT_SEEN.sub(lambda mark: "''" if len(mark[0]) in (2, 5) else "", shifted_text)
    ).strip()
    letters = visible_text.replace("''", "")
    is_number = _BARE_SCRIPT.fullmatch(letters) and not letters.isalpha()
    if letters.startswith("/") or "\n" in letters or not (is_number or _EXPRESSION.fullmatch(visible_text)):
        return shifted_text
    content = shifted_text.strip()
    blanks_after = shifted_text[len(shifted_text.rstrip()) :]
    if _BARE_SCRIPT.fullmatch(letters) or _IN_BRACKETS.fullmatch(letters):
        return f"{sign}{content}{blanks_after}"
    return f"{sign}({content}){blanks_after}"
