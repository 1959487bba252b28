"""An audit of a wiki as a page of Markdown."""

from __future__ import annotations

from typing import Any

from irpretrain.report.table_files import markdown_escape
from wikitext_comparison import KINDS, WHY

NAMES = {"headings": "headings", "links": "links", "see_also": "See Also links"}
"""What a reader calls the kinds."""
ROLES = {"": "prose", "see-also": "See Also list", "boilerplate": "boilerplate"}


def markdown(content: dict[str, Any]) -> str:
    """Return an audit, in plain values, as Markdown: counts, classes of difference, examples, headings."""
    parts = [
        f"# How the wikitext of {markdown_escape(content['corpus'])} is read",
        f"Our parser beside mwparserfromhell {content['mwparserfromhell']}, on {content['sampled']:,} of "
        f"{content['articles']:,} articles. {verdict(content)[0].upper()}{verdict(content)[1:]}.",
        _table(["", "the same", "different, explained", "different, not explained"], _counts(content)),
        "A See Also list that differs counts once.",
    ]
    if classes := _classes(content):
        parts += [
            "## Differences that are explained",
            _table(["what", "difference", "number", "why"], classes),
        ]
    parts += [
        "## Differences that are not explained",
        _table(["what", "page", "ours", "mwparserfromhell's"], _examples(content)) or "None.",
        "## The most frequent headings",
        _hint(content),
        _table(["heading", "pages", "taken for"], _headings(content)),
    ]
    if content["not_compared"]:
        rows = [[row["page"], row["reason"]] for row in content["not_compared"]]
        parts += ["## Pages that were not compared", _table(["page", "reason"], rows)]
    return "\n\n".join(part for part in parts if part) + "\n"


def verdict(content: dict[str, Any]) -> str:
    """Return in a line what an audit, in plain values, has found."""
    parts = [
        f"{content[kind]['unexplained']:,} of {_sum_of(content[kind]):,} {NAMES[kind]}" for kind in KINDS
    ]
    failed = len(content["not_compared"])
    pages = "page" if failed == 1 else "pages"
    lost = f"; {failed:,} {pages} could not be compared" if failed else ""
    return f"{content['compared']:,} pages compared; differences without an explanation: {', '.join(parts)}{lost}"


def _sum_of(counts: dict[str, Any]) -> int:
    """Return how many things of a kind there are."""
    return int(counts["same"] + sum(counts["explained"].values()) + counts["unexplained"])


def _counts(content: dict[str, Any]) -> list[list[str]]:
    counts = [(NAMES[kind], content[kind]) for kind in KINDS]
    return [
        [name, f"{c['same']:,}", f"{sum(c['explained'].values()):,}", f"{c['unexplained']:,}"]
        for name, c in counts
    ]


def _classes(content: dict[str, Any]) -> list[list[str]]:
    return [
        [NAMES[kind], name, f"{count:,}", WHY[name]]
        for kind in KINDS
        for name, count in content[kind]["explained"].items()
    ]


def _examples(content: dict[str, Any]) -> list[list[str]]:
    return [
        [NAMES[kind], row["page"], row["ours"] or "–", row["theirs"] or "–"]
        for kind in KINDS
        for row in content[kind]["examples"]
    ]


def _hint(content: dict[str, Any]) -> str:
    if any(row["role"] == "see-also" for row in content["frequent_headings"]) or content["see_also"]["same"]:
        return "A See Also list or an appendix that is taken for prose belongs in the corpus' option `names`."
    return (
        "**No See Also list was found.** If the wiki has any, name their heading in the corpus' option "
        "`names: {see_also: [...]}`, else it has no See Also graph; appendices go in `names: {boilerplate: [...]}`."
    )


def _headings(content: dict[str, Any]) -> list[list[str]]:
    return [[row["heading"], f"{row['pages']:,}", ROLES[row["role"]]] for row in content["frequent_headings"]]


def _table(head: list[str], rows: list[list[str]]) -> str:
    if not rows:
        return ""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(map(markdown_escape, row)) + " |" for row in rows)])
