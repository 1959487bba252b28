"""Hostile wikitext of several hundred kinds, of any length."""

from collections.abc import Callable
from functools import partial
from itertools import product

from irpretrain.wikipedia.wikitext.images import Rendering

EVERYTHING = Rendering(frozenset({"captions", "tables", "galleries"}), "formula")
UNITS = [
    "[[", "]]", "{{", "}}", "{{{", "{|", "\n{|", "\n|}", "<ref>", "</ref>", "<ref ", "==", "\n==", "\n=a",
    "''", "'''a ", "<!--", "<!-- -->", "&#", "&amp;", "[[a|", "[[File:a|", "[[File:a|[[b|", "[[a]]",
    "{{nowrap|", "{{a|", "{{}}", "[http://a ", "[http://a [", "<nowiki>", "</nowiki>", "<pre>", "<table>",
    "<table></table><table>", "\n==a==\n", "\n;a:", "\n*", "(", "( ,", " ", "\xa0", "__A_", "-{", "<br>",
    "''''", "x", "\n", "\r", "\x01", "\x02", "5<sup>", "5<sup>6</sup>", "<ce>",
    "[//d e] ", "[//d]", "[http://a b", "[[a ]]b", "__NOTOC__", "{{x|[[", "{{x|[[a}}", "]]}}", "{{x|[[a]]}}",
]  # fmt: skip
OPENERS = [
    "[[a|", "[[File:a|thumb|", "[[a", "[http://a ", "{{a|", "{{q|", "{{nowrap|", "{{{", "{|\n", "\n|-\n|", "\n;a",
    "<ref>", "<ref ", "<nowiki>", "<!-- -->", "<sup>", "-{", "-{zh:", "'''a ", "(", "&#", "\n==a", "__A", "a ", " ",
    "\n", "5", "\n:", "http://a", "|", "=", "{{a|b}}", "{{km}}",
]  # fmt: skip
CLOSERS = [
    "]]", "]", "}}", "|}", "</ref>", "-->", "</sup>", "}-", "''", ")", ";", "==\n", ":", "/>", "x", "|b",
    ".\n", "(b|]]",
]  # fmt: skip


def nested(k: int) -> dict[str, str]:
    """Return things in each other, of at most `k` thousand characters or little more."""
    return {
        "shown templates": "{{nowrap|" * 50 * k + "x" * 200 * k + "}}" * 50 * k,
        "dropped templates": "{{a|" * 150 * k + "}}" * 150 * k,
        "braces": "{" * 500 * k + "}" * 500 * k,
        "names in braces": "{" * 300 * k + "nowrap|" * 50 * k + "x" * 100 * k + "}" * 300 * k,
        "files": "[[File:a|" * 60 * k + "x" * 100 * k + "]]" * 60 * k,
        "links": "[[a|" * 100 * k + "x" * 100 * k + "]]" * 100 * k,
        "tables": "\n{|" * 160 * k + "\n|}" * 160 * k,
        "HTML tables": "<table>" * 70 * k + "</table>" * 70 * k,
        "references": "<ref>" * 80 * k + "</ref>" * 80 * k,
        "label": "[http://a " + "[x]" * 300 * k,
        "heading": "\n=" + " =a" * 300 * k + "x",
        "apostrophes": "'''a " * 150 * k + "''b",
        "definition": "\n;" + "[[a]]" * 100 * k + ":",
        "formulas": "<math>{" * 60 * k + "</math>" * 60 * k,
        "galleries": "<gallery>\na|" * 60 * k + "</gallery>" * 20 * k,
        "brackets": "(" * 300 * k + "{{x}}" + ")" * 300 * k,
        "gaps": "({{x}}, " * 100 * k,
        "prose": "a {{x|b c}} " * 80 * k,
        "raised": "5<sup>6" * 80 * k + "</sup>" * 60 * k,
        "comments behind blanks": "a\n" + " " * 200 * k + "<!---->" * 100 * k,
        "title of blanks": "[[a" + " " * 900 * k + "(b|]]",
        "three closing brackets": "[[a|</" * 100 * k + "]]]<span " * 80 * k,
        "titles that are not allowed": "[[{|x" * 100 * k + "]]y" * 100 * k,
        "files within files": "[[File:a|thumb|" * 40 * k + " x " * 40 * k + "]]" * 40 * k,
        "half tables": "\n{|a\n\n|-" * 100 * k,
        "raised marks": "<sup>''</sup>" * 70 * k,
        "all": "[[{{<ref>==\n{|''<!--&#" * 45 * k,
        "all but comments": "[[{{<ref>==\n{|''&#" * 50 * k,
    }


def repeated(unit: str) -> Callable[[int], str]:
    return lambda n: unit * (n // len(unit))


def generators() -> dict[str, Callable[[int], str]]:
    """Return functions from a number of characters to a page of about as many."""
    made = {f"{unit!r} × n": repeated(unit) for unit in UNITS}
    for opener, closer in product(OPENERS, CLOSERS):
        made[f"{opener!r} × n, {closer!r} × n"] = partial(halves, opener, closer)
        made[f"({opener!r}, {closer!r}) × n"] = repeated(opener + closer)
    return made | {name: partial(nested_page, name) for name in nested(0)}


def halves(opener: str, closer: str, n: int) -> str:
    return repeated(opener)(n // 2) + repeated(closer)(n // 2)


def nested_page(name: str, n: int) -> str:
    return nested(n // 1000)[name]
